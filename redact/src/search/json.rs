//! JSON by bytes: the begin and end of its values.
//!
//! Invariants: the text comes from a server or a user, so every place is checked and nothing
//! recurses.

use crate::decoded::DecodedText;
use crate::mark::{Edit, Hint, Marker};
use std::borrow::Cow;
use std::ops::Range;

/// A JSON text. Places in it are bytes from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonText<'j>(pub(super) &'j str);

impl<'j> JsonText<'j> {
    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.0.as_bytes().get(at).copied()
    }

    /// Returns the place behind white space.
    pub(super) fn space(self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    }

    /// Returns the end of the string that begins here.
    pub(super) fn string(self, at: usize) -> Option<usize> {
        let bytes = self.0.as_bytes();
        let mut from = at + 1;
        loop {
            let found = from + quote_or_escape(bytes.get(from..)?)?;
            if bytes.get(found) == Some(&b'"') {
                return Some(found + 1);
            }
            from = found + 2;
        }
    }

    /// Returns the end of the number, boolean or null that begins here.
    pub(super) fn literal(self, at: usize) -> Option<usize> {
        let rest = self.0.as_bytes().get(at..)?;
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let len = rest.iter().take_while(|byte| is_part(byte)).count();
        (len > 0).then_some(at + len)
    }

    /// Returns the end of the object or list that begins here.
    pub(super) fn nested(self, at: usize) -> Option<usize> {
        let mut open = 0_usize;
        let mut at = at;
        loop {
            match self.byte(at)? {
                b'"' => {
                    at = self.string(at)?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            at += 1;
            if open == 0 {
                return Some(at);
            }
        }
    }

    /// Returns the JSON at a place; empty if the place is not in the text.
    pub(super) fn raw(self, place: &Range<usize>) -> &'j str {
        self.0.get(place.clone()).unwrap_or_default()
    }

    /// Returns the places of the items of the list that begins here; none if it is not a list.
    pub(super) fn items(self, list: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = list;
        if self.byte(at) != Some(b'[') {
            return found;
        }
        while let Some(b'[' | b',') = self.byte(at) {
            let from = self.space(at + 1);
            let end = match self.byte(from) {
                Some(b'"') => self.string(from),
                Some(b'[' | b'{') => self.nested(from),
                _ => self.literal(from),
            };
            let Some(end) = end else {
                break;
            };
            found.push(from..end);
            at = self.space(end);
        }
        found
    }

    /// Returns the value of the string at a place; empty if it is not a string.
    pub(super) fn string_value(self, place: &Range<usize>) -> Cow<'j, str> {
        let raw = self.raw(place);
        let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        let inner = inner.unwrap_or_default();
        if inner.contains('\\') {
            serde_json::from_str(raw).unwrap_or_else(|_| Cow::Owned(inner.to_owned()))
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// Decodes the string at a place, with the place of each byte.
    pub(super) fn decoded(self, place: &Range<usize>) -> Option<DecodedText<'j>> {
        let bytes = self.0.as_bytes();
        let raw = bytes.get(place.start + 1..place.end.checked_sub(1)?)?;
        Some(DecodedText::from_json(raw))
    }

    /// Returns whether the text from a place on begins with a character.
    pub(super) fn starts_with(self, place: &Range<usize>, first: char) -> bool {
        self.0
            .get(place.start..)
            .is_some_and(|text| text.starts_with(first))
    }
}

/// Returns the place of the first quote or backslash. Most strings are short, and a call takes longer than to look at
/// a few words.
fn quote_or_escape(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    for (place, word) in words.iter().take(SHORT_WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
        if found != 0 {
            let within = usize::try_from(found.trailing_zeros() / 8).ok()?;
            return Some(place * 8 + within);
        }
    }
    let from = words.len().min(SHORT_WORDS) * 8;
    Some(from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?)
}

/// How many words of eight bytes are looked at before the rest is searched.
const SHORT_WORDS: usize = 4;

/// Returns the highest bit of each of eight bytes that equal `byte`, up to the first of them; those behind it may have
/// it as well.
const fn equal_bytes(word: u64, byte: u8) -> u64 {
    const ONE: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let differing = word ^ u64::from_le_bytes([byte; 8]);
    differing.wrapping_sub(ONE) & !differing & HIGH
}

/// Extends each edit of a part of a string to the whole string.
pub(crate) fn whole_strings(json: &[u8], edits: Vec<Edit>, marker: &Marker) -> Vec<Edit> {
    let Ok(text) = std::str::from_utf8(json) else {
        return edits;
    };
    let json = JsonText(text);
    let mut at = 0;
    let mut widened: Vec<Edit> = Vec::with_capacity(edits.len());
    for mut edit in edits {
        // The last string that begins before the edit; edits are settled, so places ascend.
        let around = loop {
            let next = memchr::memchr(b'"', text.as_bytes().get(at..).unwrap_or_default());
            let Some(open) = next.map(|next| at + next) else {
                break None;
            };
            if open >= edit.place.start {
                break None;
            }
            let Some(end) = json.string(open) else {
                break None;
            };
            if end > edit.place.start {
                break Some(open + 1..end - 1);
            }
            at = end;
        };
        if let Some(place) = around {
            let secret = text.as_bytes().get(place.clone()).unwrap_or_default();
            edit.with = marker.word(secret).into_bytes();
            edit.hint = Hint::of(secret);
            edit.place = place;
        }
        if widened.last().is_none_or(|last| last.place != edit.place) {
            widened.push(edit);
        }
    }
    widened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_are_found_as_in_each_byte_by_itself() {
        for other in [b' ', b'!', b'#', b'[', b']', 0x22 ^ 0x80, 0x5c ^ 0x80, 0] {
            for len in 0..80 {
                for at in 0..len {
                    for (first, second) in [(b'"', b'\\'), (b'\\', b'"'), (b'"', other)] {
                        let mut text = vec![other; len];
                        text[at] = first;
                        if let Some(next) = text.get_mut(at + 1) {
                            *next = second;
                        }
                        assert_eq!(quote_or_escape(&text), Some(at), "{text:?}");
                    }
                }
                assert_eq!(quote_or_escape(&vec![other; len]), None);
            }
        }
    }
}
