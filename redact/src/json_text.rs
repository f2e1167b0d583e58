//! Owns what a JSON string says, and where each byte of that stands. Refuses to judge it.

use std::ops::Range;

/// What stands between the quotes of a JSON string.
#[derive(Debug)]
pub(crate) enum Said<'a> {
    /// Without an escape it is what it says.
    Plain(&'a [u8]),
    /// With escapes.
    Escaped {
        /// What it says.
        text: Vec<u8>,
        /// Where each byte began, and where the text ended.
        starts: Vec<usize>,
    },
}

impl<'a> Said<'a> {
    /// Reads what stands between the quotes; escapes that mean nothing are taken as they stand.
    pub(crate) fn read(raw: &'a [u8]) -> Self {
        if memchr::memchr(b'\\', raw).is_none() {
            return Self::Plain(raw);
        }
        let mut text = Vec::with_capacity(raw.len());
        let mut starts = Vec::with_capacity(raw.len() + 1);
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            let (len, said) = if *byte == b'\\' {
                escape(raw, at)
            } else {
                (1, Letter::Byte(*byte))
            };
            match said {
                Letter::Byte(byte) => {
                    text.push(byte);
                    starts.push(at);
                }
                Letter::Char(letter) => {
                    let mut buffer = [0; 4];
                    for byte in letter.encode_utf8(&mut buffer).bytes() {
                        text.push(byte);
                        starts.push(at);
                    }
                }
            }
            at += len;
        }
        starts.push(at);
        Self::Escaped { text, starts }
    }

    /// Gives what it says.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text,
            Self::Escaped { text, .. } => text,
        }
    }

    /// Gives the place of a part. Of a letter that is one escape, the whole.
    pub(crate) fn place(&self, part: &Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Plain(_) => Some(part.clone()),
            Self::Escaped { starts, .. } => {
                let start = *starts.get(part.start)?;
                let mut end = part.end;
                while end < starts.len() - 1 && starts.get(end) == starts.get(end.wrapping_sub(1)) {
                    end += 1;
                }
                Some(start..*starts.get(end)?)
            }
        }
    }
}

enum Letter {
    Byte(u8),
    Char(char),
}

/// Reads the escape that begins here: its length and what it says.
fn escape(raw: &[u8], at: usize) -> (usize, Letter) {
    let said = match raw.get(at + 1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
        Some(b'u') => return unicode(raw, at),
        _ => return (1, Letter::Byte(b'\\')),
    };
    (2, Letter::Byte(said))
}

fn unicode(raw: &[u8], at: usize) -> (usize, Letter) {
    let Some(unit) = hex(raw, at + 2) else {
        return (1, Letter::Byte(b'\\'));
    };
    if let Some(letter) = char::from_u32(unit) {
        return (6, Letter::Char(letter));
    }
    let low = (raw.get(at + 6..at + 8) == Some(b"\\u"))
        .then(|| hex(raw, at + 8))
        .flatten()
        .filter(|low| (0xdc00..0xe000).contains(low));
    match low {
        Some(low) if unit < 0xdc00 => {
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            (12, Letter::Char(letter))
        }
        _ => (6, Letter::Char(char::REPLACEMENT_CHARACTER)),
    }
}

fn hex(raw: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(raw.get(at..at + 4)?).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Spells a text so that it can stand between the quotes of a JSON string. What is no UTF-8 is replaced.
pub(crate) fn spell(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let quoted = serde_json::to_string(&text).unwrap_or_default();
    let inner = quoted.get(1..quoted.len().saturating_sub(1));
    inner.unwrap_or_default().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_map_back_through_escapes() {
        let said = Said::read(br#"a\u0062\n\ud83d\ude00\"c"#);
        assert_eq!(said.text(), "ab\n😀\"c".as_bytes());
        assert_eq!(said.place(&(1..2)), Some(1..7));
        assert_eq!(said.place(&(3..7)), Some(9..21));
        assert_eq!(said.place(&(3..5)), Some(9..21), "no half of an escape");
        assert_eq!(said.place(&(8..9)), Some(23..24));
        let said = Said::read(br"\ud83d\x\u00");
        assert_eq!(said.text(), "\u{fffd}\\x\\u00".as_bytes());
    }

    proptest! {
        #[test]
        fn says_what_serde_says(text in any::<String>()) {
            let spelt = spell(text.as_bytes());
            let said = Said::read(&spelt);
            prop_assert_eq!(said.text(), text.as_bytes());
            prop_assert_eq!(said.place(&(0..text.len())), Some(0..spelt.len()));
        }
    }
}
