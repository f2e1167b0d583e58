//! How amounts are written. The units of durations are those of `timetext`.

use kubereel_history::timetext;

/// An amount of things.
pub(crate) trait Amount {
    /// Gives it as the type of all amounts.
    fn get(self) -> u64;
}

impl Amount for u64 {
    fn get(self) -> u64 {
        self
    }
}

impl Amount for usize {
    #[expect(
        clippy::expect_used,
        reason = "no machine has lengths of more than 64 bits"
    )]
    fn get(self) -> u64 {
        u64::try_from(self).expect("a length fits into 64 bits")
    }
}

/// What is counted where the recorder's clock was set.
pub(crate) const CLOCK_STEP: &str = "step of the recorder's clock";

/// Writes a number with commas between thousands.
pub(crate) fn number(value: impl Amount) -> String {
    let digits = value.get().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes how many there are of something.
pub(crate) fn count(value: impl Amount, one: &str) -> String {
    let value = value.get();
    if value == 1 {
        return format!("1 {one}");
    }
    // The plural is that of the first word: "3 lines of the server".
    let (noun, rest) = one.split_once(' ').unwrap_or((one, ""));
    let noun = match noun {
        "breach" => "breaches".to_owned(),
        noun => format!("{noun}s"),
    };
    format!("{} {noun} {rest}", number(value))
        .trim_end()
        .to_owned()
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
    fn numbers_are_grouped_and_counted() {
        assert_eq!(number(0_u64), "0");
        assert_eq!(number(999_u64), "999");
        assert_eq!(number(212_480_u64), "212,480");
        assert_eq!(number(1_000_000_u64), "1,000,000");
        assert_eq!(count(1_u64, "node"), "1 node");
        assert_eq!(
            count(2_u64, "breach of the protocol"),
            "2 breaches of the protocol"
        );
        assert_eq!(count(1500_u64, "session"), "1,500 sessions");
    }

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
