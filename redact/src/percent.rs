//! Owns percent encoding: what a text says once it is decoded, and where each byte of that stood.
//! Refuses to know what is in it.

use std::ops::Range;

/// A decoded text, with the place of each of its bytes in the text that it comes from.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// What the text says.
    pub(crate) text: Vec<u8>,
    /// Where each byte began, and where the text ended.
    starts: Vec<usize>,
}

impl Decoded {
    /// Gives the place of a part.
    pub(crate) fn place(&self, part: &Range<usize>) -> Option<Range<usize>> {
        Some(*self.starts.get(part.start)?..*self.starts.get(part.end)?)
    }
}

/// Decodes a text; `None` if nothing in it is encoded.
pub(crate) fn decode(text: &[u8]) -> Option<Decoded> {
    memchr::memchr(b'%', text)?;
    let mut decoded = Decoded {
        text: Vec::with_capacity(text.len()),
        starts: Vec::with_capacity(text.len() + 1),
    };
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        decoded.starts.push(at);
        let hex = (*byte == b'%').then(|| Some((digit(text, at + 1)?, digit(text, at + 2)?)));
        if let Some(Some((high, low))) = hex {
            decoded.text.push(high << 4 | low);
            at += 3;
        } else {
            decoded.text.push(*byte);
            at += 1;
        }
    }
    decoded.starts.push(at);
    (decoded.text.len() < text.len()).then_some(decoded)
}

fn digit(text: &[u8], at: usize) -> Option<u8> {
    let digit = char::from(*text.get(at)?).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// Encodes what a URL gives a meaning.
pub(crate) fn encode(text: &[u8]) -> Vec<u8> {
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

    #[test]
    fn each_byte_knows_where_it_stood() {
        let decoded = decode(b"a%3Ab%zz%2").expect("something encoded");
        assert_eq!(decoded.text, b"a:b%zz%2");
        assert_eq!(decoded.place(&(1..2)), Some(1..4));
        assert_eq!(decoded.place(&(0..8)), Some(0..10));
        assert_eq!(decoded.place(&(0..9)), None);
        assert!(decode(b"100 %").is_none() && decode(b"plain").is_none());
        assert_eq!(encode(b"a b+/=~"), b"a%20b%2B%2F%3D~");
    }
}
