//! Writes the records of a reel anew in their tightest form: in groups of blocks that share a text, compressed with
//! the strongest level, in a file without a database.
//!
//! A group begins with a block without records. It has one blob: the text that the group's blocks share; its bytes are
//! the prefix of all of them. So any block is read with its group's first one alone, and damage of a group stays in it
//! apart from what is encoded against it.

use crate::codec::bodies::{BodyMark, BodyWriter};
use crate::codec::index::{Record, RecordContent, Rv};
use crate::codec::{CodecError, frame, index, record};
use crate::error::{ReadError, SealError};
use crate::file::append::folder_of;
use crate::file::body::key_of;
use crate::file::checkpoint;
use crate::file::checkpoint::Checkpoint;
use crate::file::encoder::Encoder;
use crate::file::reel::Reel;
use crate::file::row::RowKind;
use crate::file::row_file::RowFile;
use crate::file::scan::Event;
use crate::file::segment::{BlockPlace, FrameStream, Segment, SegmentStart};
use crate::file::shared_text::shared_text;
use crate::file::tables::FileState;
use crate::id::{ObjectId, ResourceId, Stamp};
use crate::limits::{
    BLOCK_RAW, MAX_PREFIX, SEALED_BLOCK_RECORDS, SEALED_CHECKPOINT_RECORDS, SEALED_GROUP, place32,
};
use crate::note::{Note, NoteEntry};
use std::collections::HashSet;
use std::path::Path;

/// How many bytes of live objects' bodies are kept in memory; others go to a temporary file.
const BODY_MEMORY: u64 = 256 << 20;
/// How many bytes of the prefix its lengths take.
const PREFIX_HEAD: usize = 16;

/// A block that waits for its group to be complete.
struct OpenBlock {
    start: SegmentStart,
    blobs: u32,
    bodies: Vec<u8>,
    text: std::ops::Range<usize>,
    index: Vec<u8>,
}

/// Writes a sealed file.
pub(crate) struct SealWriter<'a> {
    reel: &'a Reel,
    file: RowFile,
    encoder: Encoder,
    segment: Segment,
    /// The number of the group's first block.
    group: u32,
    open: Vec<OpenBlock>,
    bodies: FrameStream,
    indexes: FrameStream,
    left_out: HashSet<ResourceId>,
    checkpoints: Vec<u64>,
}

impl<'a> SealWriter<'a> {
    /// Begins a file that does not exist yet.
    pub(crate) fn create(reel: &'a Reel, path: &Path) -> Result<Self, SealError> {
        let state = FileState {
            finished: reel.is_finished(),
            records: reel.end().0,
        };
        let state = state.encode().map_err(|error| refused(&error))?;
        let file = std::fs::metadata(reel.path())
            .and_then(|facts| RowFile::create(path, facts.permissions(), state))
            .map_err(|source| written(path, source))?;
        let start = SegmentStart {
            blob: 1,
            ..SegmentStart::default()
        };
        Ok(Self {
            reel,
            file,
            encoder: Encoder::new(folder_of(path), Some(BODY_MEMORY)),
            segment: Segment::begin(start),
            group: 0,
            open: Vec::new(),
            bodies: FrameStream::default(),
            indexes: FrameStream::default(),
            left_out: HashSet::new(),
            checkpoints: Vec::new(),
        })
    }

    fn block(&self) -> u32 {
        let open = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        self.group.saturating_add(1).saturating_add(open)
    }

