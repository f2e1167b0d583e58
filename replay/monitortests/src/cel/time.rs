//! Owns how moments and spans of time are read from texts: RFC 3339, and the spans of Go that CEL takes.
//! Refuses everything between.

/// Reads an RFC 3339 time as microseconds since 1970.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let (micros, rest) = fraction(rest)?;
    let offset = zone(rest)?;
    let is_date = (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
    // A leap second is taken for the second before.
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_1970(year, month, day);
    let secs = days * 86_400 + hour * 3600 + minute * 60 + second.min(59) - offset;
    secs.checked_mul(1_000_000)?.checked_add(micros)
}

/// Reads numbers of fixed widths.
fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Reads a fraction of a second as microseconds; what is smaller is cut.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = digits.split_at_checked(end)?;
    if digits.is_empty() {
        return None;
    }
    let six: String = digits.chars().chain("000000".chars()).take(6).collect();
    Some((six.parse().ok()?, rest))
}

/// Reads a zone as seconds east of Greenwich.
fn zone(text: &str) -> Option<i64> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let number = |part: &str| match part.len() {
        2 if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse::<i64>().ok(),
        _ => None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Counts days in the proleptic Gregorian calendar, in years that begin with March.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reads a span as Go writes it, `1h30m`, `-1.5s`, `250ms`, as microseconds.
pub(crate) fn duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos = 0_i64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at_checked(end)?;
        let end = behind.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, after) = behind.split_at_checked(end.unwrap_or(behind.len()))?;
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() {
            return None;
        }
        let whole: i64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        nanos = nanos.checked_add(whole.checked_mul(*unit)?)?;
        let mut scale = *unit;
        for digit in part.chars() {
            scale /= 10;
            nanos = nanos.checked_add(i64::from(digit.to_digit(10)?) * scale)?;
        }
        rest = after;
    }
    Some(sign * nanos / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read() {
        let expected = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2025-11-21T14:22:31.48Z", Some(1_763_734_951_480_000)),
            (
                "2025-11-21T16:22:31.480001+02:00",
                Some(1_763_734_951_480_001),
            ),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800_000_000)),
            ("1969-12-31T23:59:59.999999999Z", Some(-1)),
            ("2023-02-29T00:00:00Z", None),
            ("2025-13-01T00:00:00Z", None),
            ("2025-11-21T24:00:00Z", None),
            ("2025-11-21", None),
            ("2025-11-21T14:22:31", None),
            ("2025-11-21T14:22:31.Z", None),
            ("+025-11-21T14:22:31Z", None),
            ("2025-11-21T14:22:31+2:00", None),
            ("ä025-11-21T14:22:31Z", None),
        ];
        for (text, micros) in expected {
            assert_eq!(timestamp(text), micros, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        let expected = [
            ("0", Some(0)),
            ("1h30m", Some(5_400_000_000)),
            ("-1.5s", Some(-1_500_000)),
            (".5m", Some(30_000_000)),
            ("250ms", Some(250_000)),
            ("1500ns", Some(1)),
            ("", None),
            ("1", None),
            ("m", None),
            ("1x", None),
            ("1.2.3s", None),
            ("9999999999999h", None),
        ];
        for (text, micros) in expected {
            assert_eq!(duration(text), micros, "{text}");
        }
    }
}
