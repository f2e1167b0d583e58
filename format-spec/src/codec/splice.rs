//! The delta between two texts: byte-exact for any bytes, without knowledge of JSON.
//!
//! A delta is a list of hunks: copy N bytes of the old text, skip N bytes, then insert either N bytes of
//! the delta's own text or one text of the blob log. After the last hunk the rest of the old text is copied.
//! Applying a delta never trusts it: each length is checked against the text it takes from, and the result
//! against the longest body, before bytes are copied.
//!
//! Texts are compared in pieces, cut after each comma, brace and bracket; all pieces joined are the text.
//!
//! The first version of an object is a delta against a seed made of its names and uid, which the directory
//! keeps anyway. An object that is like another one is a delta against that object's body with the names
//! replaced. A bad seed costs bytes, never correctness.

use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, varint};
use crate::event::ObjectKeyRef;
use crate::id::BlobId;
use crate::limits::{BLOB_MIN, len64, place32};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// Stores long inserted texts in the blob log by number; may refuse one.
pub(crate) trait Blobs {
    fn intern(&mut self, text: &[u8]) -> Option<BlobId>;
}

/// Appends the delta from `old` to `new`: hunks to `ops`, inserted text to `text`.
pub(crate) fn encode(
    old: &[u8],
    new: &[u8],
    blobs: &mut impl Blobs,
    ops: &mut Vec<u8>,
    text: &mut Vec<u8>,
) {
    let (head, tail) = shared_ends(old, new);
    let middle = |all: &[u8]| head..all.len().saturating_sub(tail);
    let old_middle = old.get(middle(old)).unwrap_or_default();
    let new_middle = new.get(middle(new)).unwrap_or_default();
    if old_middle.is_empty() && new_middle.is_empty() {
        return;
    }
    let (old, new) = (CutText::new(old_middle), CutText::new(new_middle));
    let mut hunks = Hunks {
        blobs,
        ops,
        text,
        copy: head,
        skip: 0,
    };
    let mut old_at = 0;
    let mut write = |before: Range<u32>, after: Range<u32>| {
        let kept = old.bytes(old_at..before.start).len();
        hunks.copy = hunks.copy.saturating_add(kept);
        old_at = before.end;
        hunks.skip = old.bytes(before).len();
        hunks.insert(new.bytes(after));
    };
    if let Some(replaced) = replaced(&old, &new) {
        for run in replaced {
            write(run.clone(), run);
        }
        return;
    }
    let mut input = InternedInput::default();
    input.update_before(old.pieces());
    input.update_after(new.pieces());
    let algorithm = if old.ends.len().max(new.ends.len()) <= MOST_ALIGNED {
        Algorithm::Histogram
    } else {
        Algorithm::Myers
    };
    for hunk in Diff::compute(algorithm, &input).hunks() {
        write(hunk.before, hunk.after);
    }
}

/// The most pieces of texts that are aligned at their rarest pieces, which is faster and gives shorter deltas. The time
/// for that can grow with the square of their number, and the stack with their number.
const MOST_ALIGNED: usize = 2048;

/// Most versions replace few values: then texts have equally many pieces, and at most one in this many differs. To
/// compare them is several times faster than the search for the shortest delta, which would find the same.
const FEW: usize = 4;

/// Returns the runs of pieces in which two texts differ, if they are as many and few.
fn replaced(old: &CutText<'_>, new: &CutText<'_>) -> Option<Vec<Range<u32>>> {
    if old.ends.len() != new.ends.len() {
        return None;
    }
    let most = old.ends.len() / FEW + 1;
    let mut differing = 0usize;
    let mut runs: Vec<Range<u32>> = Vec::new();
    for (at, (old, new)) in (0..).zip(old.pieces().zip(new.pieces())) {
        if old == new {
            continue;
        }
        differing += 1;
        if differing > most {
            return None;
        }
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    Some(runs)
}

/// A text and where its pieces end.
struct CutText<'a> {
    text: &'a [u8],
    ends: Vec<u32>,
}

