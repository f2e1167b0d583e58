//! Owns a segment that is being filled: its records, new objects, bodies and blobs. Refuses to know
//! how bodies are coded.
//!
//! What a commit makes durable is a part of the open segment; what is sealed is the whole of it.

use crate::codec::bodies::{Mark, Writer};
use crate::codec::index::{self, Record};
use crate::codec::{CodecError, columns, frame, record};
use crate::event::ObjectKey;
use crate::id::{ObjectId, ResourceId};
use crate::limits::{BLOCK_RAW, BLOCK_RECORDS, MAX_BLOCK_RAW, MAX_RECORD};
use bincode::{Decode, Encode};

/// The numbers with which a segment begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Start {
    pub(crate) record: u64,
    pub(crate) object: u32,
    pub(crate) blob: u32,
}

/// A segment that is being filled.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) start: Start,
    pub(crate) objects: Vec<ObjectKey>,
    pub(crate) records: Vec<Record>,
    pub(crate) bodies: Writer,
    pub(crate) blobs: u32,
    /// The bytes of the notes.
    pub(crate) note_bytes: usize,
    done: Done,
}

/// How much of the segment is durable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    objects: usize,
    records: usize,
    bodies: Mark,
    blobs: u32,
}

impl Segment {
    /// Begins an empty segment with the given numbers.
    pub(crate) fn begin(start: Start) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Begins an empty segment behind this one.
    pub(crate) fn next(&self) -> Self {
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Self::begin(Start {
            record: self.end(),
            object: self.start.object.saturating_add(count(self.objects.len())),
            blob: self.start.blob.saturating_add(self.blobs),
        })
    }

    /// Gives the number of the record that comes next.
    pub(crate) fn end(&self) -> u64 {
        let len = u64::try_from(self.records.len()).unwrap_or(u64::MAX);
        self.start.record.saturating_add(len)
    }

    /// Tells whether it holds as much as a block should.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= BLOCK_RECORDS
            || self.bodies.len().saturating_add(self.note_bytes) >= BLOCK_RAW
    }

    /// Tells whether a part of it is not durable.
    pub(crate) fn is_pending(&self) -> bool {
        self.records.len() > self.done.records
    }

    /// Gives a mark of what is there now, to be handed to [`Self::set_done`] once it is durable.
    pub(crate) fn now(&self) -> Done {
        Done {
            objects: self.objects.len(),
            records: self.records.len(),
            bodies: self.bodies.mark(),
            blobs: self.blobs,
        }
    }

    /// Takes note that everything up to a mark is durable.
    pub(crate) fn set_done(&mut self, done: Done) {
        self.done = done;
    }

    /// Gives the row of the part that is not durable yet; of the whole segment if `whole`.
    pub(crate) fn tail_row(
        &self,
        whole: bool,
        resource_of: impl Fn(ObjectId) -> Option<ResourceId>,
    ) -> Result<Vec<u8>, CodecError> {
        let done = if whole { Done::default() } else { self.done };
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let start = Start {
            record: self.start.record + u64::from(count(done.records)),
            object: self.start.object + count(done.objects),
            blob: self.start.blob + done.blobs,
        };
        let index = index::encode(
            self.objects.get(done.objects..).unwrap_or_default(),
            self.records.get(done.records..).unwrap_or_default(),
            resource_of,
        );
        let bodies = self.bodies.columns_since(done.bodies);
        let raw = columns::join([&record::encode(&start)?, &index, &bodies]);
        frame::pack(&raw, frame::LEVEL_QUICK, &[])
    }
}

/// A tail row, read.
pub(crate) struct TailRow {
    pub(crate) start: Start,
    pub(crate) index: Vec<u8>,
    pub(crate) bodies: Vec<u8>,
}

impl TailRow {
    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        let raw = frame::unpack(row, &[], MAX_BLOCK_RAW.saturating_add(MAX_RECORD))?;
        let [start, index, bodies] = columns::split(&raw, "a tail row")?;
        Ok(Self {
            start: record::decode(start)?,
            index: index.to_vec(),
            bodies: bodies.to_vec(),
        })
    }
}
