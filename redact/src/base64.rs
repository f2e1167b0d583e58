//! Base64 in untrusted texts: the places of its runs, and their bytes.
//!
//! The decoder is more tolerant than that of the `base64` crate, because a secret may be in broken
//! base64: it accepts both alphabets in one text and any padding, and drops an incomplete last
//! group.

use crate::forms;
use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use std::ops::Range;

/// A shorter run is not searched: 16 characters are 12 bytes.
const RUN_LEAST: usize = 16;

/// A run that may be a line of a longer one.
const LINE_LEAST: usize = 16;

/// The classes of digits; 0 is no digit.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const OTHER: u8 = 4;

const CLASS: [u8; 256] = table(
    0,
    [
        (b'a', b'z', LOWER, 0),
        (b'A', b'Z', UPPER, 0),
        (b'0', b'9', OTHER, 0),
        (b'+', b'+', OTHER, 0),
        (b'/', b'/', OTHER, 0),
        (b'-', b'-', OTHER, 0),
        (b'_', b'_', OTHER, 0),
    ],
);

/// Makes a table of all bytes from ranges of digits: the first and the last of each, the value of the first, and by
/// how much each next one is greater.
const fn table(none: u8, ranges: [(u8, u8, u8, u8); 7]) -> [u8; 256] {
    let mut table = [none; 256];
    let mut at = 0;
    while at < ranges.len() {
        #[expect(
            clippy::indexing_slicing,
            clippy::as_conversions,
            reason = "both are below the lengths, and constants cannot call `from`"
        )]
        {
            let (first, last, value, step) = ranges[at];
            let mut digit = first;
            while digit <= last {
                table[digit as usize] = value + (digit - first) * step;
                digit += 1;
            }
        }
        at += 1;
    }
    table
}

fn class(byte: u8) -> u8 {
    CLASS.get(usize::from(byte)).copied().unwrap_or(0)
}

/// A run of base64 in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base64Run {
    /// The place, padding included.
    pub(crate) range: Range<usize>,
    /// Whether the run continues on the next line.
    pub(crate) goes_on: bool,
}

/// Finds the runs of a text that may be base64: long enough, and with letters of both cases, which
/// nearly all base64 has and most names do not have.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = Base64Run> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let mut seen = 0;
            while let Some(class) = text
                .get(at)
                .map(|byte| class(*byte))
                .filter(|one| *one != 0)
            {
                seen |= class;
                at += 1;
            }
            let end = at;
            at += 1;
            let start = start + escape(text, start);
            if end >= start + RUN_LEAST && seen & (LOWER | UPPER) == LOWER | UPPER {
                let mut padded = end;
                while padded < end + 2 && text.get(padded) == Some(&b'=') {
                    padded += 1;
                }
                at = padded.max(at);
                let rest = text.get(end..).unwrap_or_default();
                return Some(Base64Run {
                    range: start..padded,
                    goes_on: line_break(rest).is_some(),
                });
            }
        }
        None
    })
}

/// Returns how many of the digits at a place belong to an escape such as `\u003c`. The digit of `
/// ` may as well follow a backslash of its own.
fn escape(text: &[u8], start: usize) -> usize {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    match text.get(start..start + 5) {
        Some([b'u', hex @ ..])
            if before == Some(&b'\\') && hex.iter().all(u8::is_ascii_hexdigit) =>
        {
            5
        }
        _ => 0,
    }
}

/// Returns the length of a break between two lines of base64, plain or as an escape.
fn line_break(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\n' | b'\r' => at += 1,
            b'\\' => {
                let mut letter = at;
                while text.get(letter) == Some(&b'\\') {
                    letter += 1;
                }
                match text.get(letter)? {
                    b'n' | b'r' => at = letter + 1,
                    _ => return None,
                }
            }
            // The indentation of a block in YAML.
            b' ' | b'\t' if at > 0 => at += 1,
            byte if at > 0 && class(*byte) != 0 => return Some(at),
            _ => return None,
        }
    }
}