impl<'a> CutText<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut ends = Vec::with_capacity(text.len() / 16);
        let mut end = 0;
        let (words, rest) = text.as_chunks::<8>();
        for word in words {
            let mut last = last_of_pieces(u64::from_le_bytes(*word));
            while last != 0 {
                ends.push(end + last.trailing_zeros() / 8 + 1);
                last &= last - 1;
            }
            end += 8;
        }
        for byte in rest {
            end += 1;
            if ends_piece(*byte) {
                ends.push(end);
            }
        }
        if ends.last().copied().unwrap_or_default() != end {
            ends.push(end);
        }
        Self { text, ends }
    }

    fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let piece = start..place32(*end);
            start = piece.end;
            self.text.get(piece).unwrap_or_default()
        })
    }

    /// Returns the bytes of some pieces.
    fn bytes(&self, pieces: Range<u32>) -> &'a [u8] {
        let place = |piece: u32| match piece.checked_sub(1) {
            Some(before) => self
                .ends
                .get(place32(before))
                .map_or(0, |end| place32(*end)),
            None => 0,
        };
        let bytes = place(pieces.start)..place(pieces.end);
        self.text.get(bytes).unwrap_or_default()
    }
}

/// Writes hunks.
struct Hunks<'a, B> {
    blobs: &'a mut B,
    ops: &'a mut Vec<u8>,
    text: &'a mut Vec<u8>,
    copy: usize,
    skip: usize,
}

impl<B: Blobs> Hunks<'_, B> {
    /// Writes one run of inserted pieces, long ones by their number in the blob log.
    fn insert(&mut self, inserted: &[u8]) {
        let mut plain = 0;
        let mut at = 0usize;
        for piece in pieces(inserted) {
            let end = at.saturating_add(piece.len());
            if piece.len() >= BLOB_MIN
                && let Some(blob) = self.blobs.intern(piece)
            {
                self.plain(inserted.get(plain..at).unwrap_or_default(), false);
                self.write(u128::from(blob.0) << 1 | 1);
                plain = end;
            }
            at = end;
        }
        self.plain(inserted.get(plain..).unwrap_or_default(), true);
    }

    fn plain(&mut self, bytes: &[u8], last: bool) {
        if !bytes.is_empty() || (last && self.skip > 0) {
            self.text.extend_from_slice(bytes);
            self.write(u128::from(len64(bytes.len())) << 1);
        }
    }

    fn write(&mut self, insert: u128) {
        varint::put_len(self.ops, self.copy);
        varint::put_len(self.ops, self.skip);
        varint::put(self.ops, insert);
        self.copy = 0;
        self.skip = 0;
    }
}