    /// Writes an event.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), SealError> {
        let head = &event.head;
        let key = key_of(self.reel, head.object).ok_or(ReadError::NoSuchEvent {
            seq: head.seq,
            end: self.reel.end(),
        })?;
        self.new_objects(head.object)?;
        self.encoder.make_room().map_err(|error| refused(&error))?;
        let block = self.block();
        self.encoder
            .push(
                &mut self.segment,
                block,
                head.object,
                &key.to_key(),
                head.kind,
                &event.body,
            )
            .map_err(|error| refused(&error))?;
        let content = RecordContent::Event {
            kind: head.kind,
            evidence: head.evidence,
            object: head.object,
            connection: head.connection,
            version: Rv::new(&head.resource_version),
        };
        self.record(head.stamp, content)
    }

    /// Takes in the names of objects up to one that is new.
    fn new_objects(&mut self, object: ObjectId) -> Result<(), SealError> {
        while self.segment.next().start.object <= object.0 {
            let next = ObjectId(self.segment.next().start.object);
            let key = key_of(self.reel, next).ok_or(SealError::TooLarge)?;
            self.segment.objects.push(key.to_key());
        }
        Ok(())
    }

    /// Writes a note.
    pub(crate) fn note(&mut self, entry: &NoteEntry) -> Result<(), SealError> {
        let mut note = entry.note.clone();
        self.left_out.extend(checkpoint::left_out(&note));
        if let Note::OddLine { blobs, .. } | Note::Document { blobs, .. } = &mut note {
            for blob in blobs {
                let text = self.reel.blob(*blob)?;
                let segment = &mut self.segment;
                let mut log = self.encoder.blobs.log(
                    &mut segment.bodies.blobs,
                    segment.start.blob,
                    &mut segment.blobs,
                );
                *blob = log.always(&text).ok_or(SealError::TooLarge)?;
            }
        }
        let bytes = record::encode(&note).map_err(|error| refused(&error))?;
        self.segment.note_bytes = self.segment.note_bytes.saturating_add(bytes.len());
        self.record(entry.stamp, RecordContent::Note(bytes))
    }

    fn record(&mut self, stamp: Stamp, content: RecordContent) -> Result<(), SealError> {
        self.segment.records.push(Record { stamp, content });
        let bytes = self
            .segment
            .bodies
            .len()
            .saturating_add(self.segment.note_bytes);
        if self.segment.records.len() >= SEALED_BLOCK_RECORDS || bytes >= BLOCK_RAW {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), SealError> {
        let next = self.segment.next();
        let segment = std::mem::replace(&mut self.segment, next);
        let bodies = segment.bodies.columns_since(BodyMark::default());
        let [_, _, text, _] =
            frame::column_places(&bodies, "a block's bodies").map_err(|error| refused(&error))?;
        let reel = self.reel;
        let resource_of = |object: ObjectId| key_of(reel, object).map(|key| key.resource);
        let index = index::encode(&segment.objects, &segment.records, resource_of);
        self.open.push(OpenBlock {
            start: segment.start,
            blobs: segment.blobs,
            bodies,
            text,
            index,
        });
        if self.open.len() >= SEALED_GROUP {
            self.end_group()?;
        }
        Ok(())
    }

    /// Writes a group: its shared text, then its blocks.
    fn end_group(&mut self) -> Result<(), SealError> {
        let open = std::mem::take(&mut self.open);
        let Some(first) = open.first() else {
            return Ok(());
        };
        let texts = open
            .iter()
            .map(|block| block.bodies.get(block.text.clone()).unwrap_or_default());
        let shared = shared_text(&texts, MAX_PREFIX - PREFIX_HEAD);
        let mut prefix = BodyWriter::default();
        prefix.blobs.push(&shared);
        let prefix = prefix.columns_since(BodyMark::default());
        let head = OpenBlock {
            start: SegmentStart {
                blob: first.start.blob.saturating_sub(1),
                ..first.start
            },
            blobs: 1,
            bodies: Vec::new(),
            text: 0..0,
            index: index::encode(&[], &[], |_| None),
        };
        let number = self.group;
        self.block_rows(number, &head, &prefix, &[])?;
        for (next, block) in (1..).zip(&open) {
            let number = number.checked_add(next).ok_or(SealError::TooLarge)?;
            self.block_rows(number, block, &block.bodies, &prefix)?;
        }
        let blocks = u32::try_from(open.len()).map_err(|_too_many| SealError::TooLarge)?;
        let next = blocks.saturating_add(1);
        self.group = number.checked_add(next).ok_or(SealError::TooLarge)?;
        self.checkpoint()?;
        self.write_extents()?;
        // The next group's text is a blob, too.
        self.segment.start.blob = self.segment.start.blob.saturating_add(1);
        Ok(())
    }
}

