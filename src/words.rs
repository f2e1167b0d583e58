//! How amounts are written. The units of durations are those of `timetext`.

use kubereel_format::LossCounts;
use kubereel_history::timetext;

pub(crate) use kubereel_history::counttext::{Amount, count, inflected, number};

/// Describes how often the recorder's clock was set.
pub(crate) fn clock_steps(steps: u64) -> String {
    let steps = count(steps, "step of the recorder's clock");
    format!("{steps} · times before and after one do not compare")
}

/// Writes a text without the numbers that the system gives its errors: `No such file (os error 2)` is `no such file`.
pub(crate) fn without_os_codes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" (os error ") {
        let (_, behind) = after.split_once(')').unwrap_or(("", after));
        let begin = before.rfind(": ").map_or(0, |at| at + ": ".len());
        let (head, cause) = before.split_at(begin);
        let mut letters = cause.chars();
        plain.push_str(head);
        plain.extend(letters.next().into_iter().flat_map(char::to_lowercase));
        plain.push_str(letters.as_str());
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

/// Writes how much cannot be read; empty if all can.
pub(crate) fn losses(lost: LossCounts) -> String {
    let mut parts = Vec::new();
    if lost.events > 0 {
        parts.push(count(lost.events, "event unreadable"));
    }
    if lost.records > 0 {
        parts.push(count(lost.records, "record lost"));
    }
    if lost.is_end_lost {
        parts.push("what followed at the end".to_owned());
    }
    parts.join(" · ")
}

/// Writes a length of time. A clock that was set back leaves none.
pub(crate) fn duration(micros: i64) -> String {
    timetext::span(u64::try_from(micros).unwrap_or(0))
}

/// Writes a number of bytes with three digits.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if value < 1000 {
        return format!("{value} B");
    }
    let mut tenths = value / 100;
    for unit in UNITS {
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        tenths /= 1000;
    }
    format!("{value} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_has_no_number() {
        for (text, plain) in [
            (
                "a.reel: No such file or directory (os error 2)",
                "a.reel: no such file or directory",
            ),
            ("File exists (os error 17): a.reel", "file exists: a.reel"),
            (
                "a: Is a directory (os error 21); b: File too large (os error 27)",
                "a: is a directory; b: file too large",
            ),
            ("a.reel: Not a reel", "a.reel: Not a reel"),
        ] {
            assert_eq!(without_os_codes(text), plain);
        }
    }

    #[test]
    fn bytes_keep_one_decimal() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(18_249_000), "18.2 MB");
        assert_eq!(bytes(999_999), "999.9 kB");
        assert_eq!(bytes(4_200_000_000), "4.2 GB");
    }
}