/// Returns the new text from the old one and its delta, at most `max` bytes long.
///
/// `blob` looks a text of the blob log up. All of `text` must be used.
pub(crate) fn apply<E: From<CodecError>>(
    old: &[u8],
    ops: &[u8],
    text: &[u8],
    max: usize,
    blob: impl FnMut(BlobId, &mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut new = Vec::new();
    apply_into(&mut new, old, ops, text, max, blob)?;
    Ok(new)
}

/// Replaces `out` by the new text. See [`apply`].
pub(crate) fn apply_into<E: From<CodecError>>(
    out: &mut Vec<u8>,
    old: &[u8],
    ops: &[u8],
    text: &[u8],
    max: usize,
    mut blob: impl FnMut(BlobId, &mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<(), E> {
    let mut ops = FieldReader::new(ops, "a delta");
    let mut old = FieldReader::new(old, "a delta's old text");
    let mut text = FieldReader::new(text, "a delta's own text");
    out.clear();
    out.reserve(
        old.rest()
            .len()
            .saturating_add(text.rest().len())
            .min(max.saturating_add(1)),
    );
    while !ops.is_empty() {
        let copy = ops.len_at_most(old.rest().len())?;
        let skip = ops.len_at_most(old.rest().len())?;
        let insert = ops.number()?;
        push(out, old.bytes(copy)?, max)?;
        old.bytes(skip)?;
        if insert & 1 == 0 {
            let len = usize::try_from(insert >> 1).map_err(|_too_long| CodecError::Short {
                what: "a delta's own text",
            })?;
            push(out, text.bytes(len)?, max)?;
        } else {
            let id = u32::try_from(insert >> 1).map_err(|_too_wide| CodecError::Bound {
                what: "a delta's blob",
                found: insert >> 1,
                bound: u128::from(u32::MAX),
            })?;
            let mut outcome = Ok(());
            blob(BlobId(id), &mut |bytes| {
                outcome = push(out, bytes, max);
            })?;
            outcome?;
        }
    }
    push(out, old.rest(), max)?;
    text.end()?;
    Ok(())
}

/// Gives the texts of the blob log that a delta inserts, up to its first damage.
pub(crate) fn texts_in(ops: &[u8], mut text: impl FnMut(BlobId)) {
    let mut ops = FieldReader::new(ops, "a delta");
    while let (Ok(_copy), Ok(_skip), Ok(insert)) = (ops.number(), ops.number(), ops.number()) {
        if insert & 1 == 1
            && let Ok(id) = u32::try_from(insert >> 1)
        {
            text(BlobId(id));
        }
    }
}

/// Returns hunks that count pieces of the old text where the given ones count bytes.
pub(crate) fn in_pieces(old: &[u8], ops: &[u8]) -> Result<Vec<u8>, CodecError> {
    convert(ops, {
        let mut old = FieldReader::new(old, "a delta's old text");
        move |bytes| {
            let bytes = usize::try_from(bytes).map_err(|_too_long| OLD_ENDS)?;
            Ok(len64(pieces(old.bytes(bytes)?).count()))
        }
    })
}

/// Returns hunks that count bytes of the old text where the given ones count pieces.
pub(crate) fn in_bytes(old: &[u8], ops: &[u8]) -> Result<Vec<u8>, CodecError> {
    convert(ops, {
        let mut rest = old;
        move |count| {
            let len = length_of_pieces(rest, count).ok_or(OLD_ENDS)?;
            rest = rest.get(len..).unwrap_or_default();
            Ok(len64(len))
        }
    })
}

/// Returns the length of the first pieces of a text, if there are as many.
fn length_of_pieces(text: &[u8], count: u64) -> Option<usize> {
    let mut left = count;
    let mut len = 0;
    let (words, _) = text.as_chunks::<8>();
    for word in words {
        let ends = u64::from(last_of_pieces(u64::from_le_bytes(*word)).count_ones());
        if left <= ends {
            break;
        }
        left -= ends;
        len += word.len();
    }
    if left == 0 {
        return Some(len);
    }
    for byte in text.get(len..)? {
        len += 1;
        left -= u64::from(ends_piece(*byte));
        if left == 0 {
            return Some(len);
        }
    }
    // The last piece of a text may have no end.
    let has_open_piece = text.last().is_some_and(|last| !ends_piece(*last));
    (left == 1 && has_open_piece).then_some(len)
}

const OLD_ENDS: CodecError = CodecError::Short {
    what: "a delta's old text",
};

/// Converts the copies and skips of hunks, in their order.
fn convert(
    ops: &[u8],
    mut length: impl FnMut(u64) -> Result<u64, CodecError>,
) -> Result<Vec<u8>, CodecError> {
    let mut fields = FieldReader::new(ops, "a delta");
    let mut out = Vec::with_capacity(ops.len());
    while !fields.is_empty() {
        for _ in 0..2 {
            varint::put(&mut out, length(fields.at_most(u64::MAX)?)?.into());
        }
        varint::put(&mut out, fields.number()?);
    }
    Ok(out)
}

fn push(out: &mut Vec<u8>, bytes: &[u8], max: usize) -> Result<(), CodecError> {
    let len = out.len().saturating_add(bytes.len());
    if len > max {
        return Err(CodecError::Bound {
            what: "a body's length",
            found: u128::from(len64(len)),
            bound: u128::from(len64(max)),
        });
    }
    out.extend_from_slice(bytes);
    Ok(())
}

const fn ends_piece(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'}' | b'[' | b']')
}

/// Returns the highest bit of each of eight bytes that end a piece.
const fn last_of_pieces(word: u64) -> u64 {
    const fn equal(word: u64, byte: u8) -> u64 {
        const SEVEN: u64 = u64::from_le_bytes([0x7f; 8]);
        let differing = word ^ u64::from_le_bytes([byte; 8]);
        // No carry leaves its byte, so that only a byte without any bit keeps its highest bit clear.
        !(((differing & SEVEN) + SEVEN) | differing | SEVEN)
    }
    // Brackets and braces differ in this bit.
    let folded = word | u64::from_le_bytes([b'{' ^ b'['; 8]);
    equal(word, b',') | equal(folded, b'{') | equal(folded, b'}')
}

/// Cuts a text into its pieces.
pub(crate) fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| ends_piece(*byte))
}

