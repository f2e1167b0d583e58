//! Words of a shell that consist of several parts: `'it'\''s'`, `a"b c"d`, `$'x'`.

use super::announced_names::{count, is_blank};
use std::ops::Range;

/// How far before a name its line is searched for an open quote.
const OPEN_BYTES: usize = 600;

/// A word of a shell, with the places of its parts without their quotes.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellWord {
    pub(super) parts: Vec<Range<usize>>,
    pub(super) place: Range<usize>,
    /// Whether a part is quoted with `$`.
    has_dollar: bool,
}

impl ShellWord {
    /// Reads the word that begins at a place and is assigned to the name at another place.
    pub(super) fn read(text: &[u8], at: usize, name: usize) -> Self {
        let mut word = Self {
            place: at..at,
            ..Self::default()
        };
        while word.next_part(text, name) {}
        word
    }

    /// Returns whether the word is more than one bare or quoted part.
    pub(super) fn is_joined(&self) -> bool {
        self.parts.len() > 1 || self.has_dollar
    }

    fn next_part(&mut self, text: &[u8], name: usize) -> bool {
        let at = self.place.end;
        let rest = text.get(at..).unwrap_or_default();
        let (start, quote) = match rest {
            // A quote of the text around the assignment ends the word.
            [quote @ (b'"' | b'\''), ..]
                if self.parts.is_empty() || !is_open(text, name, *quote) =>
            {
                (at + 1, *quote)
            }
            [b'$', quote @ (b'"' | b'\''), ..] if !is_open(text, name, *quote) => {
                self.has_dollar = true;
                (at + 2, *quote)
            }
            [b'\\', b'\'', b'\'', ..] if !self.parts.is_empty() && !is_open(text, name, b'\'') => {
                self.place.end += 2;
                return true;
            }
            _ => {
                let len = count(rest, is_bare);
                let part = rest.get(..len).unwrap_or_default();
                let is_part = part.iter().any(u8::is_ascii_alphanumeric);
                if is_part {
                    self.parts.push(at..at + len);
                    self.place.end = at + len;
                }
                return is_part;
            }
        };
        let Some(len) = closing_in_line(text.get(start..).unwrap_or_default(), quote) else {
            return false;
        };
        self.parts.push(start..start + len);
        self.place.end = start + len + 1;
        true
    }
}

/// Returns the length of the part of a word without quotes; a backslash takes a blank into it.
pub(super) fn word_len(rest: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    let mut len = 0;
    loop {
        len += count(rest.get(len..).unwrap_or_default(), |byte| !ends(byte));
        let rest = rest.get(len..).unwrap_or_default();
        let slashes = count(rest, |byte| byte == b'\\');
        let next = rest.get(slashes..).unwrap_or_default();
        let is_escaped = matches!(next, [b' ', byte, ..] if !byte.is_ascii_whitespace());
        if len == 0 || slashes == 0 || !is_escaped {
            return len;
        }
        len += slashes + 1;
    }
}

/// Returns whether a quote is open before a name in its line, so that the next one closes it.
pub(super) fn is_open(text: &[u8], name: usize, quote: u8) -> bool {
    let before = text
        .get(name.saturating_sub(OPEN_BYTES)..name)
        .unwrap_or_default();
    let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = before.get(line..).unwrap_or_default();
    memchr::memchr_iter(quote, line).count() % 2 == 1
}

/// Finds the quote that closes a part, in the same line; in double quotes a backslash escapes it.
fn closing_in_line(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        match *rest.get(at)? {
            b'\n' => return None,
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// Returns whether a byte belongs to an unquoted part. Signs that separate the fields of other
/// languages do not.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'\\'
                | b'&'
                | b';'
                | b'<'
                | b'>'
                | b'|'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b','
                | b':'
        )
        || !byte.is_ascii()
}

/// Finds the text in backquotes at the beginning: one word, as a command has several.
pub(super) fn backquoted(rest: &[u8]) -> Option<Range<usize>> {
    let inner = rest.strip_prefix(b"`")?;
    let len = count(inner, |byte| {
        byte != b'`' && !is_blank(byte) && !byte.is_ascii_control()
    });
    (len > 0 && inner.get(len) == Some(&b'`')).then_some(1..1 + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> String {
        let at = text.find('=').map_or(0, |at| at + 1);
        let word = ShellWord::read(text.as_bytes(), at, at.saturating_sub(1));
        let parts: Vec<&str> = word.parts.iter().map(|part| &text[part.clone()]).collect();
        format!("{} of {}", parts.join("+"), &text[word.place])
    }

    #[test]
    fn a_word_ends_where_a_shell_or_the_text_around_it_ends_it() {
        for (text, expected) in [
            ("p='a''b' c", "a+b of 'a''b'"),
            ("p='it'\\''s' c", "it+s of 'it'\\''s'"),
            ("p=\"a b\"c d", "a b+c of \"a b\"c"),
            ("p=a'b'c;d", "a+b+c of a'b'c"),
            ("p=$'a' b", "a of $'a'"),
            ("p=\"a\\\"b\"c", "a\\\"b+c of \"a\\\"b\"c"),
            ("p='a'.", "a of 'a'"),
            ("p='a',q='b'", "a of 'a'"),
            ("\"p=a\" \"b\"", "a of a"),
            ("<a href='x?p=a' id='b'>", "x?p=a of 'x?p=a'"),
            ("p=a' b", "a of a"),
        ] {
            assert_eq!(word(text), expected, "{text}");
        }
    }
}
