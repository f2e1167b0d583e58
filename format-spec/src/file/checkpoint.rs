//! Checkpoints: the bodies of live objects, written once more at intervals, so that the state at a
//! moment needs neither the whole reel before it nor the last block of every object. They are
//! redundant: without them everything can be read, only more slowly.
//!
//! Checkpoint n has the live objects that changed since checkpoint p, its parent: n with its lowest
//! set bit cleared; 0 is the empty start of the reel. The state at checkpoint n is therefore in n,
//! its parent and so on: in as many checkpoints as n has bits set. Events are left out: no query
//! reads an hour of them at once, and they are half of all objects.

use super::encoder::Encoder;
use crate::codec::bodies::{Base, Bodies, BodyCounts, BodyMark, BodySlot, BodyWriter, Delta};
use crate::codec::varint::{self, FieldReader};
use crate::codec::{CodecError, frame, record, splice};
use crate::file::reel::Reel;
use crate::file::segment::{FrameSpan, FrameStream};
use crate::id::{ObjectId, ResourceId};
use crate::limits::{BLOCK_RAW, MAX_BLOCK_RAW, MAX_RECORD, len64, place32};
use crate::note::Note;
use bincode::{Decode, Encode};
use std::collections::HashSet;

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Checkpoint {
    /// The number of records before it.
    pub(crate) seq: u64,
    /// The number of records before its parent.
    pub(crate) parent_seq: u64,
    /// Its frames, in the order of the objects.
    pub(crate) parts: Vec<CheckpointPart>,
}

/// A frame of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct CheckpointPart {
    /// Its first object.
    pub(crate) first: u32,
    /// Its place among the bodies.
    pub(crate) span: FrameSpan,
}

/// Returns the number of a checkpoint's parent.
pub(crate) fn parent(number: u32) -> u32 {
    number & number.wrapping_sub(1)
}

/// Returns whether objects of a resource are left out: those whose resource is called `events`.
pub(crate) fn left_out(note: &Note) -> Option<ResourceId> {
    match note {
        Note::Resource(info) if info.plural == "events" => Some(info.id),
        _ => None,
    }
}

/// The checkpoints of a file that is being written.
#[derive(Debug, Default)]
pub(crate) struct CheckpointSeries {
    /// The number of records before each.
    taken: Vec<u64>,
    /// Resources that they leave out.
    left_out: HashSet<ResourceId>,
}

impl CheckpointSeries {
    /// Continues the checkpoints of a reel.
    pub(crate) fn of(reel: &Reel) -> Self {
        Self {
            taken: reel.loaded.checkpoints.iter().map(|at| at.seq).collect(),
            left_out: reel.left_out().iter().copied().collect(),
        }
    }

    /// Leaves out the resource of a note, if it is one that checkpoints leave out.
    pub(crate) fn note(&mut self, note: &Note) {
        self.left_out.extend(left_out(note));
    }

    /// Returns the number of records between the last checkpoint and `seq`.
    pub(crate) fn records_before(&self, seq: u64) -> u64 {
        seq.saturating_sub(self.taken.last().copied().unwrap_or_default())
    }

    /// Writes the live objects once more. Returns the checkpoint's number and its row.
    pub(crate) fn take(
        &mut self,
        encoder: &mut Encoder,
        seq: u64,
        stream: &mut FrameStream,
        level: i32,
    ) -> Result<(u32, Vec<u8>), CodecError> {
        let count = self.taken.len() + 1;
        let number = u32::try_from(count).map_err(|_too_many| CodecError::Bound {
            what: "the number of checkpoints",
            found: u128::from(len64(count)),
            bound: u128::from(u32::MAX),
        })?;
        // One without a parent has all live objects.
        let parent = place32(parent(number)).checked_sub(1);
        let parent_seq = parent.and_then(|place| self.taken.get(place).copied());
        let span = (seq, parent_seq.unwrap_or_default());
        let row = Checkpoint::write(encoder, &self.left_out, span, stream, level)?.encode()?;
        self.taken.push(seq);
        Ok((number, row))
    }
}

