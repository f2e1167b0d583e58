//! Owns spans of time as rules write them: `90s`, `1h30m`, `250ms`. Refuses fractions and signs.

use kubereel_history::timetext;

/// A span of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

impl Micros {
    /// Reads numbers with units, the larger units first.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const UNITS: [(&str, i64); 5] = [
            ("d", 86_400_000_000),
            ("h", 3_600_000_000),
            ("ms", 1_000),
            ("m", 60_000_000),
            ("s", 1_000_000),
        ];
        let mut rest = text;
        let mut sum = 0_i64;
        let mut last = i64::MAX;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let (number, behind) = rest.split_at_checked(digits)?;
            let number: i64 = number.parse().ok()?;
            let (unit, micros) = UNITS.iter().find(|(unit, _)| behind.starts_with(unit))?;
            if *micros >= last {
                return None;
            }
            last = *micros;
            sum = sum.checked_add(number.checked_mul(*micros)?)?;
            rest = behind.get(unit.len()..)?;
        }
        (!text.is_empty()).then_some(Self(sum))
    }

    /// Writes it for people.
    pub(crate) fn words(self) -> String {
        timetext::span(self.0.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        let expected = [
            ("90s", Some(90_000_000)),
            ("1h30m", Some(5_400_000_000)),
            ("250ms", Some(250_000)),
            ("1m250ms", Some(60_250_000)),
            ("0s", Some(0)),
            ("", None),
            ("10", None),
            ("m", None),
            ("10m1h", None),
            ("1m1m", None),
            ("-1m", None),
            ("1.5m", None),
            ("99999999999999999999s", None),
            ("9223372036854775807h", None),
        ];
        for (text, micros) in expected {
            assert_eq!(Micros::parse(text), micros.map(Micros), "{text}");
        }
    }
}
