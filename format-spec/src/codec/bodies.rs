//! The bodies of a segment: for each event the delta and its base, and the texts that enter the blob log.
//!
//! Four columns: entries, hunks, inserted text, blobs. Where bodies lie by object, a column in front of them says whose
//! they are. The columns may come from a damaged or forged file: the number of entries and blobs is bounded before they
//! are read, every length is checked against the bytes that are left, and a column must be used up exactly.

use super::CodecError;
use super::varint::{self, FieldReader};
use crate::codec::{frame, splice};
use crate::id::ObjectId;
use crate::limits::{MAX_BODY, len64};
use std::borrow::Cow;
use std::ops::Range;

/// The base of a body's delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The seed of its own object: a text made of its name, namespace and uid.
    Whole,
    /// The version before of the same object.
    Previous,
    /// The last version of another object, in which that one's names are replaced by its own.
    Other(ObjectId),
}

/// The place of one body's delta in the columns of its segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyEntry {
    pub(crate) base: Base,
    pub(crate) ops: Range<usize>,
    pub(crate) text: Range<usize>,
}

/// Which of the bodies of a block is that of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodySlot {
    /// The one of this place.
    Nth(usize),
    /// One of an object's bodies, where bodies lie by object.
    OfObject(ObjectId, NthBody),
}

/// Which of an object's bodies in a group is that of an event. Damage may have taken indexes, so that not all of the
/// object's events are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NthBody {
    /// All in front of it are known: how many.
    First(usize),
    /// All behind it are known: how many.
    Last(usize),
    /// Neither is, so that it is right only if the object has no more of them than known: how many are in front, and in
    /// all.
    Of(usize, usize),
}

/// The bodies of one object, where bodies lie by object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BodyOwner {
    object: ObjectId,
    first: usize,
    count: usize,
}

/// Appends an owner of bodies to their column.
pub(crate) fn put_owner(owners: &mut Vec<u8>, before: ObjectId, object: ObjectId, count: usize) {
    varint::put_signed(owners, i128::from(object.0) - i128::from(before.0));
    varint::put_len(owners, count);
}

/// What the copies and skips of hunks count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HunkUnit {
    /// Bytes.
    #[default]
    Bytes,
    /// Pieces, as `splice` cuts them.
    Pieces,
}

/// One body's delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delta<'a> {
    pub(crate) ops: &'a [u8],
    pub(crate) text: &'a [u8],
    pub(crate) unit: HunkUnit,
}

impl<'a> Delta<'a> {
    /// Returns its hunks, counting bytes of the old text.
    pub(crate) fn hunks(self, old: &[u8]) -> Result<Cow<'a, [u8]>, CodecError> {
        match self.unit {
            HunkUnit::Bytes => Ok(Cow::Borrowed(self.ops)),
            HunkUnit::Pieces => splice::in_bytes(old, self.ops).map(Cow::Owned),
        }
    }
}

/// Writes the bodies of a segment.
#[derive(Debug, Default)]
pub(crate) struct BodyWriter {
    entries: Vec<u8>,
    pub(crate) ops: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) blobs: BlobColumn,
    ops_done: usize,
    text_done: usize,
}

/// The texts that enter the blob log.
#[derive(Debug, Default)]
pub(crate) struct BlobColumn(Vec<u8>);

impl BlobColumn {
    /// Appends a text.
    pub(crate) fn push(&mut self, text: &[u8]) {
        varint::put_len(&mut self.0, text.len());
        self.0.extend_from_slice(text);
    }
}

impl BodyWriter {
    /// Ends the entry of one event: what was appended to `ops` and `text` since the last is its.
    pub(crate) fn end_entry(&mut self, base: Base) {
        let base = match base {
            Base::Whole => 0,
            Base::Previous => 1,
            Base::Other(object) => u128::from(object.0) + 2,
        };
        varint::put(&mut self.entries, base);
        varint::put_len(&mut self.entries, self.ops.len() - self.ops_done);
        varint::put_len(&mut self.entries, self.text.len() - self.text_done);
        self.ops_done = self.ops.len();
        self.text_done = self.text.len();
    }

    /// Takes back what was appended since the last entry.
    pub(crate) fn undo_entry(&mut self) {
        self.ops.truncate(self.ops_done);
        self.text.truncate(self.text_done);
    }

    /// Returns how many bytes of text were appended since the last entry.
    pub(crate) fn open_text(&self) -> usize {
        self.text.len() - self.text_done
    }