/// Returns how many bytes two texts share at their start and at their end, in whole pieces of both,
/// never overlapping.
pub(crate) fn shared_ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = shared_start(old, new);
    let head = if same == old.len() && same == new.len() {
        same
    } else {
        new.get(..same)
            .and_then(|start| start.iter().rposition(|byte| ends_piece(*byte)))
            .map_or(0, |last| last.saturating_add(1))
    };
    let old_rest = old.get(head..).unwrap_or_default();
    let new_rest = new.get(head..).unwrap_or_default();
    let same = shared_end(old_rest, new_rest);
    // The tail begins behind the first piece end that both share.
    let tail = new_rest
        .get(new_rest.len().saturating_sub(same)..)
        .and_then(|end| end.iter().position(|byte| ends_piece(*byte)))
        .map_or(0, |first| same.saturating_sub(first.saturating_add(1)));
    (head, tail)
}

/// How many bytes are compared at once.
const AT_ONCE: usize = 32;

fn shared_start(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.chunks_exact(AT_ONCE).zip(new.chunks_exact(AT_ONCE));
    let whole = chunks.take_while(|(a, b)| a == b).count() * AT_ONCE;
    let rest = old.iter().zip(new).skip(whole);
    whole + rest.take_while(|(a, b)| a == b).count()
}

fn shared_end(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.rchunks_exact(AT_ONCE).zip(new.rchunks_exact(AT_ONCE));
    let whole = chunks.take_while(|(a, b)| a == b).count() * AT_ONCE;
    let rest = old.iter().rev().zip(new.iter().rev()).skip(whole);
    whole + rest.take_while(|(a, b)| a == b).count()
}

/// A name of at least this many bytes is replaced wherever it stands, a shorter one only as a whole
/// JSON string.
const LONG_NAME: usize = 8;

/// Returns the text for an object that is encoded against nothing.
pub(crate) fn seed_of(key: ObjectKeyRef<'_>) -> Vec<u8> {
    let namespace = if key.namespace.is_empty() {
        String::new()
    } else {
        format!("\"namespace\":\"{}\",", key.namespace)
    };
    format!(
        "\"name\":\"{}\",{namespace}\"uid\":\"{}\",",
        key.name, key.uid
    )
    .into_bytes()
}

/// Returns the body of `other` with its name and uid replaced by those of `key`.
pub(crate) fn seed_from_other(
    body: &[u8],
    other: ObjectKeyRef<'_>,
    key: ObjectKeyRef<'_>,
) -> Vec<u8> {
    let named = if other.name.len() >= LONG_NAME {
        replace(body, other.name, key.name)
    } else {
        replace(
            body,
            &format!("\"{}\"", other.name),
            &format!("\"{}\"", key.name),
        )
    };
    let other_uid = other.uid.text();
    if other_uid.len() >= LONG_NAME {
        replace(&named, &other_uid, &key.uid.text())
    } else {
        named
    }
}

