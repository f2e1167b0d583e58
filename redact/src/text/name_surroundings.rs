//! What stands around a name in a text.

use super::announced_names::{
    TextName, begins_escaped_line, begins_line, count, count_back, is_blank, is_name_byte,
};
use super::assignments::ends;
use super::neighbours::NEIGHBOUR_BYTES;
use super::prose::{is_prose_word, is_reference};
use super::shell_words::ShellWord;
use super::yaml_lines::closing;
use std::ops::Range;

/// Where in its line a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamePosition {
    /// Behind other words.
    Inside,
    /// The first word of a line, or of a field in `{…}`.
    First,
    /// The first word of a line whose break is written as an escape: `users:\n  token: x`.
    FirstEscaped,
}

/// A name and the text around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameSurroundings<'t> {
    text: &'t [u8],
    name: &'t TextName,
}

impl<'t> NameSurroundings<'t> {
    pub(super) const fn new(text: &'t [u8], name: &'t TextName) -> Self {
        Self { text, name }
    }

    fn get(self, place: Range<usize>) -> &'t [u8] {
        self.text.get(place).unwrap_or_default()
    }

    fn before(self) -> &'t [u8] {
        self.get(0..self.name.place.start)
    }

    /// Returns where in its line the name is.
    pub(super) fn position(self) -> NamePosition {
        if begins_line(self.text, self.name, false) {
            NamePosition::First
        } else if begins_escaped_line(self.text, self.name) {
            NamePosition::FirstEscaped
        } else {
            NamePosition::Inside
        }
    }

    /// Returns the place of a value with blanks or signs of a shell at a place, in the quotes around its name:
    /// `'--password=a b'`, `'a=b,password=c&d'`.
    pub(super) fn phrase_in_quotes(self, at: usize) -> Option<Range<usize>> {
        let before = self.before();
        let dashes = count_back(before, |byte| byte == b'-');
        let before = before.get(..before.len() - dashes)?;
        let is_item = |byte: u8| is_name_byte(byte) || matches!(byte, b'=' | b',');
        let items = if before.ends_with(b",") {
            count_back(before, is_item)
        } else {
            0
        };
        let (quote, before) = before.get(..before.len() - items)?.split_last()?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let slashes = count_back(before, |byte| byte == b'\\');
        let opens = before.get(..before.len() - slashes)?.last();
        if opens.is_some_and(|byte| !is_blank(*byte) && !b"\r\n,=:([{".contains(byte)) {
            return None;
        }
        let rest = self.text.get(at..)?;
        let line = memchr::memchr(b'\n', rest).map_or(self.text.len(), |len| at + len);
        let end = closing(self.get(0..line), at, *quote, slashes);
        let inner = self.get(at..end);
        let value = inner.get(..fields_begin(inner, self.name.is_flag))?;
        let first = count(value, |byte| !is_blank(byte));
        let is_special = |byte: &u8| *byte != b'\\' && (ends(*byte) || is_blank(*byte));
        // `'password=it'\''s'`
        let word = ShellWord::read(self.text, before.len(), before.len());
        let is_joined = slashes == 0 && value.len() == inner.len() && word.is_joined();
        let is_value = end < line
            && (is_joined || value.iter().any(is_special))
            && !is_prose_word(value.get(..first)?)
            && !is_reference(value);
        let end = word.parts.last().filter(|_| is_joined).map(|last| last.end);
        is_value.then_some(at..end.unwrap_or(at + value.len()))
    }

    /// Returns whether a name is that of a header in a command, `-H 'token: VALUE'`. `authorization` has a scheme before
    /// its secret, and a pattern.
    pub(super) fn is_header(self) -> bool {
        let before = self.before();
        let quotes = count_back(before, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
        let before = before.get(..before.len() - quotes).unwrap_or_default();
        let between = count_back(before, |byte| is_blank(byte) || byte == b'=');
        let flag = before.get(..before.len() - between).unwrap_or_default();
        let is_authorization = |name: &[u8]| {
            let (_, end) = name.split_at(name.len().saturating_sub(13));
            end.eq_ignore_ascii_case(b"authorization")
        };
        quotes > 0
            && (flag.ends_with(b"-H") || flag.ends_with(b"--header"))
            && !is_authorization(self.get(self.name.place.clone()))
    }

    /// Returns whether a flag is the whole text between quotes.
    pub(super) fn is_quoted(self) -> bool {
        let before = self.before();
        let dashes = count_back(before, |byte| byte == b'-');
        let quote = before
            .len()
            .checked_sub(dashes + 1)
            .and_then(|at| before.get(at));
        matches!(quote, Some(b'"' | b'\''))
    }

    /// Returns whether a name is in `[…]` that begins in its line.
    pub(super) fn is_in_brackets(self) -> bool {
        let near = self.name.place.start.saturating_sub(NEIGHBOUR_BYTES);
        let before = self.get(near..self.name.place.start);
        let place = before
            .iter()
            .rposition(|byte| matches!(byte, b'[' | b']' | b'\n'));
        place.and_then(|at| before.get(at)) == Some(&b'[')
    }

    /// Returns whether a name is a field within `{…}`.
    pub(super) fn is_in_flow(self) -> bool {
        let before = self.before();
        let before = before.trim_ascii_end();
        let before = before
            .strip_suffix(b"\"")
            .unwrap_or(before)
            .trim_ascii_end();
        matches!(before.last(), Some(b'{' | b','))
    }
}

/// Returns where the next field or flag begins in a text in quotes that begins with a value: ` --x`, `&x=y`.
fn fields_begin(value: &[u8], is_flag: bool) -> usize {
    if is_flag {
        return memchr::memmem::find(value, b" -").unwrap_or(value.len());
    }
    let begins = |sign: usize| {
        let name = count_back(value.get(..sign).unwrap_or_default(), is_name_byte);
        let start = sign - name;
        let before = value.get(start.checked_sub(1)?)?;
        (name > 0 && b"&;,? \t".contains(before)).then_some(start - 1)
    };
    memchr::memchr_iter(b'=', value)
        .find_map(begins)
        .unwrap_or(value.len())
}
