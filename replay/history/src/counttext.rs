//! Formats numbers and counts of things.

/// A number of things.
pub trait Amount {
    /// Returns it as the type of all amounts.
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

/// Formats a number with commas between thousands.
pub fn number(value: impl Amount) -> String {
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

/// Formats a number of things. The plural is that of the first word: `3 lines of the server`.
pub fn count(value: impl Amount, one: &str) -> String {
    let value = value.get();
    let (noun, rest) = one.split_once(' ').unwrap_or((one, ""));
    let plural = match (value, noun) {
        (1, _) => "",
        (_, "breach") => "es",
        _ => "s",
    };
    let text = format!("{} {noun}{plural} {rest}", number(value));
    text.trim_end().to_owned()
}

/// Chooses the form of a word for a number of things: `was` or `were`.
pub fn inflected<'a>(value: impl Amount, one: &'a str, many: &'a str) -> &'a str {
    if value.get() == 1 { one } else { many }
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
        assert_eq!(count(1500_usize, "session"), "1,500 sessions");
        assert_eq!(inflected(1_u64, "was", "were"), "was");
        assert_eq!(inflected(0_u64, "was", "were"), "were");
    }
}
