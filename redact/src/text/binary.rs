//! Bytes that were encoded in base64 and are not text: compressed data and binary private keys.
//!
//! A format with a signature is recognized by it and not decompressed. Deflate has no signature,
//! and the two bytes of zlib occur by chance: such bytes are inflated as far as possible and
//! searched.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The largest inflated size: bytes that become longer count as a secret.
const INFLATED_MOST: usize = 1024 * 1024;

/// The smallest size that is inflated: a shorter secret is found by its form.
const DEFLATED_LEAST: usize = 8;

/// Signatures of compressed formats.
const COMPRESSED: [&[u8]; 17] = [
    b"\x1f\x8b\x08",           // gzip
    b"\x1f\x9d",               // compress
    b"BZh",                    // bzip2; what follows is looked at below
    b"\xfd7zXZ\x00",           // xz
    b"\x5d\x00\x00",           // lzma; what follows is looked at below
    b"LZIP\x01",               // lzip
    b"\x28\xb5\x2f\xfd",       // zstd
    b"\x50\x2a\x4d\x18",       // zstd and LZ4, a skippable frame
    b"\x04\x22\x4d\x18",       // LZ4 frame
    b"\x02\x21\x4c\x18",       // LZ4 frame, legacy
    b"\xff\x06\x00\x00sNaPpY", // snappy, framed
    b"PK\x03\x04",             // zip
    b"PK\x05\x06",             // zip, empty
    b"PK\x07\x08",             // zip, in parts
    b"7z\xbc\xaf\x27\x1c",     // 7z
    b"Rar!\x1a\x07",           // rar
    b"\xce\xb2\xcf\x81",       // brotli, framed; bare brotli has no signature
];

/// Returns the rule by which bytes must be hidden whole. `holds` decides whether an inflated text
/// contains a secret.
pub(crate) fn secret(bytes: &[u8], holds: impl Fn(&[u8]) -> bool) -> Option<&'static str> {
    if is_compressed(bytes) {
        return Some("compressed");
    }
    if is_private_key(bytes) {
        return Some("private-key");
    }
    let zlib = match bytes {
        [method, flags, rest @ ..]
            if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
        {
            Some(rest)
        }
        _ => None,
    };
    let mut streams = zlib.into_iter().chain([bytes]);
    streams
        .any(|stream| match inflate(stream) {
            Inflated::Text(text) => holds(&text),
            Inflated::TooLong => true,
            Inflated::Nothing => false,
        })
        .then_some("compressed")
}

fn is_compressed(bytes: &[u8]) -> bool {
    COMPRESSED.iter().any(|magic| bytes.starts_with(magic))
        && match bytes {
            [b'B', b'Z', b'h', level, rest @ ..] => {
                level.is_ascii_digit()
                    && (rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17rE8P\x90"))
            }
            // Properties, the size of the dictionary, and the length, or eight bytes of 255 for an
            // unknown one.
            [0x5d, 0, 0, rest @ ..] => {
                rest.get(1) == Some(&0)
                    && (rest.get(2..10) == Some(&[0xff; 8]) || rest.get(6..10) == Some(&[0; 4]))
            }
            [0x1f, 0x9d, bits, ..] => (0x89..=0x90).contains(bits),
            [0x1f, 0x9d] => false,
            _ => true,
        }
}

/// Returns whether bytes are a private key in DER (PKCS #1, PKCS #8, SEC 1), a PKCS #12 container or
/// OpenSSH's own form.
fn is_private_key(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"openssh-key-v1\0") {
        return true;
    }
    let ([0x30, 0x82, _, _, body @ ..] | [0x30, 0x81, _, body @ ..] | [0x30, 0..=0x7f, body @ ..]) =
        bytes
    else {
        return false;
    };
    matches!(
        body,
        [2, 1, 0, 2 | 0x30, _, ..] | [2, 1, 1, 4 | 0x30, _, ..] | [2, 1, 3, 0x30, _, ..]
    )
}

/// The inflated content of bytes.
enum Inflated {
    Nothing,
    Text(Vec<u8>),
    TooLong,
}

/// Inflates as far as possible: cut bytes are searched up to the cut.
fn inflate(bytes: &[u8]) -> Inflated {
    if bytes.len() < DEFLATED_LEAST || !may_inflate(bytes) {
        return Inflated::Nothing;
    }
    match decompress_to_vec_with_limit(bytes, INFLATED_MOST) {
        Ok(text) => Inflated::Text(text),
        Err(error) if error.output.len() >= INFLATED_MOST => Inflated::TooLong,
        Err(error) => Inflated::Text(error.output),
    }
}

/// Recognizes bytes that begin as deflate does. This is ten times cheaper than inflating, which
/// most runs of letters in an object would otherwise need. The references are to RFC 1951.
fn may_inflate(bytes: &[u8]) -> bool {
    let mut bits = Bits { bytes, at: 1 };
    match bits.number(2) {
        // 3.2.4: a length, and its complement.
        Some(0) => matches!(
            bytes,
            [_, low, high, turned_low, turned_high, ..]
                if *low == !turned_low && *high == !turned_high
        ),
        Some(1) => may_be_fixed(&mut bits),
        Some(2) => is_dynamic(&mut bits).unwrap_or(false),
        _ => false,
    }
}

