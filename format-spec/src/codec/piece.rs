//! The parts of a piece of JSON text: its key, its value and the byte that ends it; and values that are times or
//! numbers, of which a few bits give the difference from the previous one.

use super::CodecError;

/// The bytes that can end a piece, and 0 for none: a body that is not JSON may end anywhere.
pub(crate) const ENDS: [u8; 6] = [b',', b'{', b'}', b'[', b']', 0];

/// Cuts a piece into its key with quotation marks and colon, its value, and the place of its end in [`ENDS`].
/// The three joined are the piece.
pub(crate) fn parts(piece: &[u8]) -> (&[u8], &[u8], u32) {
    let (body, end) = piece
        .split_last()
        .and_then(|(last, body)| {
            let end = (0..).zip(ENDS).find(|(_, end)| end == last && *last != 0);
            end.map(|(place, _)| (body, place))
        })
        .unwrap_or((piece, 5));
    let key = match body.first() {
        Some(b'"') => memchr::memmem::find(body, b"\":").map_or(0, |at| at + 2),
        _ => 0,
    };
    let (key, value) = body.split_at_checked(key).unwrap_or((&[], body));
    (key, value, end)
}

/// The most digits of a number that is not text.
const MOST_DIGITS: usize = 17;

/// A whole number, with or without quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) value: i64,
    is_quoted: bool,
}

impl Number {
    /// Reads a value: only if the number prints as it was spelt.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let unquoted = value
            .strip_prefix(b"\"")
            .and_then(|rest| rest.strip_suffix(b"\""));
        let digits = unquoted.unwrap_or(value);
        let first = digits.first()?;
        if digits.len() > MOST_DIGITS || !(first.is_ascii_digit() || *first == b'-') {
            return None;
        }
        let number = Self {
            value: std::str::from_utf8(digits).ok()?.parse().ok()?,
            is_quoted: unquoted.is_some(),
        };
        (number.text() == value).then_some(number)
    }

    /// Returns the number that is `step` larger, spelt alike.
    pub(crate) fn plus(self, step: i64) -> Result<Self, CodecError> {
        let value = self
            .value
            .checked_add(step)
            .ok_or(CodecError::Meaningless {
                what: "a number's step from",
                found: self.value.unsigned_abs(),
            })?;
        Ok(Self { value, ..self })
    }

    /// Returns the step to a number that is spelt alike.
    pub(crate) fn step_to(self, other: Self) -> Option<i64> {
        (self.is_quoted == other.is_quoted).then(|| other.value.checked_sub(self.value))?
    }

    /// Spells it.
    pub(crate) fn text(self) -> Vec<u8> {
        if self.is_quoted {
            format!("\"{}\"", self.value).into_bytes()
        } else {
            self.value.to_string().into_bytes()
        }
    }
}

/// A time between quotation marks, in UTC, `2026-11-21T13:20:07Z` or `2026-11-21T13:20:07.123456Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceTime {
    /// Seconds since the Unix epoch.
    Seconds(i64),
    /// Microseconds since the Unix epoch.
    Micros(i64),
}

const SECONDS_LEN: usize = 22;
const MICROS_LEN: usize = 29;
const DAY: i64 = 86_400;
const MILLION: i64 = 1_000_000;
/// The first second of year 10,000.
const YEARS_END: i64 = 253_402_300_800;

impl PieceTime {
    /// Reads a value: only if the time prints as it was spelt.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let is_long = match value.len() {
            SECONDS_LEN => false,
            MICROS_LEN => true,
            _ => return None,
        };
        let number = |from: usize, to: usize| -> Option<i64> {
            value.get(from..to)?.iter().try_fold(0, |number, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| number * 10 + i64::from(digit - b'0'))
            })
        };
        let days = days_of(number(1, 5)?, number(6, 8)?, number(9, 11)?);
        let seconds = days * DAY + number(12, 14)? * 3600 + number(15, 17)? * 60 + number(18, 20)?;
        let time = if is_long {
            Self::Micros(seconds * MILLION + number(21, 27)?)
        } else {
            Self::Seconds(seconds)
        };
        (time.text().ok()? == value).then_some(time)
    }

    /// Spells it.
    pub(crate) fn text(self) -> Result<Vec<u8>, CodecError> {
        let (seconds, micros) = match self {
            Self::Seconds(seconds) => (seconds, None),
            Self::Micros(micros) => (micros.div_euclid(MILLION), Some(micros.rem_euclid(MILLION))),
        };
        // From year 0 on: four digits.
        if !(-62_167_219_200..YEARS_END).contains(&seconds) {
            return Err(CodecError::Meaningless {
                what: "a time",
                found: seconds.unsigned_abs(),
            });
        }
        let (year, month, day) = date_of(seconds.div_euclid(DAY));
        let second = seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let start = format!("\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        Ok(match micros {
            None => format!("{start}Z\""),
            Some(micros) => format!("{start}.{micros:06}Z\""),
        }
        .into_bytes())
    }
}