    /// Returns how many bytes all columns hold.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.ops.len() + self.text.len() + self.blobs.0.len()
    }

    /// Returns the columns' bytes from a mark on.
    pub(crate) fn columns_since(&self, mark: BodyMark) -> Vec<u8> {
        frame::join_columns([
            self.entries.get(mark.entries..).unwrap_or_default(),
            self.ops.get(mark.ops..).unwrap_or_default(),
            self.text.get(mark.text..).unwrap_or_default(),
            self.blobs.0.get(mark.blobs..).unwrap_or_default(),
        ])
    }

    /// Returns a mark of what is there now.
    pub(crate) fn mark(&self) -> BodyMark {
        BodyMark {
            entries: self.entries.len(),
            ops: self.ops.len(),
            text: self.text.len(),
            blobs: self.blobs.0.len(),
        }
    }

    /// Appends the columns of another segment.
    pub(crate) fn append(&mut self, columns: &[u8]) -> Result<(), CodecError> {
        let [entries, ops, text, blobs] = frame::split_columns(columns, "a segment's bodies")?;
        self.entries.extend_from_slice(entries);
        self.ops.extend_from_slice(ops);
        self.text.extend_from_slice(text);
        self.blobs.0.extend_from_slice(blobs);
        self.ops_done = self.ops.len();
        self.text_done = self.text.len();
        Ok(())
    }
}

/// How much of each column there was at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyMark {
    entries: usize,
    ops: usize,
    text: usize,
    blobs: usize,
}

/// The bodies of a segment, read.
#[derive(Debug)]
pub(crate) struct Bodies {
    raw: Vec<u8>,
    entries: Vec<BodyEntry>,
    blobs: Vec<Range<usize>>,
    unit: HunkUnit,
    /// Whose the entries are, by object; nothing if they are in the order of the events.
    owners: Vec<BodyOwner>,
}

/// The most entries and blobs that a segment's columns may hold.
///
/// An entry takes three bytes of a column and 40 in memory. What the segment's index says stands in
/// memory already, so that forged columns can be refused at the first entry beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyCounts {
    pub(crate) entries: usize,
    pub(crate) blobs: usize,
}

impl BodyCounts {
    /// Nothing is known of the segment but its bytes.
    pub(crate) const UNKNOWN: Self = Self {
        entries: usize::MAX,
        blobs: usize::MAX,
    };
}

/// Refuses one more item than a column may hold.
fn within(what: &'static str, found: usize, most: usize) -> Result<(), CodecError> {
    let wide = |count: usize| u128::from(len64(count));
    if found < most {
        return Ok(());
    }
    Err(CodecError::Bound {
        what,
        found: wide(found).saturating_add(1),
        bound: wide(most),
    })
}

impl Bodies {
    /// Reads the columns of a segment.
    pub(crate) fn decode(raw: Vec<u8>, most: BodyCounts) -> Result<Self, CodecError> {
        let all = 0..raw.len();
        Self::decode_within(raw, &all, most)
    }

