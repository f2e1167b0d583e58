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
    let mut input = InternedInput::default();
    input.update_before(pieces(old_middle));
    input.update_after(pieces(new_middle));
    let diff = Diff::compute(Algorithm::Myers, &input);

    let mut hunks = Hunks {
        blobs,
        ops,
        text,
        copy: head,
        skip: 0,
    };
    let (mut old_at, mut new_at) = (PieceWalk::new(old_middle), PieceWalk::new(new_middle));
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
struct PieceWalk<'a> {
    rest: &'a [u8],
    piece: u32,
}

impl<'a> PieceWalk<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            piece: 0,
        }
    }

    /// Returns the bytes from here to the start of piece number `piece`.
    fn to(&mut self, piece: u32) -> &'a [u8] {
        let count = place32(piece.saturating_sub(self.piece));
        let len = pieces(self.rest).take(count).map(<[u8]>::len).sum();
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
    mut blob: impl FnMut(BlobId, &mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut ops = FieldReader::new(ops, "a delta");
    let mut old = FieldReader::new(old, "a delta's old text");
    let mut text = FieldReader::new(text, "a delta's own text");
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
            let len = usize::try_from(insert >> 1).map_err(|_too_long| CodecError::Short {
                what: "a delta's own text",
            })?;
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
            let mut len = 0;
            for _ in 0..count {
                let behind = rest.get(len..).unwrap_or_default();
                if behind.is_empty() {
                    return Err(OLD_ENDS);
                }
                let end = behind.iter().position(|byte| ends_piece(*byte));
                len += end.map_or(behind.len(), |end| end + 1);
            }
            rest = rest.get(len..).unwrap_or_default();
            Ok(len64(len))
        }
    })
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

/// Cuts a text into its pieces.
pub(crate) fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| ends_piece(*byte))
}

/// Returns how many bytes two texts share at their start and at their end, in whole pieces of both,
/// never overlapping.
pub(crate) fn shared_ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = if same == old.len() && same == new.len() {
        same
    } else {
        new.get(..same)
            .and_then(|start| start.iter().rposition(|byte| ends_piece(*byte)))
            .map_or(0, |last| last.saturating_add(1))
    };
    let old_rest = old.get(head..).unwrap_or_default();
    let new_rest = new.get(head..).unwrap_or_default();
    let same = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // The tail begins behind the first piece end that both share.
    let tail = new_rest
        .get(new_rest.len().saturating_sub(same)..)
        .and_then(|end| end.iter().position(|byte| ends_piece(*byte)))
        .map_or(0, |first| same.saturating_sub(first.saturating_add(1)));
    (head, tail)
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
        assert_eq!(
            pieces,
            [&b"{"[..], br#""a":1,"#, br#""b":["#, b"2]", b"}", b"x"]
        );
    }

    proptest! {
        #[test]
        fn shared_ends_are_shared(old in "[a,{}]{0,12}", new in "[a,{}]{0,12}") {
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