/// Returns the days from the Unix epoch to a date of the Gregorian calendar. Years begin in March here, so that the
/// leap day is the last of one.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - 719_468
}

/// Returns the date that lies a number of days after the Unix epoch.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let cycle = days.div_euclid(146_097);
    let day_of_cycle = days.rem_euclid(146_097);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_cycle + cycle * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_piece_has_a_key_a_value_and_an_end() {
        let cut = |piece: &'static str| parts(piece.as_bytes());
        assert_eq!(cut(r#""a":1,"#), (&b"\"a\":"[..], &b"1"[..], 0));
        assert_eq!(cut(r#""a":{"#), (&b"\"a\":"[..], &b""[..], 1));
        assert_eq!(cut(r#""b""#), (&b""[..], &b"\"b\""[..], 5));
        assert_eq!(cut("}"), (&b""[..], &b""[..], 2));
        assert_eq!(cut(""), (&b""[..], &b""[..], 5));
        assert_eq!(parts(b"\0"), (&b""[..], &b"\0"[..], 5));
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, seconds) in [
            ("\"1970-01-01T00:00:00Z\"", 0),
            ("\"2000-02-29T23:59:59Z\"", 951_868_799),
            ("\"2026-11-21T13:20:07Z\"", 1_795_267_207),
            ("\"9999-12-31T23:59:59Z\"", YEARS_END - 1),
            ("\"0000-01-01T00:00:00Z\"", -62_167_219_200),
        ] {
            assert_eq!(
                PieceTime::parse(text.as_bytes()),
                Some(PieceTime::Seconds(seconds))
            );
        }
        let micros = PieceTime::parse(b"\"1970-01-02T00:00:00.000009Z\"");
        assert_eq!(micros, Some(PieceTime::Micros(86_400_000_009)));
        for odd in [
            "\"2023-02-30T00:00:00Z\"",
            "\"2023-02-10T24:00:00Z\"",
            "\"2023-02-10T00:00:60Z\"",
            "\"2023-02-10 00:00:00Z\"",
            "\"2023-02-10T00:00:00.+12345Z\"",
            "\"2023-13-10T00:00:00Z\"",
        ] {
            assert_eq!(PieceTime::parse(odd.as_bytes()), None, "{odd}");
        }
        assert!(PieceTime::Seconds(YEARS_END).text().is_err());
    }

    proptest! {
        #[test]
        fn times_come_back(seconds in -62_167_219_200..YEARS_END, micros in 0..MILLION) {
            for time in [PieceTime::Seconds(seconds), PieceTime::Micros(seconds * MILLION + micros)] {
                prop_assert_eq!(PieceTime::parse(&time.text().unwrap()), Some(time));
            }
        }

        #[test]
        fn what_is_parsed_prints_as_it_was(value: Vec<u8>, text in "\"?-?[0-9.+e]{1,18}\"?", time in "\"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{6})?Z\"") {
            for value in [&value, text.as_bytes(), time.as_bytes()] {
                if let Some(number) = Number::parse(value) {
                    prop_assert_eq!(number.text(), value);
                }
                if let Some(time) = PieceTime::parse(value) {
                    prop_assert_eq!(time.text().unwrap(), value);
                }
                let (key, rest, end) = parts(value);
                let end = if end == 5 { vec![] } else { vec![ENDS[usize::try_from(end).unwrap()]] };
                prop_assert_eq!([key, rest, &end].concat(), value);
            }
        }
    }
}