    /// Reads columns that are a part of some bytes.
    #[expect(
        clippy::expect_used,
        clippy::unwrap_in_result,
        reason = "the number was bounded when it was read"
    )]
    pub(crate) fn decode_within(
        raw: Vec<u8>,
        part: &Range<usize>,
        most: BodyCounts,
    ) -> Result<Self, CodecError> {
        let columns = raw.get(part.clone()).unwrap_or_default();
        let [entries, mut ops, mut text, blobs] =
            frame::column_places(columns, "a segment's bodies")?
                .map(|place: Range<usize>| part.start + place.start..part.start + place.end);
        let mut fields = FieldReader::new(raw.get(entries).unwrap_or_default(), "a body's entry");
        let mut places = Vec::new();
        while !fields.is_empty() {
            within("a segment's number of bodies", places.len(), most.entries)?;
            let base = match fields.at_most(u64::from(u32::MAX) + 2)? {
                0 => Base::Whole,
                1 => Base::Previous,
                other => Base::Other(ObjectId(
                    u32::try_from(other - 2).expect("it is at most u32::MAX + 2"),
                )),
            };
            places.push(BodyEntry {
                base,
                ops: take(&mut fields, &mut ops)?,
                text: take(&mut fields, &mut text)?,
            });
        }
        for (what, rest) in [("a segment's hunks", ops), ("a segment's text", text)] {
            if !rest.is_empty() {
                return Err(CodecError::Long {
                    what,
                    extra: rest.len(),
                });
            }
        }
        let mut texts = Vec::new();
        let mut fields = FieldReader::new(raw.get(blobs.clone()).unwrap_or_default(), "a blob");
        while !fields.is_empty() {
            within("a segment's number of blobs", texts.len(), most.blobs)?;
            let len = fields.sized(MAX_BODY)?.len();
            let end = blobs.end - fields.rest().len();
            texts.push(end - len..end);
        }
        Ok(Self {
            entries: places,
            blobs: texts,
            raw,
            unit: HunkUnit::Bytes,
            owners: Vec::new(),
        })
    }

    /// Reads the columns of bodies that lie by object.
    pub(crate) fn decode_by_object(raw: Vec<u8>, most: BodyCounts) -> Result<Self, CodecError> {
        let [owners, bodies] = frame::column_places(&raw, "bodies by object")?;
        let mut fields =
            FieldReader::new(raw.get(owners).unwrap_or_default(), "an owner of bodies");
        let (mut owners, mut object, mut first) = (Vec::new(), 0i128, 0usize);
        while !fields.is_empty() {
            within("a segment's number of owners", owners.len(), most.entries)?;
            object = object.saturating_add(fields.signed()?);
            let number =
                u32::try_from(object).map_err(|_out_of_range| CodecError::Meaningless {
                    what: "an owner of bodies",
                    found: len64(owners.len()),
                })?;
            let count = fields.len_at_most(most.entries)?;
            owners.push(BodyOwner {
                object: ObjectId(number),
                first,
                count,
            });
            first = first.saturating_add(count);
        }
        owners.sort_unstable_by_key(|owner| owner.object);
        let is_twice = owners.windows(2).any(|pair| match pair {
            [one, other] => one.object == other.object,
            _ => false,
        });
        let bodies = Self::decode_within(raw, &bodies, most)?;
        if is_twice || first != bodies.len() {
            return Err(CodecError::Meaningless {
                what: "the owners of bodies",
                found: len64(first),
            });
        }
        Ok(Self { owners, ..bodies })
    }

    /// Takes the copies and skips of all hunks as counts of pieces.
    pub(crate) fn counting_pieces(self) -> Self {
        Self {
            unit: HunkUnit::Pieces,
            ..self
        }
    }

    /// Returns how many events there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns how many blobs there are.
    pub(crate) fn blob_count(&self) -> usize {
        self.blobs.len()
    }

    /// Returns the bytes.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Returns one event's base and delta.
    pub(crate) fn delta(&self, slot: BodySlot) -> Option<(Base, Delta<'_>)> {
        let place = match slot {
            BodySlot::Nth(place) => place,
            BodySlot::OfObject(object, nth) => {
                let owners = &self.owners;
                let at = owners
                    .binary_search_by_key(&object, |owner| owner.object)
                    .ok()?;
                let owner = owners.get(at)?;
                let nth = match nth {
                    NthBody::First(before) => before,
                    NthBody::Last(behind) => owner.count.checked_sub(behind)?.checked_sub(1)?,
                    NthBody::Of(before, all) if all == owner.count => before,
                    NthBody::Of(..) => return None,
                };
                if nth >= owner.count {
                    return None;
                }
                owner.first.checked_add(nth)?
            }
        };
        let entry = self.entries.get(place)?;
        let delta = Delta {
            ops: self.raw.get(entry.ops.clone())?,
            text: self.raw.get(entry.text.clone())?,
            unit: self.unit,
        };
        Some((entry.base, delta))
    }

    /// Returns one blob.
    pub(crate) fn blob(&self, place: usize) -> Option<&[u8]> {
        self.raw.get(self.blobs.get(place)?.clone())
    }
}

