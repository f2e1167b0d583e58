//! A segment that is being filled, the stream of sealed frames, and the directory rows with the
//! places of frames.
//!
//! A commit writes the new part of the open segment as a tail row; sealing writes all of it as one
//! block. Frames lie one after another in a stream that is cut into rows of equal size.

use crate::codec::bodies::{BodyMark, BodyWriter};
use crate::codec::index::Record;
use crate::codec::{CodecError, frame, index, record};
use crate::event::ObjectKey;
use crate::id::{ObjectId, ResourceId};
use crate::limits::{BLOCK_RAW, BLOCK_RECORDS, EXTENT, MAX_BLOCK_RAW, MAX_RECORD, len64};
use bincode::{Decode, Encode};

/// The first numbers of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SegmentStart {
    pub(crate) record: u64,
    pub(crate) object: u32,
    pub(crate) blob: u32,
}

/// A segment that is being filled.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) start: SegmentStart,
    pub(crate) objects: Vec<ObjectKey>,
    pub(crate) records: Vec<Record>,
    pub(crate) bodies: BodyWriter,
    pub(crate) blobs: u32,
    pub(crate) note_bytes: usize,
    done: SegmentMark,
}

/// How much of the segment is durable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SegmentMark {
    objects: usize,
    records: usize,
    bodies: BodyMark,
    blobs: u32,
}

impl Segment {
    /// Begins an empty segment with the given numbers.
    pub(crate) fn begin(start: SegmentStart) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Begins an empty segment behind this one.
    pub(crate) fn next(&self) -> Self {
        Self::begin(SegmentStart {
            record: self.end(),
            object: self.start.object.saturating_add(count(self.objects.len())),
            blob: self.start.blob.saturating_add(self.blobs),
        })
    }

    /// Returns the number of the next record.
    pub(crate) fn end(&self) -> u64 {
        self.start.record.saturating_add(len64(self.records.len()))
    }

    /// Returns whether it has as many records or bytes as a block.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= BLOCK_RECORDS
            || self.bodies.len().saturating_add(self.note_bytes) >= BLOCK_RAW
    }

    /// Returns whether a part of it is not durable.
    pub(crate) fn is_pending(&self) -> bool {
        self.records.len() > self.done.records
    }

    /// Returns a mark of the current end, for [`Self::set_done`] once it is durable.
    pub(crate) fn now(&self) -> SegmentMark {
        SegmentMark {
            objects: self.objects.len(),
            records: self.records.len(),
            bodies: self.bodies.mark(),
            blobs: self.blobs,
        }
    }

    /// Everything up to a mark is durable.
    pub(crate) fn set_done(&mut self, done: SegmentMark) {
        self.done = done;
    }

    /// Returns the row of the part that is not durable yet; of the whole segment if `whole`.
    pub(crate) fn tail_row(
        &self,
        whole: bool,
        resource_of: impl Fn(ObjectId) -> Option<ResourceId>,
    ) -> Result<Vec<u8>, CodecError> {
        let done = if whole {
            SegmentMark::default()
        } else {
            self.done
        };
        let start = SegmentStart {
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
        let raw = frame::join_columns([&record::encode(&start)?, &index, &bodies]);
        frame::pack(&raw, frame::LEVEL_QUICK, &[])
    }
}

/// Counts a segment's records or objects.
#[expect(
    clippy::expect_used,
    reason = "the appender bounds the number of records"
)]
fn count(len: usize) -> u32 {
    u32::try_from(len).expect("a reel has at most MAX_ITEMS records")
}

/// A decoded tail row.
pub(crate) struct TailRow {
    pub(crate) start: SegmentStart,
    pub(crate) index: Vec<u8>,
    pub(crate) bodies: Vec<u8>,
}

impl TailRow {
    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        let raw = frame::unpack(row, &[], MAX_BLOCK_RAW.saturating_add(MAX_RECORD))?;
        let [start, index, bodies] = frame::split_columns(&raw, "a tail row")?;
        Ok(Self {
            start: record::decode(start)?,
            index: index.to_vec(),
            bodies: bodies.to_vec(),
        })
    }
}

