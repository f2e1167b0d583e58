//! Texts decoded from JSON strings and from percent encoding, with the place of each decoded byte.
//!
//! Invariant: a place in the decoded text maps to whole escapes of the encoded one, so an edit
//! never leaves half an escape. Unknown escapes are kept unchanged: the input is untrusted and is
//! never refused.

use crate::base64;
use std::ops::Range;

/// A text that another one encodes.
#[derive(Debug)]
pub struct Decoding<'t> {
    /// The encoding: `JSON`, `percent` or `base64`.
    pub form: &'static str,
    decoded: DecodedText<'t>,
    /// The place of base64, whose parts have no place of their own.
    whole: Option<Range<usize>>,
}

impl<'t> Decoding<'t> {
    /// Decodes a text as the policy does: the escapes of JSON and of percent encoding in it, and each run of base64, at
    /// every alignment. Texts in the decoded ones are not decoded.
    pub fn all_of(text: &'t [u8]) -> Vec<Self> {
        let json = Some(DecodedText::from_json(text));
        let json = json.filter(|decoded| matches!(decoded, DecodedText::Escaped { .. }));
        let escaped = [("JSON", json), ("percent", DecodedText::from_percent(text))];
        let mut all: Vec<Self> = escaped
            .into_iter()
            .filter_map(|(form, decoded)| {
                Some(Self {
                    form,
                    decoded: decoded?,
                    whole: None,
                })
            })
            .collect();
        let mut from = 0;
        for run in base64::runs(text) {
            // A line of a run that was taken together with earlier lines.
            if run.range.start < from {
                continue;
            }
            for (place, digits) in base64::readings(text, &run) {
                from = from.max(place.end);
                let texts = (0..4).filter_map(|skip| base64::decode(digits.get(skip..)?));
                all.extend(texts.map(|text| Self {
                    form: "base64",
                    decoded: DecodedText::Escaped {
                        text,
                        starts: Vec::new(),
                    },
                    whole: Some(place.clone()),
                }));
            }
        }
        all
    }

    /// Returns the decoded text.
    pub fn text(&self) -> &[u8] {
        self.decoded.text()
    }

    /// Returns the place of a decoded part in the encoded text; of base64, the whole run.
    pub fn place(&self, part: &Range<usize>) -> Option<Range<usize>> {
        self.whole.clone().or_else(|| self.decoded.place(part))
    }
}

/// A decoded text, with the place of each byte in the encoded one.
#[derive(Debug)]
pub(crate) enum DecodedText<'a> {
    /// Without an escape, the text is its own encoding.
    Plain(&'a [u8]),
    /// With escapes.
    Escaped {
        /// The decoded text.
        text: Vec<u8>,
        /// The start of each decoded byte in the encoded text, and the end of the encoded text.
        starts: Vec<usize>,
    },
}

impl<'a> DecodedText<'a> {
    /// Decodes the text between the quotes of a JSON string.
    pub(crate) fn from_json(raw: &'a [u8]) -> Self {
        if memchr::memchr(b'\\', raw).is_none() {
            return Self::Plain(raw);
        }
        Self::decode(raw, |at| match raw.get(at) {
            Some(b'\\') => json_escape(raw, at),
            _ => None,
        })
    }

    /// Decodes a percent-encoded text; `None` if it has no escape.
    pub(crate) fn from_percent(raw: &'a [u8]) -> Option<Self> {
        memchr::memchr(b'%', raw)?;
        let digit = |at: usize| char::from(*raw.get(at)?).to_digit(16);
        let decoded = Self::decode(raw, |at| {
            let code = match raw.get(at) {
                Some(b'%') => digit(at + 1)? << 4 | digit(at + 2)?,
                _ => return None,
            };
            Some((3, DecodedPart::Byte(u8::try_from(code).ok()?)))
        });
        (decoded.text().len() < raw.len()).then_some(decoded)
    }

    /// Decodes `\uXXXX` of printable ASCII behind any number of backslashes, as JSON that a text quotes may spell any
    /// letter; `None` if there is none.
    pub(crate) fn from_written_letters(raw: &'a [u8]) -> Option<Self> {
        memchr::memmem::find(raw, b"\\u00")?;
        let decoded = Self::decode(raw, |at| {
            let rest = raw.get(at..).unwrap_or_default();
            let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
            let is_letter = slashes > 0 && rest.get(slashes) == Some(&b'u');
            let unit = is_letter.then(|| hex_unit(rest, slashes + 1)).flatten()?;
            let byte = u8::try_from(unit)
                .ok()
                .filter(|byte| matches!(byte, b' '..=b'~'))?;
            Some((slashes + 5, DecodedPart::Byte(byte)))
        });
        (decoded.text().len() < raw.len()).then_some(decoded)
    }

    /// Decodes line breaks and quotes behind any number of backslashes, as a text in quotes writes them; `None` if it has
    /// no such break.
    pub(crate) fn from_written_lines(raw: &'a [u8]) -> Option<Self> {
        memchr::memmem::find(raw, b"\\n")?;
        Some(Self::decode(raw, |at| {
            let rest = raw.get(at..).unwrap_or_default();
            let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
            let byte = match rest.get(slashes)? {
                _ if slashes == 0 => return None,
                b'n' => b'\n',
                b'r' => b'\r',
                quote @ (b'"' | b'\'') => *quote,
                _ => return None,
            };
            Some((slashes + 1, DecodedPart::Byte(byte)))
        }))
    }