impl Checkpoint {
    /// Writes a checkpoint's frames into the stream.
    fn write(
        encoder: &mut Encoder,
        left_out: &HashSet<ResourceId>,
        (seq, parent_seq): (u64, u64),
        stream: &mut FrameStream,
        level: i32,
    ) -> Result<Self, CodecError> {
        let mut parts = Vec::new();
        let mut open = OpenPart::default();
        for object in encoder.changed_since(parent_seq, left_out) {
            let Some((key, body)) = encoder.live_body(object)? else {
                continue;
            };
            open.push(object, &splice::seed_of(key.view()), &body, &encoder.blobs);
            if open.bodies.len() >= BLOCK_RAW {
                parts.push(open.end(stream, level)?);
            }
        }
        if open.first.is_some() {
            parts.push(open.end(stream, level)?);
        }
        Ok(Self {
            seq,
            parent_seq,
            parts,
        })
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, CodecError> {
        frame::pack(&record::encode(self)?, frame::LEVEL_QUICK, &[])
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        record::decode(&frame::unpack(row, &[], MAX_RECORD)?)
    }

    /// Returns the frame with an object.
    pub(crate) fn part_of(&self, object: ObjectId) -> Option<FrameSpan> {
        let count = self.parts.partition_point(|part| part.first <= object.0);
        let part = self.parts.get(count.checked_sub(1)?)?;
        Some(part.span)
    }
}

/// A frame that is being filled.
#[derive(Default)]
struct OpenPart {
    first: Option<u32>,
    last: u32,
    numbers: Vec<u8>,
    bodies: BodyWriter,
}

impl OpenPart {
    fn push(
        &mut self,
        object: ObjectId,
        seed: &[u8],
        body: &[u8],
        known: &crate::file::encoder::BlobTexts,
    ) {
        self.first.get_or_insert(object.0);
        varint::put(
            &mut self.numbers,
            u128::from(object.0.saturating_sub(self.last)),
        );
        self.last = object.0;
        let mut log = known.as_is();
        let bodies = &mut self.bodies;
        splice::encode(seed, body, &mut log, &mut bodies.ops, &mut bodies.text);
        bodies.end_entry(Base::Whole);
    }

    fn end(&mut self, stream: &mut FrameStream, level: i32) -> Result<CheckpointPart, CodecError> {
        let done = std::mem::take(self);
        let bodies = done.bodies.columns_since(BodyMark::default());
        let raw = frame::join_columns([&done.numbers, &bodies]);
        let packed = frame::pack(&raw, level, &[])?;
        Ok(CheckpointPart {
            first: done.first.unwrap_or_default(),
            span: stream.push(&packed),
        })
    }
}

/// A frame of a checkpoint, read.
#[derive(Debug)]
pub(crate) struct CheckpointFrame {
    objects: Vec<u32>,
    pub(crate) bodies: Bodies,
}

impl CheckpointFrame {
    pub(crate) fn decode(packed: &[u8]) -> Result<Self, CodecError> {
        let raw = frame::unpack(packed, &[], MAX_BLOCK_RAW)?;
        let [numbers, bodies] = frame::column_places(&raw, "a checkpoint")?;
        let numbers = raw.get(numbers).unwrap_or_default();
        let mut numbers = FieldReader::new(numbers, "a checkpoint's object");
        let mut objects = Vec::new();
        let mut last = 0u32;
        while !numbers.is_empty() {
            last = last.saturating_add(numbers.number32()?);
            objects.push(last);
        }
        let most = BodyCounts {
            entries: objects.len(),
            blobs: 0,
        };
        let bodies = Bodies::decode_within(raw, &bodies, most)?;
        if bodies.len() != objects.len() {
            return Err(CodecError::Meaningless {
                what: "a checkpoint's number of objects",
                found: len64(objects.len()),
            });
        }
        Ok(Self { objects, bodies })
    }

    /// Returns the delta of an object against its seed.
    pub(crate) fn delta(&self, object: ObjectId) -> Option<Delta<'_>> {
        let place = self.objects.binary_search(&object.0).ok()?;
        match self.bodies.delta(BodySlot::Nth(place))? {
            (Base::Whole, delta) => Some(delta),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_checkpoints_lie_behind_one() {
        let mut number = 0b1011u32;
        let mut behind = Vec::new();
        while number > 0 {
            behind.push(number);
            number = parent(number);
        }
        assert_eq!(behind, [0b1011, 0b1010, 0b1000]);
    }
}
