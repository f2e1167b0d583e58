//! Owns how long ago a time in an object was. Refuses forms that the server does not take.

use crate::timetext;
use jiff::Timestamp;
use kubereel_format::RecordedAt;

/// Midnight at the start of the year 1: no time, to the server.
const NEVER_SECS: i64 = -62_135_596_800;

/// Reads a time as the server does; `None` if it is of another form.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let is_dated = |at: usize, letter: u8| text.as_bytes().get(at) == Some(&letter);
    // The calendar's parser takes more forms than RFC 3339.
    let has_form = text.len() >= "2026-11-21T14:00:00Z".len()
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .into_iter()
            .all(|(at, letter)| is_dated(at, letter));
    has_form.then(|| text.parse().ok()).flatten()
}

/// Tells whether a time stands for none.
pub(super) fn is_never(time: Timestamp) -> bool {
    time.as_second() == NEVER_SECS && time.subsec_nanosecond() == 0
}

/// Writes how long before a moment a time was.
pub(super) fn since(time: Timestamp, at: RecordedAt) -> String {
    let then = RecordedAt::from_micros(time.as_microsecond());
    // Towards zero, as the server rounds: 1.5 s ahead is still now.
    timetext::age(at.micros_since(then) / 1_000_000)
}

/// Writes how long it was from one time to another.
pub(super) fn between(from: Timestamp, to: Timestamp) -> String {
    since(from, RecordedAt::from_micros(to.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_servers_form_is_a_time() {
        for text in [
            "2026-11-21T14:00:00Z",
            "2026-11-21T14:00:00.123456Z",
            "2026-11-21T15:00:00+01:00",
        ] {
            assert!(parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "null",
            "yesterday",
            "2026-11-21",
            "2026-11-21 14:00:00Z",
            "2026-11-21T14:00Z",
            "20261121T140000Z",
            "2026-11-21T14:00:00",
            "2026-13-21T14:00:00Z",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_year_one_is_no_time() {
        let never = parse("0001-01-01T00:00:00Z").expect("a time");
        assert!(is_never(never));
        assert!(!is_never(parse("1970-01-01T00:00:00Z").expect("a time")));
    }

    #[test]
    fn elapsed_time_counts_from_the_moment() {
        let from = parse("2026-11-21T14:00:00Z").expect("a time");
        let to = parse("2026-11-21T14:02:05Z").expect("a time");
        assert_eq!(between(from, to), "2m5s");
        assert_eq!(between(to, from), "<invalid>");
    }
}
