//! Entry points of the fuzz targets to the decoders, with the feature `fuzzing` only.

use crate::codec::bodies::{Base, Bodies, BodyCounts, BodyMark, BodySlot, BodyWriter};
use crate::codec::index::IndexColumns;
use crate::codec::model::{BlockFacts, BodyModel, EventFacts, ModelSize};
use crate::codec::splice::Blobs;
use crate::codec::{CodecError, frame, packed_index, record, splice};
use crate::file::checkpoint;
use crate::file::parity;
use crate::file::row::{RowKind, RowOwner};
use crate::file::segment::{self, BlockPlace};
use crate::file::tables::FileState;
use crate::id::{BlobId, ResourceId};
use crate::note::Note;
use std::hint::black_box;

/// Reads bytes as each part of a reel.
///
/// # Panics
///
/// If a decoder contradicts itself, which is what the fuzzer searches for.
pub fn decode(bytes: &[u8]) {
    let _frame = black_box(frame::unpack(bytes, &[], 1 << 20));
    let _packed = black_box(packed_index::unpack(bytes, 1 << 20));
    let _note = black_box(record::decode::<Note>(bytes));
    if let Ok(index) = IndexColumns::decode(bytes.to_vec()) {
        let _objects = black_box(index.new_objects());
        let _connections = black_box(index.connections(|_| Some(ResourceId(0)), |_| false));
    }
    if let Ok(bodies) = Bodies::decode(bytes.to_vec(), BodyCounts::UNKNOWN) {
        for place in 0..bodies.len() {
            assert!(
                bodies.delta(BodySlot::Nth(place)).is_some(),
                "an entry without its delta"
            );
        }
    }
    let _by_object = black_box(Bodies::decode_by_object(
        bytes.to_vec(),
        BodyCounts::UNKNOWN,
    ));
    let forged = frame::with_header(frame::Form::Index, bytes, bytes);
    let _packed = black_box(forged.and_then(|forged| packed_index::unpack(&forged, 1 << 20)));
    // Behind a valid checksum, so that deeper layers are reached.
    if let Ok(packed) = frame::pack(bytes, frame::LEVEL_QUICK, &[]) {
        decode_rows(&packed);
    }
}

struct NoLog;

impl Blobs for NoLog {
    fn intern(&mut self, _text: &[u8]) -> Option<BlobId> {
        None
    }
}

/// Encodes the second half of some bytes as a delta of the first, and decodes any delta with any
/// text.
///
/// # Panics
///
/// If the delta does not return the second half, which is what the fuzzer searches for.
pub fn splice(bytes: &[u8]) {
    let (old, new) = bytes.split_at(bytes.len() / 2);
    let (mut ops, mut text) = (Vec::new(), Vec::new());
    splice::encode(old, new, &mut NoLog, &mut ops, &mut text);
    let refuse = |_, _: &mut dyn FnMut(&[u8])| Err(CodecError::Checksum);
    let back = splice::apply(old, &ops, &text, new.len(), refuse);
    assert_eq!(back.as_deref(), Ok(new), "the delta gives another text");
    let any = splice::apply(old, new, old, 1 << 16, |_, take| {
        take(old);
        Ok::<(), CodecError>(())
    });
    assert!(any.is_err() || any.is_ok_and(|out| out.len() <= 1 << 16));
}

/// Reads bytes as a modelled block, and codes a text as the body of an event and reads it back.
///
/// # Panics
///
/// If the body does not come back, or more comes out than may: what the fuzzer seeks.
pub fn model(bytes: &[u8]) {
    let event = |object| EventFacts {
        object,
        resource: object % 3,
        version: Some(u64::from(object)),
        wall: 1_700_000_000_000_000,
    };
    let facts = BlockFacts {
        first_object: 2,
        objects: vec![(1, Some(7)), (2, None), (1, Some(9))],
        events: (0..5).chain(3..5).map(event).collect(),
    };
    let mut bodies = BodyWriter::default();
    for part in bytes.chunks(bytes.len() / facts.events.len() + 1) {
        splice::encode(b"", part, &mut NoLog, &mut bodies.ops, &mut bodies.text);
        bodies.end_entry(Base::Whole);
    }
    // Few bytes have fewer parts than there are events.
    let parts = bytes.chunks(bytes.len() / facts.events.len() + 1).len();
    for _ in parts..facts.events.len() {
        bodies.end_entry(Base::Previous);
    }
    let raw = bodies.columns_since(BodyMark::default());
    let packed = BodyModel::new(ModelSize::Small).pack(&raw, &facts);
    let back = packed
        .and_then(|packed| BodyModel::new(ModelSize::Small).unpack(&packed, &facts, raw.len()));
    assert_eq!(back.as_deref(), Ok(&*raw), "the model gives other bodies");
    if let Some((first, rest)) = bytes.split_first() {
        let (decisions, literals) = rest.split_at(usize::from(*first).min(rest.len()));
        let forged = crate::codec::model::forged(decisions, literals, 1 << 12);
        let any = BodyModel::new(ModelSize::Small).unpack(&forged, &facts, 1 << 12);
        assert!(any.is_err() || any.is_ok_and(|raw| raw.len() <= 1 << 12));
    }
}

/// Makes a row with a valid header: its kind, number, writer and first block, as small numbers.
pub fn forged_row([kind, number, writer, first_block]: [u8; 4], content: &[u8]) -> Vec<u8> {
    let place = usize::from(kind) % RowKind::ALL.len();
    let kind = RowKind::ALL
        .get(place)
        .map_or(RowKind::Tail, |(kind, _)| *kind);
    let owner = RowOwner {
        file: 1,
        writer: u32::from(writer),
        first_block: u32::from(first_block),
    };
    owner.row(kind, u64::from(number), content)
}

/// Reads a row as each kind of row.
pub(crate) fn decode_rows(row: &[u8]) {
    let _place = black_box(BlockPlace::decode(row));
    let _tail = black_box(segment::TailRow::decode(row).map(|row| row.index.len()));
    let _checkpoint = black_box(checkpoint::Checkpoint::decode(row));
    let _stored = black_box(checkpoint::CheckpointFrame::decode(row));
    let _members = black_box(parity::decode(row));
    let _state = black_box(FileState::decode(row));
}
