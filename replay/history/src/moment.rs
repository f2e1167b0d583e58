//! Owns the one grammar of TIME: every command, screen and rule that takes a moment takes this.
//! Refuses to look into a reel: `resolve` does.

use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp};
use kubereel_format::{RecordedAt, Seq};
use std::str::FromStr;
use thiserror::Error;

/// The forms that a moment can be written in, one a line: form and meaning.
pub const MOMENT_FORMS: [(&str, &str); 8] = [
    ("2026-11-21T14:02:31.480Z", "RFC 3339, any offset"),
    (
        "14:02 or 14:02:31.480Z",
        "a time of day, UTC, within the recording",
    ),
    ("+12m30s", "after the start of the recording"),
    ("-5m", "before its end"),
    (
        "rv:12345",
        "a resourceVersion: all changes up to and including it",
    ),
    (
        "seq:12345",
        "a record's number: all records up to and including it",
    ),
    ("start", "the first record"),
    ("end", "the last record"),
];

/// A moment as somebody wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A time on the calendar.
    Time(RecordedAt),
    /// A time of day in UTC, on whichever day of the recording has it.
    TimeOfDay(Time),
    /// So many microseconds after the first record.
    AfterStart {
        /// Microseconds.
        micros: u64,
    },
    /// So many microseconds before the last record.
    BeforeEnd {
        /// Microseconds.
        micros: u64,
    },
    /// After the change with this resourceVersion.
    Revision(u128),
    /// After the record of this number.
    Record(Seq),
    /// At the first record.
    Start,
    /// At the last record.
    End,
}

/// A text is no moment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MomentError {
    /// It has none of the forms.
    #[error("not a moment: {text:?}")]
    UnknownForm {
        /// The text.
        text: String,
    },
    /// It begins like one form and goes on wrongly.
    #[error("not {expected}: {text:?}")]
    Malformed {
        /// What it began like.
        expected: &'static str,
        /// The text.
        text: String,
    },
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let malformed = |expected| MomentError::Malformed {
            expected,
            text: text.to_owned(),
        };
        match text {
            "start" => return Ok(Self::Start),
            "end" => return Ok(Self::End),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("rv:") {
            let rv = plain_number(digits).ok_or_else(|| malformed("a resourceVersion"))?;
            return Ok(Self::Revision(rv));
        }
        if let Some(digits) = text.strip_prefix("seq:") {
            let seq = plain_number(digits).ok_or_else(|| malformed("a record's number"))?;
            return Ok(Self::Record(Seq(seq)));
        }
        if let Some(length) = text.strip_prefix('+') {
            let micros = micros_of(length).ok_or_else(|| malformed("a length of time"))?;
            return Ok(Self::AfterStart { micros });
        }
        if let Some(length) = text.strip_prefix('-') {
            let micros = micros_of(length).ok_or_else(|| malformed("a length of time"))?;
            return Ok(Self::BeforeEnd { micros });
        }
        if looks_like_date(text) {
            let time: Option<Timestamp> = text.parse().ok();
            let time =
                time.ok_or_else(|| malformed("a time of RFC 3339 (2026-11-21T14:02:31Z)"))?;
            return Ok(Self::Time(RecordedAt::from_micros(time.as_microsecond())));
        }
        if text.contains(':') {
            let time = time_of_day(text).ok_or_else(|| malformed("a time of day"))?;
            return Ok(Self::TimeOfDay(time));
        }
        Err(MomentError::UnknownForm {
            text: text.to_owned(),
        })
    }
}

/// Reads digits only: no sign, no spaces.
fn plain_number<N: FromStr>(digits: &str) -> Option<N> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Reads a length such as `12m30s`, `1.5s` or `90m`.
fn micros_of(length: &str) -> Option<u64> {
    // The sign was taken already, and "5 minutes ago" is no length.
    if !length.starts_with(|first: char| first.is_ascii_digit()) || length.ends_with("ago") {
        return None;
    }
    let duration: SignedDuration = length.parse().ok()?;
    u64::try_from(duration.as_micros()).ok()
}