/// Joins a run with its further lines: the place and the digits. Padding ends a run, and a name or a word that begins
/// the next line does not continue it.
fn whole(text: &[u8], run: &Base64Run) -> (Range<usize>, Vec<u8>) {
    let mut digits = text.get(run.range.clone()).unwrap_or_default().to_vec();
    let mut end = run.range.end;
    let mut line = run.range.len();
    while run.goes_on
        && line >= LINE_LEAST
        && let Some(skip) = line_break(text.get(end..).unwrap_or_default())
    {
        let rest = text.get(end + skip..).unwrap_or_default();
        line = rest.iter().take_while(|byte| class(**byte) != 0).count();
        let (next, after) = rest.split_at(line);
        if begins_other_line(next, after, digits.len()) {
            break;
        }
        digits.extend(next);
        end += skip + line;
    }
    while text.get(end) == Some(&b'=') {
        end += 1;
    }
    (run.range.start..end, digits)
}

/// Returns what a run may be: together with its further lines, and alone, as the next line may be another text.
pub(crate) fn readings(text: &[u8], run: &Base64Run) -> Vec<(Range<usize>, Vec<u8>)> {
    let (place, digits) = whole(text, run);
    let is_joined = run.goes_on && place.end > run.range.end;
    let alone = is_joined.then(|| {
        let digits = text.get(run.range.clone()).unwrap_or_default();
        (run.range.clone(), digits.to_vec())
    });
    [(place, digits)].into_iter().chain(alone).collect()
}