    /// Decodes a text; `escape` returns the length and the meaning of the escape at a place.
    fn decode(raw: &[u8], escape: impl Fn(usize) -> Option<(usize, DecodedPart)>) -> Self {
        let mut text = Vec::with_capacity(raw.len());
        let mut starts = Vec::with_capacity(raw.len() + 1);
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            let (len, part) = escape(at).unwrap_or((1, DecodedPart::Byte(*byte)));
            match part {
                DecodedPart::Byte(byte) => text.push(byte),
                DecodedPart::Char(letter) => {
                    let mut buffer = [0; 4];
                    text.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
                }
            }
            starts.resize(text.len(), at);
            at += len;
        }
        starts.push(at);
        Self::Escaped { text, starts }
    }

    /// Returns the decoded text.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text,
            Self::Escaped { text, .. } => text,
        }
    }

    /// Returns the place of a decoded part in the encoded text. A part of a character maps to the whole escape.
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

/// The meaning of an escape.
enum DecodedPart {
    Byte(u8),
    Char(char),
}

/// Reads the JSON escape at a backslash: its length and its meaning.
fn json_escape(raw: &[u8], at: usize) -> Option<(usize, DecodedPart)> {
    let byte = match raw.get(at + 1)? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'u' => {
            let (len, letter) = utf16_escape(raw, at)?;
            return Some((len, DecodedPart::Char(letter)));
        }
        _ => return None,
    };
    Some((2, DecodedPart::Byte(byte)))
}

/// Reads `\uXXXX`, or a surrogate pair of two. A lone surrogate becomes a replacement character.
fn utf16_escape(raw: &[u8], at: usize) -> Option<(usize, char)> {
    let unit = hex_unit(raw, at + 2)?;
    let low = (raw.get(at + 6..at + 8) == Some(b"\\u"))
        .then(|| hex_unit(raw, at + 8))
        .flatten();
    let mut units = std::iter::once(unit).chain(low);
    let first = char::decode_utf16(&mut units).next()?;
    Some(match first {
        Ok(letter) => (if letter.len_utf16() == 2 { 12 } else { 6 }, letter),
        Err(_unpaired) => (6, char::REPLACEMENT_CHARACTER),
    })
}

fn hex_unit(raw: &[u8], at: usize) -> Option<u16> {
    let digits = raw.get(at..at + 4)?;
    // `from_str_radix` takes a sign as well.
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Encodes a text as the content of a JSON string. Bytes that are not UTF-8 are replaced.
pub(crate) fn to_json(text: &[u8]) -> Vec<u8> {
    let quoted = serde_json::Value::from(String::from_utf8_lossy(text)).to_string();
    let inner = quoted.get(1..quoted.len().saturating_sub(1));
    inner.unwrap_or_default().as_bytes().to_vec()
}

/// Percent-encodes every byte with a meaning in a URL.
pub(crate) fn to_percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(*byte);
        } else {
            out.extend(format!("%{byte:02X}").into_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_map_back_through_escapes() {
        let decoded = DecodedText::from_json(br#"a\u0062\n\ud83d\ude00\"c"#);
        assert_eq!(decoded.text(), "ab\n😀\"c".as_bytes());
        assert_eq!(decoded.place(&(1..2)), Some(1..7));
        assert_eq!(decoded.place(&(3..7)), Some(9..21));
        assert_eq!(decoded.place(&(3..5)), Some(9..21), "no half of an escape");
        assert_eq!(decoded.place(&(8..9)), Some(23..24));
        let decoded = DecodedText::from_json(br"\ud83d\x\u00");
        assert_eq!(decoded.text(), "\u{fffd}\\x\\u00".as_bytes());
        let decoded = DecodedText::from_json(br"\ud83d\ud83d\ude00\udc00\u+123");
        assert_eq!(decoded.text(), "\u{fffd}😀\u{fffd}\\u+123".as_bytes());
    }

    #[test]
    fn each_percent_encoded_byte_has_its_place() {
        let decoded = DecodedText::from_percent(b"a%3Ab%zz%2").expect("something encoded");
        assert_eq!(decoded.text(), b"a:b%zz%2");
        assert_eq!(decoded.place(&(1..2)), Some(1..4));
        assert_eq!(decoded.place(&(0..8)), Some(0..10));
        assert_eq!(decoded.place(&(0..9)), None);
        for plain in [&b"100 %"[..], b"plain"] {
            assert!(DecodedText::from_percent(plain).is_none());
        }
        assert_eq!(to_percent(b"a b+/=~"), b"a%20b%2B%2F%3D~");
    }

    proptest! {
        #[test]
        fn decodes_as_serde_does(text in any::<String>()) {
            let encoded = to_json(text.as_bytes());
            let decoded = DecodedText::from_json(&encoded);
            prop_assert_eq!(decoded.text(), text.as_bytes());
            prop_assert_eq!(decoded.place(&(0..text.len())), Some(0..encoded.len()));
        }
    }
}