fn looks_like_date(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.by_ref().take(4).all(|byte| byte.is_ascii_digit()) && bytes.next() == Some(b'-')
}

/// Reads `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`, with a `Z` after it or not.
fn time_of_day(text: &str) -> Option<Time> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let mut parts = text.split(':');
    let hour = two_digits(parts.next()?)?;
    let minute = two_digits(parts.next()?)?;
    let (second, nanos) = match parts.next() {
        None => (0, 0),
        Some(rest) => match rest.split_once('.') {
            None => (two_digits(rest)?, 0),
            Some((whole, fraction)) => (two_digits(whole)?, nanos_of(fraction)?),
        },
    };
    if parts.next().is_some() {
        return None;
    }
    Time::new(hour, minute, second, nanos).ok()
}

fn two_digits(text: &str) -> Option<i8> {
    if text.is_empty() || text.len() > 2 {
        return None;
    }
    plain_number(text)
}

fn nanos_of(fraction: &str) -> Option<i32> {
    if fraction.len() > 9 {
        return None;
    }
    plain_number(&format!("{fraction:0<9}")).filter(|_| !fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Result<Moment, MomentError> {
        text.parse()
    }

    #[test]
    fn every_form_is_read() {
        let time = Moment::Time(RecordedAt::from_micros(1_795_269_751_480_000));
        assert_eq!(moment("2026-11-21T14:02:31.480Z"), Ok(time));
        assert_eq!(moment("2026-11-21T16:02:31.48+02:00"), Ok(time));
        let at = |h, m, s, n| Moment::TimeOfDay(Time::constant(h, m, s, n));
        assert_eq!(moment("14:02"), Ok(at(14, 2, 0, 0)));
        assert_eq!(moment("14:02:31"), Ok(at(14, 2, 31, 0)));
        assert_eq!(moment("14:02:31.480001Z"), Ok(at(14, 2, 31, 480_001_000)));
        let micros = 750_000_000;
        assert_eq!(moment("+12m30s"), Ok(Moment::AfterStart { micros }));
        assert_eq!(moment("+0s"), Ok(Moment::AfterStart { micros: 0 }));
        assert_eq!(
            moment("-5m"),
            Ok(Moment::BeforeEnd {
                micros: 300_000_000
            })
        );
        assert_eq!(moment("rv:12345"), Ok(Moment::Revision(12345)));
        let longest = u128::MAX;
        assert_eq!(
            moment(&format!("rv:{longest}")),
            Ok(Moment::Revision(longest))
        );
        assert_eq!(moment("seq:7"), Ok(Moment::Record(Seq(7))));
        assert_eq!(moment("start"), Ok(Moment::Start));
        assert_eq!(moment("end"), Ok(Moment::End));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "yesterday",
            "12",
            "+",
            "+12",
            "+-5m",
            "-",
            "-5m ago",
            "+5m ago",
            "rv:",
            "rv:-1",
            "rv: 1",
            "rv:+1",
            "rv:340282366920938463463374607431768211456",
            "seq:x",
            "seq:18446744073709551616",
            "25:00",
            "14:60",
            "14:02:31.",
            "14:02:31.1234567890",
            "14:02:31:1",
            ":02",
            "14:2x",
            "2026-11-21",
            "2026-11-21T14:02:31",
            "2026-13-21T14:02:31Z",
            "START",
            " end",
        ] {
            assert!(moment(text).is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn the_forms_shown_to_people_are_read() {
        for (form, _) in MOMENT_FORMS {
            for text in form.split(" or ") {
                assert!(moment(text).is_ok(), "{text:?} is shown and not read");
            }
        }
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let error = moment("rv:abc").expect_err("letters");
        assert_eq!(error.to_string(), r#"not a resourceVersion: "rv:abc""#);
    }
}