/// Returns whether digits that begin a line below base64 are the first word of another text. A last line of base64 that
/// is a plain word, without padding, would be taken for one; it hides a few bytes only.
fn begins_other_line(digits: &[u8], after: &[u8], before: usize) -> bool {
    if digits.len() >= LINE_LEAST && line_break(after).is_some() {
        return false;
    }
    let padding = after.iter().take_while(|byte| **byte == b'=').count();
    let next = after.get(padding);
    if padding > 0 && next.is_some_and(u8::is_ascii_alphanumeric) {
        return true;
    }
    let is_end =
        next.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`' | b'<'));
    // Encoders write whole groups of four.
    let is_complete =
        padding > 0 || !before.is_multiple_of(4) || (before + digits.len()).is_multiple_of(4);
    let is_part =
        |part: &str| forms::is_atom(part.trim_end_matches(|one: char| one.is_ascii_digit()));
    (!is_end || !is_complete)
        && std::str::from_utf8(digits)
            .is_ok_and(|text| text.split(['-', '_', '/', '+']).all(is_part))
}

/// No digit.
const NONE: u8 = 0xff;

/// The value of each digit of either alphabet.
const VALUES: [u8; 256] = table(
    NONE,
    [
        (b'A', b'Z', 0, 1),
        (b'a', b'z', 26, 1),
        (b'0', b'9', 52, 1),
        (b'+', b'+', 62, 0),
        (b'-', b'-', 62, 0),
        (b'/', b'/', 63, 0),
        (b'_', b'_', 63, 0),
    ],
);

/// Returns the bytes of four digits, unless one of them is none.
fn group(digits: [u8; 4]) -> Option<[u8; 3]> {
    let values = digits.map(|byte| VALUES.get(usize::from(byte)).copied().unwrap_or(NONE));
    let [a, b, c, d] = values;
    if a | b | c | d == NONE {
        return None;
    }
    let [_, bytes @ ..] =
        (u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d)).to_be_bytes();
    Some(bytes)
}

/// Decodes digits of either alphabet; padding and an incomplete last group are dropped. `None` if
/// the text contains any other byte.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().position(|byte| *byte == b'=');
    let (digits, padding) = text.split_at(end.unwrap_or(text.len()));
    if padding.iter().any(|byte| *byte != b'=') {
        return None;
    }
    let (groups, rest) = digits.as_chunks::<4>();
    let mut out = vec![0; groups.len() * 3];
    for (bytes, digits) in out.as_chunks_mut::<3>().0.iter_mut().zip(groups) {
        *bytes = group(*digits)?;
    }
    // Two or three digits have one or two whole bytes.
    let mut last = [b'A'; 4];
    for (place, digit) in last.iter_mut().zip(rest) {
        *place = *digit;
    }
    let whole = rest.len().saturating_sub(1);
    out.extend(group(last)?.iter().take(whole));
    Some(out)
}

/// Encodes in the standard alphabet, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Encodes with the alphabet and the padding of another text.
pub(crate) fn encode_like(bytes: &[u8], like: &[u8]) -> String {
    let mut text = encode(bytes);
    if like.iter().any(|byte| matches!(byte, b'-' | b'_')) {
        text = text.replace('+', "-").replace('/', "_");
    }
    if !like.ends_with(b"=") && !like.len().is_multiple_of(4) {
        text.truncate(text.trim_end_matches('=').len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn encodes_and_decodes() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(encode(plain.as_bytes()), encoded);
            let bare = encoded.trim_end_matches('=');
            for text in [encoded, bare] {
                assert_eq!(decode(text.as_bytes()).as_deref(), Some(plain.as_bytes()));
            }
        }
        assert_eq!(decode(b"-_-_"), decode(b"+/+/"));
        assert_eq!(decode(b"Zm9v!"), None);
        assert_eq!(decode(b"Zg==x"), None);
    }

    #[test]
    fn finds_runs_and_joins_lines() {
        let text =
            b"a cGFzc3dvcmQ6IGh1bnRlcjI= b lower-case-name-of-an-object 0123456789abcdef0123";
        let found: Vec<Base64Run> = runs(text).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].range.clone()], b"cGFzc3dvcmQ6IGh1bnRlcjI=");
        assert!(!found[0].goes_on);
        for text in [
            &b"cGFzc3dvcmQ6IGh1\n  bnRlcjI= x"[..],
            b"cGFzc3dvcmQ6IGh1\\nbnRlcjI= x",
            b"cGFzc3dvcmQ6IGh1\\\\r\\\\nbnRlcjI= x",
        ] {
            let run = runs(text).next().expect("a run");
            assert!(run.goes_on);
            let (range, digits) = whole(text, &run);
            assert_eq!(range.end, text.len() - 2);
            assert_eq!(decode(&digits).as_deref(), Some(&b"password: hunter2"[..]));
        }
    }

    #[test]
    fn another_text_on_the_next_line_is_not_joined() {
        for (behind, is_joined) in [
            ("=\nother: x", false),
            ("=\nbnRlcjI=", false),
            ("=\\nother: x", false),
            ("\nother: x", false),
            ("\nnext line", false),
            ("\n  DEBUG=1", false),
            ("\nxQ9=1", false),
            ("\nDB_HOST2: x", false),
            ("\nls\n", false),
            ("\nlist\n", true),
            ("\nbnRlcjI: x", true),
            ("\nword=\n", true),
            ("\nword== x", false),
        ] {
            let text = format!("cGFzc3dvcmQ6IGh1{behind}");
            let run = runs(text.as_bytes()).next().expect("a run");
            let (place, digits) = whole(text.as_bytes(), &run);
            assert_eq!(place.end > run.range.end, is_joined, "{text}");
            assert!(decode(&digits).is_some(), "{text}");
            let readings = readings(text.as_bytes(), &run);
            assert_eq!(readings.len(), 1 + usize::from(is_joined), "{text}");
        }
    }

    /// Decodes digit by digit.
    fn oracle(text: &[u8]) -> Option<Vec<u8>> {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let first = text.split(|byte| *byte == b'=').next()?;
        let bits = first.iter().map(|byte| {
            let digit = match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            };
            let value = alphabet.iter().position(|known| *known == digit)?;
            Some(format!("{value:06b}"))
        });
        let bits: String = bits.collect::<Option<_>>()?;
        let padding = &text[first.len()..];
        let whole = bits.len() / 8;
        let bytes = (0..whole).map(|at| u8::from_str_radix(&bits[at * 8..at * 8 + 8], 2).unwrap());
        padding
            .iter()
            .all(|byte| *byte == b'=')
            .then(|| bytes.collect())
    }

    proptest! {
        #[test]
        fn any_text_is_decoded_as_digit_by_digit(
            text in "[A-Za-z0-9+/_-]{0,20}={0,3}[A-Z=!]{0,1}",
            other: Vec<u8>,
        ) {
            prop_assert_eq!(decode(text.as_bytes()), oracle(text.as_bytes()));
            prop_assert_eq!(decode(&other), oracle(&other));
        }

        #[test]
        fn what_is_encoded_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(decode(encode(&bytes).as_bytes()), Some(bytes));
        }
    }
}