/// Reads a block of fixed codes (3.2.6) until it ends, violates a rule, or enough was read.
fn may_be_fixed(bits: &mut Bits<'_>) -> bool {
    const FAR_ENOUGH: u32 = 1024;
    let mut written = 0;
    while written < FAR_ENOUGH {
        match bits.fixed_symbol(written) {
            Some(Symbol::Bytes(count)) => written += count,
            Some(Symbol::Invalid) => return false,
            Some(Symbol::End) | None => return true,
        }
    }
    true
}

/// Returns whether the code of the lengths (3.2.7) is complete, as every compressor writes it.
fn is_dynamic(bits: &mut Bits<'_>) -> Option<bool> {
    let (literals, distances) = (bits.number(5)?, bits.number(5)?);
    let lengths = bits.number(4)? + 4;
    let mut used = 0;
    for _ in 0..lengths {
        let length = bits.number(3)?;
        used += if length == 0 { 0 } else { 128 >> length };
    }
    Some(literals < 30 && distances < 30 && used == 128)
}

enum Symbol {
    Bytes(u32),
    End,
    Invalid,
}

/// A bit reader, the lowest bit of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> Option<u32> {
        let byte = *self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Some(u32::from(bit))
    }

    /// Reads a number, the lowest bit first.
    fn number(&mut self, count: u32) -> Option<u32> {
        let mut number = 0;
        for place in 0..count {
            number |= self.bit()? << place;
        }
        Some(number)
    }

    /// Reads a part of a code, the highest bit first.
    fn code(&mut self, count: u32, before: u32) -> Option<u32> {
        (0..count).try_fold(before, |code, _| Some(code << 1 | self.bit()?))
    }

    /// Reads a literal, or a length with its distance, which must lie in what was `written`.
    fn fixed_symbol(&mut self, written: u32) -> Option<Symbol> {
        let seven = self.code(7, 0)?;
        let length = match seven {
            0 => return Some(Symbol::End),
            1..=0b001_0111 => seven + 256,
            _ => {
                let eight = self.code(1, seven)?;
                match eight {
                    0xc0..=0xc7 => eight - 0xc0 + 280,
                    0x30..=0xbf => return Some(Symbol::Bytes(1)),
                    _ => return self.code(1, eight).map(|_| Symbol::Bytes(1)),
                }
            }
        };
        let count = match length {
            257..=264 => length - 254,
            265..=284 => {
                let more = (length - 261) / 4;
                ((4 + (length - 265) % 4) << more) + 3 + self.number(more)?
            }
            285 => 258,
            _ => return Some(Symbol::Invalid),
        };
        let distance = match self.code(5, 0)? {
            code @ 0..=3 => code + 1,
            code @ 4..=29 => {
                let more = code / 2 - 1;
                ((2 + code % 2) << more) + 1 + self.number(more)?
            }
            _ => return Some(Symbol::Invalid),
        };
        Some(if distance > written {
            Symbol::Invalid
        } else {
            Symbol::Bytes(count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn signatures_are_known_and_other_bytes_are_not() {
        for (bytes, rule) in [
            (&b"\x1f\x8b\x08\x00abc"[..], Some("compressed")),
            (b"BZh91AY&SYabc", Some("compressed")),
            (b"BZhXabcdefghi", None),
            (
                b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xffabc",
                Some("compressed"),
            ),
            (b"PK\x03\x04abcdefghi", Some("compressed")),
            (
                b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01",
                Some("private-key"),
            ),
            (b"\x30\x77\x02\x01\x01\x04\x20abcdef", Some("private-key")),
            // A certificate, and a public key.
            (
                b"\x30\x82\x04\xa4\x30\x82\x03\x8c\xa0\x03\x02\x01\x02",
                None,
            ),
            (b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48", None),
            (b"a text that is none of these", None),
        ] {
            assert_eq!(secret(bytes, |_| false), rule, "{bytes:?}");
        }
    }

    #[test]
    fn deflated_texts_are_searched_also_when_they_were_cut() {
        let text = b"one line, then password: hunter2, then another line".repeat(9);
        let raw = miniz_oxide::deflate::compress_to_vec(&text, 6);
        let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&text, 6);
        let holds = |text: &[u8]| memchr::memmem::find(text, b"hunter2").is_some();
        for bytes in [
            &raw[..],
            &zlib,
            &raw[..raw.len() - 3],
            &zlib[..zlib.len() - 9],
        ] {
            assert_eq!(secret(bytes, holds), Some("compressed"));
            assert_eq!(secret(bytes, |_| false), None);
        }
        let long = miniz_oxide::deflate::compress_to_vec(&vec![0; INFLATED_MOST + 1], 6);
        assert_eq!(secret(&long, |_| false), Some("compressed"));
    }

    proptest! {
        #[test]
        fn what_a_compressor_writes_may_inflate(
            bytes in prop::collection::vec(0_u8..40, 1..3000),
            level in 0_u8..10,
        ) {
            let deflated = miniz_oxide::deflate::compress_to_vec(&bytes, level);
            prop_assert!(may_inflate(&deflated));
        }

        #[test]
        fn what_may_not_inflate_gives_nothing_legible(bytes in prop::collection::vec(any::<u8>(), 8..60)) {
            if let (false, Ok(text)) = (may_inflate(&bytes), decompress_to_vec_with_limit(&bytes, 10_000)) {
                prop_assert!(text.is_empty(), "{:?}", text);
            }
        }
    }
}
