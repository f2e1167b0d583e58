//! What stands where a secret could: words of prose, references to other values, and placeholders.

use super::announced_names::{count, is_blank, is_name_byte};
use super::yaml_lines::is_end_of_line;
use crate::forms::{self, ValueForm};

/// Words that follow the name of a secret in prose.
#[rustfmt::skip]
const PROSE: [&str; 42] = [
    "required", "incorrect", "invalid", "expired", "missing", "not", "is", "must", "null", "nil", "true", "false",
    "none", "unset", "empty", "failed", "cannot", "rejected", "denied", "unknown", "string", "the", "no", "error",
    "from", "unauthorized", "and", "or", "was", "were", "to", "for", "with", "when", "if", "has", "flag", "flags",
    "option", "should", "will", "found",
];

/// Returns whether a value is a word of prose.
pub(super) fn is_prose_word(value: &[u8]) -> bool {
    PROSE
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// The least words of a message with a colon between them.
const MESSAGE_LEAST: usize = 4;

/// Returns whether a value behind a colon is the text of a message: plain words with another colon between them, which
/// YAML would have to quote, or words of prose only.
pub(super) fn is_message(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else {
        return false;
    };
    let is_plain = |word: &str| {
        let word = word.trim_matches([':', ',', '.', '(', ')', '"', '\'']);
        forms::form(word) <= ValueForm::Word || word.split(['/', '-']).all(forms::is_atom)
    };
    let mut words = value.split_ascii_whitespace();
    let is_chain = value.contains(": ") && words.clone().count() >= MESSAGE_LEAST;
    words.all(|word| is_prose_word(word.as_bytes()) || is_chain && is_plain(word))
}

/// Returns whether what follows a colon behind a name in quotes is the text of a message, as in `volume "token" : not
/// found`, not a value in quotes or a number.
pub(super) fn is_phrase(rest: &[u8]) -> bool {
    let blanks = count(rest, is_blank);
    let value = rest.get(blanks..).unwrap_or_default();
    let digits = count(value, |byte| byte.is_ascii_digit());
    let next = value.get(digits..).unwrap_or_default();
    let is_number =
        digits > 0 && (is_end_of_line(next) || matches!(next, [b',' | b'}' | b']', ..]));
    let is_open = matches!(value.first(), Some(b'"' | b'\'' | b'\\' | b'[' | b'{'));
    blanks > 0 && !is_number && !is_open && !is_end_of_line(value)
}

/// Returns whether a value refers to another one, or is not a value: `$(NAME)`, `{{ .Values.name }}`, `<your-token>`,
/// `%(name)s`, a map or a list. A password may begin with each of these signs.
pub(super) fn is_reference(value: &[u8]) -> bool {
    match unescaped(value) {
        [b'$' | b'%', b'(' | b'{', ..] | [b'{', b'{' | b'%', ..] => true,
        [b'{', rest @ ..] => is_structure(rest, b"}\"'[{<") || is_placeholder(rest, b'}'),
        [b'[', rest @ ..] => is_structure(rest, b"]\"'[{<") || is_placeholder(rest, b']'),
        [b'<', rest @ ..] => is_placeholder(rest, b'>'),
        [b'%', rest @ ..] => is_verb(rest) || is_placeholder(rest, b'%'),
        _ => false,
    }
}

/// Returns a value without the backslashes before its `$`, as scripts in quotes write variables.
pub(super) fn unescaped(value: &[u8]) -> &[u8] {
    let slashes = count(value, |byte| byte == b'\\');
    let rest = value.get(slashes..).unwrap_or_default();
    if rest.first() == Some(&b'$') {
        rest
    } else {
        value
    }
}

/// Returns whether what follows the brace or the bracket at the beginning of a value belongs to a map or a list.
fn is_structure(rest: &[u8], begins: &[u8]) -> bool {
    let blanks = count(rest, |byte| byte.is_ascii_whitespace() || byte == b'\\');
    let inner = rest.get(blanks..).unwrap_or_default();
    let name = count(inner, |byte| is_name_byte(byte) || byte == b'/');
    let is_field = name > 0 && matches!(inner.get(name), Some(b':' | b'=' | b','));
    blanks > 0 || is_field || inner.first().is_none_or(|byte| begins.contains(byte))
}

/// Returns whether the rest of a value is words, as people fill them in: `your-token>`.
fn is_placeholder(rest: &[u8], end: u8) -> bool {
    let len = count(rest, |byte| byte != end);
    let words = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
    !words.is_empty()
        && words
            .split(|sign: char| sign.is_whitespace() || sign.is_ascii_punctuation())
            .all(forms::is_atom)
}

/// Returns whether the rest of a value is a directive of a format, `%s` or `%08x`, or encodes a sign.
fn is_verb(rest: &[u8]) -> bool {
    let flags = count(rest, |byte| {
        byte.is_ascii_digit() || b"+-# .!".contains(&byte)
    });
    let next = rest.get(flags..).unwrap_or_default();
    let is_alone = !next.get(1).is_some_and(u8::is_ascii_alphanumeric);
    next.first().is_none_or(u8::is_ascii_alphabetic) && is_alone
}
