//! Owns secrets that a text names: `password: …`, `token=…`, `"auth":"…"`. Refuses prose about them, as
//! far as it can be told.

use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Names whose value is a secret, however it is written.
pub(super) const STRONG: &str = r"pass(?:word|wd|phrase)|(?:secret[_.\-]?)?access[_.\-]?key(?:[_.\-]?secret)?|(?:session|security|access|refresh|id|auth|bearer|api|image|user|bot|deploy|registration)[_.\-]?token|(?:client|app|shared|consumer|webhook)[_.\-]?secret|api[_.\-]?key|(?:private|account|secret|encryption|signing|storage)[_.\-]?key|x-amz-(?:signature|credential)|x-goog-(?:signature|credential)";

/// Names that prose uses too: their value must follow `=`, or be quoted as in JSON.
pub(super) const WEAK: &str = r"signature|sig|token|secret|credentials?|auth|pwd|passwd";

/// A shorter value is no secret.
const WEAK_LEAST: usize = 4;

/// Words that follow such a name in prose.
const PROSE: [&[u8]; 26] = [
    b"required",
    b"incorrect",
    b"invalid",
    b"expired",
    b"missing",
    b"not",
    b"is",
    b"must",
    b"null",
    b"nil",
    b"true",
    b"false",
    b"none",
    b"unset",
    b"empty",
    b"failed",
    b"cannot",
    b"rejected",
    b"denied",
    b"unknown",
    b"string",
    b"the",
    b"no",
    b"error",
    b"from",
    b"unauthorized",
];

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r#"(?i-u)(?:(?:{STRONG})(?:\\*["'])?[ \t]{{0,8}}(?::=|=>|[:=])[ \t]{{0,8}}|(?:^|[^A-Za-z0-9])(?:{WEAK})(?:=|\\*["'][ \t]{{0,8}}:[ \t]{{0,8}}))"#
    ))
    .ok()
});

static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)--(?:[a-z0-9\-]*-)?(?:token|password|passwd|secret)[ \t]+").ok()
});

/// Finds the values that a text names.
pub(super) fn values(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(named) = &*NAMED {
        found.extend(
            named
                .find_iter(text)
                .filter_map(|name| value(text, name.end())),
        );
    }
    if let Some(flag) = &*FLAG {
        for name in flag.find_iter(text) {
            let secret = value(text, name.end()).filter(|place| {
                let value = text.get(place.clone()).unwrap_or_default();
                // A word of prose has neither.
                !value.starts_with(b"-")
                    && (value.len() >= 16 || value.iter().any(u8::is_ascii_digit))
            });
            found.extend(secret);
        }
    }
    found
}

/// Finds the value that begins here.
fn value(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    if let Some(quote @ (b'"' | b'\'')) = rest.get(slashes) {
        let start = at + slashes + 1;
        let end = closing(text, start, *quote, slashes);
        let place = start..end;
        let value = text.get(place.clone())?;
        return (!value.is_empty() && !is_reference(value)).then_some(place);
    }
    let len = rest.iter().take_while(|byte| !ends(**byte)).count();
    let value = rest.get(..len)?;
    let tail = value.iter().rev();
    let tail = tail.take_while(|byte| matches!(byte, b',' | b'.' | b')' | b']' | b'}'));
    let value = value.get(..len - tail.count())?;
    let is_prose = PROSE.iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_worth = value.len() >= WEAK_LEAST && !is_prose && !is_reference(value);
    is_worth.then(|| at..at + value.len())
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b'&' | b';' | b'<' | b'>'
        )
}

/// Tells whether a value stands for one that is elsewhere, or is no value.
fn is_reference(value: &[u8]) -> bool {
    matches!(
        value,
        [b'$', b'(' | b'{', ..] | [b'{' | b'[' | b'<' | b'%', ..]
    )
}

/// Finds the quote that closes a value: one with no more backslashes before it than the first has.
fn closing(text: &[u8], start: usize, quote: u8, slashes: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    for found in memchr::memchr_iter(quote, rest) {
        let before = rest.get(..found).unwrap_or_default();
        let escapes = before
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if escapes <= slashes {
            return start + found - escapes;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<&str> {
        let places = values(text.as_bytes());
        places.into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn values_are_found_where_they_are_named() {
        for (text, expected) in [
            ("password: hunter2, user: x", "hunter2"),
            ("DB_PASSWORD=hunter2;Host=a", "hunter2"),
            (r#"{"password":"hun ter2"}"#, "hun ter2"),
            (r#"{\"password\":\"a\\\"b\",\"x\":1}"#, r#"a\\\"b"#),
            ("?a=1&token=abcdef&b=2", "abcdef"),
            ("aws_secret_access_key = wJalrXUtnFEMI", "wJalrXUtnFEMI"),
            (r#""auth": "dXNlcg=="#, "dXNlcg=="),
            ("run --bot-token 1234567 now", "1234567"),
            ("run --token=12-34567 now", "12-34567"),
            ("&X-Amz-Signature=abc123&x", "abc123"),
            ("passwd='it''", "it"),
        ] {
            assert_eq!(said(text), [expected], "{text}");
        }
    }

    #[test]
    fn prose_and_references_are_left() {
        for text in [
            "invalid password: incorrect",
            "secret \"pull-secret\" not found",
            "failed to get secret: it is gone",
            "the flag --token must be set",
            "password: $(PASSWORD)",
            "password={{ .Values.password }}",
            "\"token\": null",
            "tokens=1234567",
            "password: \"\"",
        ] {
            assert_eq!(said(text), Vec::<&str>::new(), "{text}");
        }
    }
}