/// Reads a length and takes that much off the front of a column.
fn take(
    fields: &mut FieldReader<'_>,
    column: &mut Range<usize>,
) -> Result<Range<usize>, CodecError> {
    let start = column.start;
    column.start += fields.len_at_most(column.len())?;
    Ok(start..column.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries_and_blobs_come_back() {
        let mut writer = BodyWriter::default();
        writer.ops.push(7);
        writer.text.extend_from_slice(b"abc");
        writer.end_entry(Base::Whole);
        writer.text.extend_from_slice(b"lost");
        assert_eq!(writer.open_text(), 4);
        writer.undo_entry();
        writer.blobs.push(b"blob");
        let delta = |ops, text| Delta {
            ops,
            text,
            unit: HunkUnit::Bytes,
        };
        let mark = writer.mark();
        writer.text.extend_from_slice(b"d");
        writer.end_entry(Base::Other(ObjectId(5)));
        let all = Bodies::decode(
            writer.columns_since(BodyMark::default()),
            BodyCounts::UNKNOWN,
        )
        .unwrap();
        assert_eq!(
            all.delta(BodySlot::Nth(0)),
            Some((Base::Whole, delta(&[7], b"abc")))
        );
        let expected = Some((Base::Other(ObjectId(5)), delta(&[], b"d")));
        assert_eq!(all.delta(BodySlot::Nth(1)), expected);
        assert_eq!(all.delta(BodySlot::Nth(2)), None);
        assert_eq!(all.blob(0), Some(&b"blob"[..]));
        let tail = Bodies::decode(writer.columns_since(mark), BodyCounts::UNKNOWN).unwrap();
        assert_eq!((tail.len(), tail.blob_count()), (1, 0));
        let mut joined = BodyWriter::default();
        joined.append(all.raw()).unwrap();
        joined.append(tail.raw()).unwrap();
        let joined = Bodies::decode(
            joined.columns_since(BodyMark::default()),
            BodyCounts::UNKNOWN,
        )
        .unwrap();
        assert_eq!(joined.len(), 3);
        let expected = Some((Base::Other(ObjectId(5)), delta(&[], b"d")));
        assert_eq!(joined.delta(BodySlot::Nth(2)), expected);
    }

    #[test]
    fn more_bodies_or_blobs_than_the_index_names_are_refused() {
        let mut writer = BodyWriter::default();
        writer.end_entry(Base::Whole);
        writer.end_entry(Base::Previous);
        writer.blobs.push(b"blob");
        let raw = writer.columns_since(BodyMark::default());
        for (entries, blobs, is_refused) in
            [(2, 1, false), (3, 2, false), (1, 1, true), (2, 0, true)]
        {
            let read = Bodies::decode(raw.clone(), BodyCounts { entries, blobs });
            assert_eq!(read.is_err(), is_refused, "{entries} and {blobs}");
        }
    }

    #[test]
    fn bodies_by_object_are_found_by_their_owner() {
        let mut writer = BodyWriter::default();
        for text in [b"a", b"b", b"c"] {
            writer.text.extend_from_slice(text);
            writer.end_entry(Base::Whole);
        }
        let bodies = writer.columns_since(BodyMark::default());
        let read = |counts: &[(u32, usize)]| {
            let (mut owners, mut before) = (Vec::new(), ObjectId(0));
            for (object, count) in counts {
                put_owner(&mut owners, before, ObjectId(*object), *count);
                before = ObjectId(*object);
            }
            let raw = frame::join_columns([&owners, &bodies]);
            Bodies::decode_by_object(raw, BodyCounts::UNKNOWN)
        };
        let found = read(&[(7, 1), (3, 2)]).unwrap();
        let text = |object, nth| {
            let delta = found.delta(BodySlot::OfObject(ObjectId(object), nth))?;
            Some(delta.1.text)
        };
        let (a, b, c) = (Some(&b"a"[..]), Some(&b"b"[..]), Some(&b"c"[..]));
        assert_eq!(
            (text(7, NthBody::Of(0, 1)), text(7, NthBody::Last(0))),
            (a, a)
        );
        assert_eq!(
            (text(3, NthBody::First(0)), text(3, NthBody::Last(1))),
            (b, b)
        );
        assert_eq!(
            (text(3, NthBody::Of(1, 2)), text(3, NthBody::Last(0))),
            (c, c)
        );
        // An object of which an event is not known has none that could be another's.
        assert_eq!(
            (text(3, NthBody::Of(0, 1)), text(3, NthBody::First(2))),
            (None, None)
        );
        assert_eq!(
            (text(3, NthBody::Last(2)), text(4, NthBody::First(0))),
            (None, None)
        );
        for wrong in [&[(7, 1), (3, 1)][..], &[(7, 1), (7, 2)], &[(7, 4)]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            if let Ok(bodies) = Bodies::decode_by_object(bytes.clone(), BodyCounts::UNKNOWN) {
                let found = bodies.owners.iter().map(|owner| owner.count).sum::<usize>();
                prop_assert_eq!(found, bodies.len());
            }
            if let Ok(bodies) = Bodies::decode(bytes, BodyCounts::UNKNOWN) {
                for place in 0..bodies.len() {
                    prop_assert!(bodies.delta(BodySlot::Nth(place)).is_some());
                }
            }
        }
    }
}