impl SealWriter<'_> {
    /// Writes a block: its row of the directory, its index and its bodies. Nothing else lies in their extents, so that
    /// a cut leaves the blocks in front of it, and other damage takes few.
    fn block_rows(
        &mut self,
        number: u32,
        block: &OpenBlock,
        bodies: &[u8],
        prefix: &[u8],
    ) -> Result<(), SealError> {
        let row = self.place(block, bodies, prefix)?;
        self.file
            .row(RowKind::Directory, u64::from(number), row)
            .map_err(|source| written(self.reel.path(), source))?;
        self.write_extents()
    }

    /// Compresses a block, and gives its row of the directory.
    fn place(
        &mut self,
        block: &OpenBlock,
        bodies: &[u8],
        prefix: &[u8],
    ) -> Result<Vec<u8>, SealError> {
        let packed =
            frame::pack(bodies, frame::LEVEL_SEALED, prefix).map_err(|error| refused(&error))?;
        let index =
            frame::pack(&block.index, frame::LEVEL_SEALED, &[]).map_err(|error| refused(&error))?;
        let place = BlockPlace {
            start: block.start,
            blobs: block.blobs,
            prefix: self.group,
            bodies: self.bodies.push(&packed),
            index: self.indexes.push(&index),
        };
        place.encode().map_err(|error| refused(&error))
    }

    /// Writes the live objects once more if many records lie behind the last time.
    fn checkpoint(&mut self) -> Result<(), SealError> {
        let last = self.checkpoints.last().copied().unwrap_or(0);
        let seq = self.segment.start.record;
        let is_due = seq.saturating_sub(last) >= SEALED_CHECKPOINT_RECORDS;
        if !is_due || !self.encoder.fits_memory() {
            return Ok(());
        }
        let count = self.checkpoints.len().saturating_add(1);
        let number = u32::try_from(count).map_err(|_too_many| SealError::TooLarge)?;
        let parent = place32(checkpoint::parent(number)).checked_sub(1);
        let parent_seq = parent.and_then(|place| self.checkpoints.get(place));
        let taken = Checkpoint::write(
            &mut self.encoder,
            &self.left_out,
            (seq, parent_seq.copied().unwrap_or(0)),
            &mut self.bodies,
            frame::LEVEL_SEALED,
        );
        let row = taken
            .and_then(|taken| taken.encode())
            .map_err(|error| refused(&error))?;
        self.checkpoints.push(seq);
        self.file
            .row(RowKind::Checkpoint, u64::from(number), row)
            .map_err(|source| written(self.reel.path(), source))
    }

    /// Writes the streams so far, and ends their last rows.
    fn write_extents(&mut self) -> Result<(), SealError> {
        for (kind, stream) in [
            (RowKind::Index, &mut self.indexes),
            (RowKind::Bodies, &mut self.bodies),
        ] {
            for (number, row) in stream.rows() {
                self.file
                    .row(kind, number, row)
                    .map_err(|source| written(self.reel.path(), source))?;
            }
            stream.close_row();
        }
        Ok(())
    }

    /// Ends the file, and gives its length.
    pub(crate) fn end(mut self) -> Result<u64, SealError> {
        if !self.segment.records.is_empty() {
            self.end_block()?;
        }
        self.end_group()?;
        let path = self.reel.path();
        self.file.end().map_err(|source| written(path, source))
    }
}

fn refused(error: &CodecError) -> SealError {
    SealError::Encode {
        cause: error.to_string(),
    }
}

fn written(path: &Path, source: std::io::Error) -> SealError {
    SealError::Write {
        path: path.to_owned(),
        source,
    }
}
