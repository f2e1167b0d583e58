//! Quantities of the Kubernetes API: `500m`, `2Gi`, `1e3`. They are added and formatted as by the
//! server and kubectl, so that sums are the same.

use std::cmp::Ordering;
use std::fmt;

/// One, in billionths.
const NANOS: i128 = 1_000_000_000;

/// Suffixes of powers of a thousand, from the billionth upwards.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// Suffixes of powers of 1024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A quantity, exact to the billionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    nanos: i128,
    is_binary: bool,
}

impl Quantity {
    /// Parses a quantity; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let ending = |suffixes: &'static [&'static str]| {
            let mut suffixes = suffixes.iter().enumerate();
            suffixes.find_map(|(place, suffix)| {
                let digits = text.strip_suffix(suffix).filter(|_| !suffix.is_empty())?;
                Some((digits, u32::try_from(place).ok()?))
            })
        };
        if let Some((digits, power)) = ending(&BINARY) {
            let nanos = decimal(digits, 9)?.checked_mul(1024_i128.checked_pow(power)?)?;
            return Some(Self {
                nanos,
                is_binary: true,
            });
        }
        let (digits, power) = ending(&DECIMAL).unwrap_or((text, 3));
        let (digits, exponent) = match digits.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (digits, 0),
        };
        let power = i32::try_from(power * 3).ok()?.checked_add(exponent)?;
        Some(Self {
            nanos: decimal(digits, power)?,
            is_binary: false,
        })
    }

    /// Adds another quantity; the format is that of the first one that is not zero.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            is_binary: if self.nanos == 0 {
                other.is_binary
            } else {
                self.is_binary
            },
        }
    }

    /// Returns whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Compares by value, whatever the format.
    pub fn compare(self, other: Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// Returns the larger of two quantities.
    pub(crate) const fn larger(self, other: Self) -> Self {
        if other.nanos > self.nanos {
            other
        } else {
            self
        }
    }

    /// Returns the share of another quantity in percent, rounded down; zero if that is zero.
    pub(crate) const fn percent_of(self, whole: Self) -> i128 {
        if whole.nanos == 0 {
            return 0;
        }
        self.nanos.saturating_mul(100) / whole.nanos
    }

    /// Returns how often another quantity fits into this one, rounded up.
    pub(crate) const fn divided_by(self, divisor: Self) -> i128 {
        if divisor.nanos <= 0 {
            return self.rounded_up(NANOS);
        }
        self.rounded_up(divisor.nanos)
    }

    const fn rounded_up(self, divisor: i128) -> i128 {
        let whole = self.nanos / divisor;
        if self.nanos % divisor > 0 {
            whole + 1
        } else {
            whole
        }
    }
}

/// Parses `1.5`, in units of which `power` decimal places make one.
fn decimal(text: &str, power: i32) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = power - i32::try_from(fraction.len()).ok()?;
    let number: i128 = all.parse().ok()?;
    let factor = 10_i128.checked_pow(shift.unsigned_abs())?;
    let number = if shift < 0 {
        // Less than a billionth is rounded up, as by the server.
        number / factor + i128::from(number % factor > 0)
    } else {
        number.checked_mul(factor)?
    };
    Some(sign * number)
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_small = self.nanos.abs() < 1024 * NANOS;
        let (mut amount, base, suffixes) = if self.is_binary && !is_small {
            (self.rounded_up(NANOS), 1024, &BINARY[..])
        } else {
            (self.nanos, 1000, &DECIMAL[..])
        };
        if amount == 0 {
            return f.write_str("0");
        }
        let mut suffixes = suffixes.iter();
        let mut suffix = suffixes.next();
        while amount % base == 0
            && let Some(next) = suffixes.next()
        {
            amount /= base;
            suffix = Some(next);
        }
        write!(f, "{amount}{}", suffix.unwrap_or(&""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_the_server_writes_them() {
        for (text, written) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("2000", "2k"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("512", "512"),
            ("1e3", "1k"),
            ("12E", "12E"),
            ("-3Ki", "-3Ki"),
            ("3n", "3n"),
        ] {
            let quantity = Quantity::parse(text).expect(text);
            assert_eq!(quantity.to_string(), written, "{text}");
        }
        for wrong in ["", "m", "1x", "1.2.3", "0x1", "Gi", "1e"] {
            assert_eq!(Quantity::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sums_and_shares_are_exact() {
        let read = |text| Quantity::parse(text).expect("an amount");
        let sum = Quantity::default().plus(read("100Mi")).plus(read("28Mi"));
        assert_eq!(sum.to_string(), "128Mi");
        assert_eq!(sum.percent_of(read("1Gi")), 12);
        assert_eq!(sum.percent_of(Quantity::default()), 0);
        assert_eq!(read("1500m").divided_by(read("1")), 2);
        assert_eq!(read("1Gi").divided_by(read("1Mi")), 1024);
        assert_eq!(read("250m").larger(read("1")), read("1"));
    }
}
