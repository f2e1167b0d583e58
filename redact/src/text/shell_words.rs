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
        let mut is_escaped = rest.first() == Some(&b'"');
        let (start, quote) = match rest {
            // A quote of the text around the assignment ends the word.
            [quote @ (b'"' | b'\''), ..]
                if self.parts.is_empty() || !is_open(text, name, *quote) =>
            {
                (at + 1, *quote)
            }
            [b'$', quote @ (b'"' | b'\''), ..] if !is_open(text, name, *quote) => {
                self.has_dollar = true;
                is_escaped = true;
                (at + 2, *quote)
            }
            [b'\\', b'\'', b'\'', ..] if !self.parts.is_empty() && !is_open(text, name, b'\'') => {
                self.place.end += 2;
                return true;
            }
            _ => {
                let len = word_len(text, at, |byte| !is_bare(byte));
                let part = rest.get(..len).unwrap_or_default();
                let is_part = part.iter().any(u8::is_ascii_alphanumeric);
                if is_part {
                    self.parts.push(at..at + len);
                    self.place.end = at + len;
                }
                return is_part;
            }
        };
        let inner = text.get(start..).unwrap_or_default();
        let Some(len) = closing_in_line(inner, quote, is_escaped) else {
            return false;
        };
        self.parts.push(start..start + len);
        self.place.end = start + len + 1;
        true
    }
}

/// Returns the length of the part of a word without quotes; a backslash takes a blank or a sign into it.
pub(super) fn word_len(text: &[u8], at: usize, ends: impl Fn(u8) -> bool) -> usize {
    let mut end = at;
    loop {
        end += count(text.get(end..).unwrap_or_default(), |byte| !ends(byte));
        let len = escaped_len(text, end, end == at);
        if len == 0 {
            return end - at;
        }
        end += len;
    }
}

/// Returns the length of the character of a word behind backslashes, with them; 0 if there is none: a written line
/// break, and a quote of the text around the word.
fn escaped_len(text: &[u8], at: usize, is_first: bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let slashes = count(rest, |byte| byte == b'\\');
    let [next, after @ ..] = rest.get(slashes..).unwrap_or_default() else {
        return 0;
    };
    let is_part = match *next {
        sign if is_first => b"$!&;#*?|()<>~^%@".contains(&sign),
        b' ' | b'\t' => after
            .first()
            .is_some_and(|byte| !byte.is_ascii_whitespace()),
        quote @ (b'"' | b'\'') => {
            after.first().is_some_and(u8::is_ascii_alphanumeric) && !is_open(text, at, quote)
        }
        // Escapes of other languages.
        b'n' | b'r' | b't' | b'u' | b'x' => false,
        byte => byte.is_ascii_graphic() || !byte.is_ascii(),
    };
    if slashes > 0 && is_part {
        slashes + 1
    } else {
        0
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

/// Finds the quote that closes a part, in the same line. In double quotes, and behind `$`, a backslash escapes it.
fn closing_in_line(rest: &[u8], quote: u8, is_escaped: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        match *rest.get(at)? {
            b'\n' => return None,
            b'\\' if is_escaped => at += 2,
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
    fn a_backslash_takes_the_next_sign_into_a_word() {
        for (text, expected) in [
            ("a\\$b c", "a\\$b"),
            ("a\\\\$b c", "a\\\\$b"),
            ("a\\&b\\;c\\!d e", "a\\&b\\;c\\!d"),
            ("a\\\"b c", "a\\\"b"),
            ("a\\ b c", "a\\ b"),
            ("a\\Tb c", "a\\Tb"),
            ("\\$ab c", "\\$ab"),
            ("a\\nb", "a"),
            ("a\\", "a"),
            ("a\\\" b", "a"),
            ("\\\"a", ""),
            ("\\ a", ""),
        ] {
            let is_end = |byte| matches!(byte, b' ' | b'"' | b'\\' | b'&' | b';');
            assert_eq!(
                &text[..word_len(text.as_bytes(), 0, is_end)],
                expected,
                "{text}"
            );
        }
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
            ("p=$'a\\'b' c", "a\\'b of $'a\\'b'"),
            ("p=a'$'b c", "a+$+b of a'$'b"),
            ("p=a\\$b'c'd e", "a\\$b+c+d of a\\$b'c'd"),
        ] {
            assert_eq!(word(text), expected, "{text}");
        }
    }
}
