//! Marks, which replace secrets, and the edits that insert them.
//!
//! There are two marks. A whole value becomes a sentence. A part of a text becomes a word without
//! spaces, so that the text around it keeps its meaning; the word is a valid object name as well.
//! This module does not decide what is a secret.

use crate::base64;
use ring::hmac;
use ring::rand::SystemRandom;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// The beginning of the sentence; `REDACTED` of the format is the same.
pub(crate) const SENTENCE: &str = "redacted by kubereel: ";

/// The beginning of the word.
pub(crate) const WORD: &str = "redacted-by-kubereel-";

/// The bytes of the hash that a mark shows: two values have the same by chance once in 2^64.
const HASH_BYTES: usize = 8;

/// The key under which one run hashes secrets.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    key: hmac::Key,
}

impl Marker {
    /// Draws a key from the system; `None` if the system returns no random bytes.
    pub(crate) fn random() -> Option<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        Some(Self { key })
    }

    /// Returns the mark of a whole value.
    pub(crate) fn sentence(&self, value: &[u8]) -> String {
        format!("{SENTENCE}{} bytes, {}", value.len(), self.hash(value))
    }

    /// Returns the mark of a part of a text.
    pub(crate) fn word(&self, value: &[u8]) -> String {
        format!("{WORD}{}-bytes-{}", value.len(), self.hash(value))
    }

    fn hash(&self, value: &[u8]) -> String {
        let tag = hmac::sign(&self.key, value);
        hex(tag.as_ref().get(..HASH_BYTES).unwrap_or_default())
    }
}

/// Formats bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the name that replaces an object's name that is a secret.
///
/// If the uid has the usual form, the name is made of it: it is then the same in every run, and
/// wherever the object is named together with its uid.
pub(crate) fn name_of(uid: &str) -> Option<String> {
    is_uuid(uid).then(|| format!("{WORD}{uid}"))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns whether a text is exactly a mark, or several in a row: parts of a value that were replaced each for itself.
pub(crate) fn is_mark(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    if let Some(rest) = text.strip_prefix(SENTENCE) {
        return rest
            .split_once(" bytes, ")
            .is_some_and(|(len, hash)| is_number(len) && is_hash(hash));
    }
    let is_word = |word: &str| {
        let Some(rest) = word.strip_prefix(WORD) else {
            return false;
        };
        let parts = rest.split_once("-bytes-");
        is_uuid(rest) || parts.is_some_and(|(len, hash)| is_number(len) && is_hash(hash))
    };
    text.split(' ').all(is_word)
}

/// Returns whether a text is the base64 of exactly a mark.
pub(crate) fn is_encoded_mark(text: &[u8]) -> bool {
    base64::decode(text).is_some_and(|bytes| is_mark(&bytes))
}

fn is_number(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hash(text: &str) -> bool {
    text.len() == 2 * HASH_BYTES
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The name of a rule.
pub(crate) type RuleName = Cow<'static, str>;

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The replaced bytes.
    pub(crate) place: Range<usize>,
    /// The replacement.
    pub(crate) with: Vec<u8>,
    /// The rule.
    pub(crate) rule: RuleName,
    /// The part of the secret that may be shown.
    pub(crate) hint: Hint,
    /// Its path in an object; empty in a text.
    pub(crate) path: String,
}

/// The part of a secret that may be shown: its length and its first letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Its length, in bytes.
    pub(crate) len: usize,
    /// Its first letters: at most a fourth of it.
    pub(crate) begin: String,
}

/// The largest number of letters of a secret that are ever shown.
const SHOWN_MOST: usize = 4;

impl Hint {
    /// Creates the hint of a secret.
    pub(crate) fn of(secret: &[u8]) -> Self {
        let most = SHOWN_MOST.min(secret.len() / 4);
        let begin = secret.iter().take(most);
        Self {
            len: secret.len(),
            begin: begin
                .take_while(|byte| byte.is_ascii_graphic())
                .map(|byte| char::from(*byte))
                .collect(),
        }
    }
}

/// Sorts edits and merges overlapping ones: an edit that contains another one stays; two that
/// overlap become one.
pub(crate) fn settle(mut edits: Vec<Edit>, text: &[u8], marker: &Marker) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.place.start, std::cmp::Reverse(edit.place.end)));
    let mut settled: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match settled.last_mut() {
            // The later edit knows the kind of the object around it.
            Some(last) if edit.place == last.place => *last = edit,
            Some(last) if edit.place.start < last.place.end => {
                if edit.place.end > last.place.end {
                    last.place.end = edit.place.end;
                    let secret = text.get(last.place.clone()).unwrap_or_default();
                    last.with = marker.word(secret).into_bytes();
                    last.hint = Hint::of(secret);
                }
            }
            _ => settled.push(edit),
        }
    }
    settled
}

/// Applies settled edits to a text.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.extend_from_slice(text.get(from..edit.place.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        from = edit.place.end.max(from);
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_again_and_nothing_else_is() {
        let marker = Marker::random().expect("random bytes");
        let sentence = marker.sentence(b"hunter2");
        let word = marker.word(b"hunter2");
        assert!(sentence.starts_with("redacted by kubereel: 7 bytes, "));
        assert!(word.starts_with("redacted-by-kubereel-7-bytes-"));
        for mark in [&sentence, &word] {
            assert!(is_mark(mark.as_bytes()), "{mark}");
            assert!(!is_mark(format!("{mark}x").as_bytes()));
            assert!(!is_mark(format!(" {mark}").as_bytes()));
        }
        assert!(is_mark(format!("{word} {word}").as_bytes()));
        assert!(!is_mark(format!("{word} x").as_bytes()));
        let name = name_of("0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11").expect("a uid");
        assert!(is_mark(name.as_bytes()));
        assert_eq!(name_of("sha256~token"), None);
        assert!(!is_mark(
            b"redacted by kubereel: hunter2 bytes, 0123456789abcdef"
        ));
        let encoded = base64::encode(sentence.as_bytes());
        assert!(is_encoded_mark(encoded.as_bytes()) && !is_mark(encoded.as_bytes()));
    }

    #[test]
    fn equal_values_have_equal_marks_within_a_run_only() {
        let (one, other) = (
            Marker::random().expect("a key"),
            Marker::random().expect("a key"),
        );
        assert_eq!(one.word(b"a"), one.clone().word(b"a"));
        assert_ne!(one.word(b"a"), one.word(b"b"));
        assert_ne!(one.word(b"a"), other.word(b"a"));
    }
}