fn replace(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let finder = memchr::memmem::Finder::new(from);
    while let Some(at) = finder.find(rest) {
        let (before, found) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        out.extend_from_slice(to.as_bytes());
        rest = found.get(from.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ObjectKey;
    use crate::id::ResourceId;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Log(Vec<Vec<u8>>);

    impl Blobs for Log {
        fn intern(&mut self, text: &[u8]) -> Option<BlobId> {
            let at = self.0.iter().position(|known| known == text);
            let at = at.unwrap_or_else(|| {
                self.0.push(text.to_vec());
                self.0.len() - 1
            });
            Some(BlobId(u32::try_from(at).unwrap()))
        }
    }

    fn there_and_back(old: &[u8], new: &[u8]) -> (usize, Vec<u8>) {
        let (mut log, mut ops, mut text) = (Log::default(), Vec::new(), Vec::new());
        encode(old, new, &mut log, &mut ops, &mut text);
        let size = ops.len() + text.len();
        let back = apply::<CodecError>(old, &ops, &text, new.len(), |id, take| {
            take(&log.0[usize::try_from(id.0).unwrap()]);
            Ok(())
        });
        (size, back.unwrap())
    }

    #[test]
    fn a_changed_field_costs_its_piece() {
        let old = br#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"x":[1,2,3]}}"#;
        let new = br#"{"metadata":{"name":"a","resourceVersion":"2"},"spec":{"x":[1,2,3]}}"#;
        let (size, back) = there_and_back(old, new);
        assert_eq!(back, new);
        assert_eq!(size, br#""resourceVersion":"2"}"#.len() + 3);
    }

    #[test]
    fn texts_that_share_every_other_piece_are_compared_in_little_stack() {
        let most = u32::try_from(MOST_ALIGNED).unwrap();
        for count in [most / 2, most, 20 * most] {
            let kept: Vec<u8> = (0..count)
                .flat_map(|n| format!("{n},").into_bytes())
                .collect();
            let mixed: Vec<u8> = (0..count)
                .flat_map(|n| format!("{n},x{n},").into_bytes())
                .collect();
            let turned: Vec<u8> = (0..count)
                .rev()
                .flat_map(|n| format!("{n},").into_bytes())
                .collect();
            for (old, new) in [(&kept, &mixed), (&mixed, &kept), (&kept, &turned)] {
                assert_eq!(&there_and_back(old, new).1, new, "{count}");
            }
        }
    }

    #[test]
    fn few_replaced_values_are_found_without_a_search() {
        let cut = |text: &'static str| CutText::new(text.as_bytes());
        let replaced = |old, new| replaced(&cut(old), &cut(new));
        let one = |range| Some(std::iter::once(range).collect());
        assert_eq!(replaced("a,b,c,d,", "a,B,c,d,"), one(1..2));
        assert_eq!(replaced("a,b,c,d,", "a,B,C,d,"), one(1..3));
        assert_eq!(replaced("a,b,c,d,", "A,B,C,d,"), None);
        assert_eq!(replaced("a,b,c,d,", "a,b,c,"), None);
        assert_eq!(cut("a,b").bytes(1..2), b"b");
        assert_eq!(cut("a,b,").ends, [2, 4]);
    }

    #[test]
    fn eight_bytes_are_searched_as_each_by_itself() {
        for byte in 0..=u8::MAX {
            for other in [b',', b'[', 0, 0x80, 0xff, b'x'] {
                let bytes = [other, byte, byte, other, other, byte, other, byte];
                let expected = bytes.map(|byte| if ends_piece(byte) { 0x80 } else { 0 });
                let found = last_of_pieces(u64::from_le_bytes(bytes)).to_le_bytes();
                assert_eq!(found, expected, "{bytes:?}");
            }
        }
    }

    #[test]
    fn equal_texts_cost_nothing() {
        assert_eq!(there_and_back(b"{,}", b"{,}"), (0, b"{,}".to_vec()));
    }

    #[test]
    fn a_long_piece_goes_to_the_log() {
        let new = format!(r#"{{"a":1,"b":"{}","c":2}}"#, "x".repeat(BLOB_MIN));
        let (size, back) = there_and_back(b"{}", new.as_bytes());
        assert_eq!(back, new.as_bytes());
        assert!(size < 40, "{size}");
    }

    #[test]
    fn output_beyond_the_bound_is_refused() {
        let mut ops = Vec::new();
        for _ in 0..3 {
            varint::put(&mut ops, 0);
            varint::put(&mut ops, 0);
            varint::put(&mut ops, 1);
        }
        let taken = apply::<CodecError>(b"", &ops, b"", 25, |_, take| {
            take(&[b'x'; 10]);
            Ok(())
        });
        assert!(matches!(taken, Err(CodecError::Bound { .. })), "{taken:?}");
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\"name\":\"a\",".to_vec()),
            Just(b"{".to_vec()),
            Just(b"}".to_vec()),
            Just([b"\"m\":\"", &[b'y'; 300][..], b"\","].concat()),
            prop::collection::vec(any::<u8>(), 0..8),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_comes_back(old in texts(), new in texts()) {
            prop_assert_eq!(there_and_back(&old, &new).1, new);
        }

        #[test]
        fn hunks_count_pieces_too(old in texts(), new in texts()) {
            let (mut log, mut ops, mut text) = (Log::default(), Vec::new(), Vec::new());
            encode(&old, &new, &mut log, &mut ops, &mut text);
            let counted = in_pieces(&old, &ops).unwrap();
            prop_assert_eq!(in_bytes(&old, &counted).unwrap(), ops);
        }

        #[test]
        fn any_counts_are_survived(old: Vec<u8>, ops: Vec<u8>) {
            if let Ok(hunks) = in_bytes(&old, &ops) {
                prop_assert!(hunks.len() <= ops.len() + 8 * old.len() + 8);
            }
        }

        #[test]
        fn any_delta_is_survived(old: Vec<u8>, ops: Vec<u8>, text: Vec<u8>) {
            let out = apply::<CodecError>(&old, &ops, &text, 1000, |_, take| {
                take(b"blob");
                Ok(())
            });
            if let Ok(out) = out {
                prop_assert!(out.len() <= 1000);
            }
        }
    }

    #[test]
    fn pieces_end_after_punctuation() {
        let pieces: Vec<_> = pieces(br#"{"a":1,"b":[2]}x"#).collect();
        let expected = [&b"{"[..], br#""a":1,"#, br#""b":["#, b"2]", b"}", b"x"];
        assert_eq!(pieces, expected);
    }

    proptest! {
        #[test]
        fn pieces_have_the_length_of_all_of_them(text in "[ab,{}\\[\\]]{0,60}") {
            let text = text.as_bytes();
            let mut len = 0;
            prop_assert_eq!(length_of_pieces(text, 0), Some(0));
            for (count, piece) in (1..).zip(pieces(text)) {
                len += piece.len();
                prop_assert_eq!(length_of_pieces(text, count), Some(len));
            }
            let count = len64(pieces(text).count());
            prop_assert_eq!(length_of_pieces(text, count + 1), None);
        }

        #[test]
        fn shared_ends_are_shared(
            old in "[a,{}]{0,12}",
            new in "[a,{}]{0,12}",
            start in "[a,]{0,80}",
            end in "[a,]{0,80}",
        ) {
            let (old, new) = (start.clone() + &old + &end, start + &new + &end);
            let (old, new) = (old.as_bytes(), new.as_bytes());
            let (head, tail) = shared_ends(old, new);
            prop_assert!(head + tail <= old.len().min(new.len()));
            prop_assert_eq!(&old[..head], &new[..head]);
            prop_assert_eq!(&old[old.len() - tail..], &new[new.len() - tail..]);
        }
    }

    fn key(name: &str, uid: &str) -> ObjectKey {
        ObjectKey {
            resource: ResourceId(0),
            namespace: "n".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }

    #[test]
    fn names_are_replaced_where_they_stand_alone() {
        let body = br#"{"name":"a","image":"a/a","uid":"11111111"}"#;
        assert_eq!(
            seed_from_other(
                body,
                key("a", "11111111").view(),
                key("bb", "22222222").view()
            ),
            br#"{"name":"bb","image":"a/a","uid":"22222222"}"#
        );
    }

    #[test]
    fn long_names_are_replaced_everywhere() {
        let body = br#"{"name":"etcd-operator","lock":"etcd-operator-lock"}"#;
        assert_eq!(
            seed_from_other(
                body,
                key("etcd-operator", "").view(),
                key("dns-operator", "").view()
            ),
            br#"{"name":"dns-operator","lock":"dns-operator-lock"}"#
        );
    }
}