/// The writing end of the stream: the durable part of its last row, and the rest.
#[derive(Debug, Default)]
pub(crate) struct FrameStream {
    /// The number of whole rows that are durable.
    whole: u64,
    /// The durable part of the row behind them.
    part: Vec<u8>,
    /// The bytes behind that, which are not durable yet.
    pending: Vec<u8>,
}

impl FrameStream {
    /// Resumes a stream of `whole` rows, followed by the bytes in `part`.
    pub(crate) fn resume(whole: u64, part: Vec<u8>) -> Self {
        Self {
            whole,
            part,
            pending: Vec::new(),
        }
    }

    /// Returns the offset of the next frame.
    fn end(&self) -> u64 {
        let rest = self.part.len().saturating_add(self.pending.len());
        let whole = self.whole.saturating_mul(len64(EXTENT));
        whole.saturating_add(len64(rest))
    }

    /// Appends a frame, and returns its place.
    #[expect(clippy::expect_used, reason = "a block's columns are bounded")]
    pub(crate) fn push(&mut self, frame: &[u8]) -> FrameSpan {
        let offset = self.end();
        self.pending.extend_from_slice(frame);
        FrameSpan {
            offset,
            len: u32::try_from(frame.len())
                .expect("a frame is no longer than the columns in it, at most MAX_BLOCK_RAW"),
        }
    }

    /// Returns the rows that must be written to make everything durable.
    pub(crate) fn rows(&self) -> Vec<(u64, Vec<u8>)> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let all = [&self.part[..], &self.pending[..]].concat();
        (self.whole..)
            .zip(all.chunks(EXTENT).map(<[u8]>::to_vec))
            .collect()
    }

    /// Everything is durable; ends the last row, so that the next frame begins in a new one.
    pub(crate) fn close_row(&mut self) {
        self.set_done();
        if !self.part.is_empty() {
            self.part.clear();
            self.whole = self.whole.saturating_add(1);
        }
    }

    /// Everything is durable.
    pub(crate) fn set_done(&mut self) {
        self.part.append(&mut self.pending);
        let rows = self.part.len() / EXTENT;
        self.part.drain(..rows * EXTENT);
        self.whole = self.whole.saturating_add(len64(rows));
    }
}

/// Returns the rows of a span of the stream: row number, and the bytes of it.
pub(crate) fn rows_of(span: FrameSpan) -> impl Iterator<Item = (u64, usize, usize)> {
    let size = len64(EXTENT);
    let FrameSpan { offset, len } = span;
    let end = offset.saturating_add(u64::from(len));
    (offset / size..end.div_ceil(size)).map(move |row| {
        let start = row.saturating_mul(size);
        let within =
            |at: u64| usize::try_from(at.saturating_sub(start)).map_or(EXTENT, |at| at.min(EXTENT));
        (row, within(offset), within(end))
    })
}

/// A frame's place in its stream, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FrameSpan {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// The places of a sealed block's bodies and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct BlockPlace {
    /// The first numbers of the block.
    pub(crate) start: SegmentStart,
    /// The number of its blobs.
    pub(crate) blobs: u32,
    /// The block whose columns are the prefix of this one's frame; itself if there is none.
    pub(crate) prefix: u32,
    pub(crate) bodies: FrameSpan,
    pub(crate) index: FrameSpan,
}

impl BlockPlace {
    /// Returns the directory's row of the block.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, CodecError> {
        frame::pack(&record::encode(self)?, frame::LEVEL_QUICK, &[])
    }

    /// Reads the directory's row of a block.
    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        record::decode(&frame::unpack(row, &[], MAX_RECORD)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_pushed_is_found_again() {
        let mut stream = FrameStream::default();
        let mut rows = BTreeMap::new();
        let mut frames = Vec::new();
        for number in 0u8..40 {
            let frame = vec![number; usize::from(number) * 611 + 1];
            frames.push((stream.push(&frame), frame));
            if number % 3 == 0 {
                rows.extend(stream.rows());
                stream.set_done();
                assert!(stream.rows().is_empty());
            }
        }
        rows.extend(stream.rows());
        assert!(rows.values().rev().skip(1).all(|row| row.len() == EXTENT));
        for (span, frame) in frames {
            let found: Vec<u8> = rows_of(span)
                .flat_map(|(row, from, to)| rows[&row][from..to].to_vec())
                .collect();
            assert_eq!(found, frame);
        }
    }
}
