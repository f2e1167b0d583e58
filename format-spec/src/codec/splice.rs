//! Owns the delta between two texts: byte-exact for any bytes, no JSON needed. Refuses to know what
//! the texts are.
//!
//! A delta is a list of hunks: copy so many bytes of the old text, skip so many, then insert either
//! so many bytes of the delta's own text or one text of the blob log. After the last hunk the rest
//! of the old text is copied.

use super::varint::{self, Fields};
use super::{CodecError, pieces};
use crate::id::BlobId;
use crate::limits::BLOB_MIN;
use imara_diff::{Algorithm, Diff, InternedInput};

/// Gives a long text that is inserted its number in the blob log, or refuses to take it there.
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
    let (head, tail) = pieces::shared_ends(old, new);
    let middle = |all: &[u8]| head..all.len().saturating_sub(tail);
    let old_middle = old.get(middle(old)).unwrap_or_default();
    let new_middle = new.get(middle(new)).unwrap_or_default();
    if old_middle.is_empty() && new_middle.is_empty() {
        return;
    }
    let mut input = InternedInput::default();
    input.update_before(pieces::cut(old_middle));
    input.update_after(pieces::cut(new_middle));
    let diff = Diff::compute(Algorithm::Myers, &input);

    let mut hunks = Hunks {
        blobs,
        ops,
        text,
        copy: head,
        skip: 0,
    };
    let (mut old_at, mut new_at) = (Walk::new(old_middle), Walk::new(new_middle));
    for hunk in diff.hunks() {
        hunks.copy = hunks
            .copy
            .saturating_add(old_at.to(hunk.before.start).len());
        let _kept = new_at.to(hunk.after.start);
        hunks.skip = old_at.to(hunk.before.end).len();
        hunks.insert(new_at.to(hunk.after.end));
    }
}

/// Walks over a text in pieces.
struct Walk<'a> {
    rest: &'a [u8],
    piece: u32,
}

impl<'a> Walk<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            piece: 0,
        }
    }

    /// Gives the bytes from here to the start of piece number `piece`.
    fn to(&mut self, piece: u32) -> &'a [u8] {
        let count = usize::try_from(piece.saturating_sub(self.piece)).unwrap_or(usize::MAX);
        let len = pieces::cut(self.rest).take(count).map(<[u8]>::len).sum();
        let (passed, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, &[]));
        self.rest = rest;
        self.piece = piece;
        passed
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
        for piece in pieces::cut(inserted) {
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
            self.write(u128::try_from(bytes.len()).unwrap_or(0) << 1);
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

/// Gives the new text from the old one and its delta, at most `max` bytes long.
///
/// `blob` looks a text of the blob log up. All of `text` must be used.
pub(crate) fn apply<E: From<CodecError>>(
    old: &[u8],
    ops: &[u8],
    text: &[u8],
    max: usize,
    mut blob: impl FnMut(BlobId, &mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut ops = Fields::new(ops, "a delta");
    let mut old = Fields::new(old, "a delta's old text");
    let mut text = Fields::new(text, "a delta's own text");
    let mut out = Vec::with_capacity(
        old.rest()
            .len()
            .saturating_add(text.rest().len())
            .min(max.saturating_add(1)),
    );
    while !ops.is_empty() {
        let copy = ops.len_at_most(old.rest().len())?;
        let skip = ops.len_at_most(old.rest().len())?;
        let insert = ops.number()?;
        push(&mut out, old.bytes(copy)?, max)?;
        old.bytes(skip)?;
        if insert & 1 == 0 {
            let len = usize::try_from(insert >> 1).unwrap_or(usize::MAX);
            push(&mut out, text.bytes(len)?, max)?;
        } else {
            let id = u32::try_from(insert >> 1).map_err(|_too_wide| CodecError::Bound {
                what: "a delta's blob",
                found: insert >> 1,
                bound: u128::from(u32::MAX),
            })?;
            let mut outcome = Ok(());
            blob(BlobId(id), &mut |bytes| {
                outcome = push(&mut out, bytes, max);
            })?;
            outcome?;
        }
    }
    push(&mut out, old.rest(), max)?;
    text.end()?;
    Ok(out)
}

fn push(out: &mut Vec<u8>, bytes: &[u8], max: usize) -> Result<(), CodecError> {
    let len = out.len().saturating_add(bytes.len());
    if len > max {
        return Err(CodecError::Bound {
            what: "a body's length",
            found: u128::try_from(len).unwrap_or(u128::MAX),
            bound: u128::try_from(max).unwrap_or(u128::MAX),
        });
    }
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
