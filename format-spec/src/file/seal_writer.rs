//! Writes the records of a reel anew in their tightest form: in groups of blocks that share a text, compressed with
//! the strongest level, in a file without a database.
//!
//! In a recording that is small enough to stay in a reader's memory once decoded, one model codes a group, block after
//! block: the first blocks make the later ones small, and a block is read with those in front of it in its group. So
//! damage of a block stays in its group, apart from what is encoded against it, and a cut leaves what lies in front.
//!
//! A model takes some 30 microseconds an event. In a larger recording each query reads another group, so its
//! blocks are compressed by zstd alone, unless the smallest file is wanted: a group begins with a block without records, whose one blob is the text that
//! the group's blocks share; its bytes are the prefix of all of them.

use crate::codec::bodies::{BodyMark, BodyWriter};
use crate::codec::index::{Record, RecordContent, Rv};
use crate::codec::model::{BlockFacts, BodyModel, EventFacts, ModelSize};
use crate::codec::{CodecError, frame, index, packed_index, record};
use crate::error::{ReadError, SealError};
use crate::file::append::folder_of;
use crate::file::checkpoint::CheckpointSeries;
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
    BLOCK_RAW, MAX_GROUP, MAX_MODEL_RAW, MAX_PREFIX, MODELLED_BLOCK_RAW, MODELLED_BLOCK_RECORDS,
    MODELLED_GROUP_RECORDS, MODELLED_RECORDS, SEALED_BLOCK_RECORDS, SEALED_CHECKPOINT_RECORDS,
    SEALED_GROUP, SMALLEST_GROUP_RECORDS,
};
use crate::note::{Note, NoteEntry};
use crate::uid::uuid_number;
use std::path::Path;

/// How many bytes of live objects' bodies are kept in memory; others go to a temporary file.
const BODY_MEMORY: u64 = 256 << 20;
/// How many bytes of the prefix its lengths take.
const PREFIX_HEAD: usize = 16;

/// How small a sealed file becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SealDensity {
    /// A question to a large recording takes milliseconds.
    #[default]
    Usual,
    /// A model codes large recordings, too: a third fewer bytes, but the first question to a part of one takes seconds.
    Smallest,
}

/// A block of a large recording that waits for its group to be complete.
struct OpenBlock {
    start: SegmentStart,
    blobs: u32,
    bodies: Vec<u8>,
    text: std::ops::Range<usize>,
    index: Vec<u8>,
}

/// A group that is being written: what codes its next block.
struct OpenGroup {
    model: BodyModel,
    /// The number of its last block, once it has one, and how many blocks and records it has.
    last: Option<u32>,
    blocks: usize,
    records: usize,
}

impl OpenGroup {
    fn new() -> Self {
        Self {
            model: BodyModel::new(ModelSize::Large),
            last: None,
            blocks: 0,
            records: 0,
        }
    }
}

/// Writes a sealed file.
pub(crate) struct SealWriter<'a> {
    reel: &'a Reel,
    file: RowFile,
    encoder: Encoder,
    segment: Segment,
    /// The number of the next block.
    block: u32,
    group: OpenGroup,
    /// The blocks of the group of a large recording.
    open: Vec<OpenBlock>,
    /// Whether groups share a text, instead of a model.
    is_large: bool,
    /// The records with which a group that a model codes ends.
    group_records: usize,
    /// How many groups lie before it.
    groups: u32,
    bodies: FrameStream,
    indexes: FrameStream,
    checkpoints: CheckpointSeries,
}

impl<'a> SealWriter<'a> {
    /// Begins a file that does not exist yet.
    pub(crate) fn create(
        reel: &'a Reel,
        path: &Path,
        density: SealDensity,
    ) -> Result<Self, SealError> {
        let state = FileState {
            finished: reel.is_finished(),
            records: reel.end().0,
        };
        let state = state.encode().map_err(|error| refused(&error))?;
        let file = RowFile::create(path, reel.facts().permissions(), state)
            .map_err(|source| written(path, source))?;
        let has_many = reel.end().0 > MODELLED_RECORDS;
        let is_large = has_many && density == SealDensity::Usual;
        let encoder = Encoder::new(folder_of(path), Some(BODY_MEMORY));
        let encoder = if is_large {
            encoder
        } else {
            encoder.counting_pieces()
        };
        Ok(Self {
            reel,
            file,
            encoder,
            segment: Segment::begin(SegmentStart {
                // The group's text is a blob, too.
                blob: u32::from(is_large),
                ..SegmentStart::default()
            }),
            block: 0,
            group: OpenGroup::new(),
            open: Vec::new(),
            is_large,
            group_records: if has_many {
                SMALLEST_GROUP_RECORDS
            } else {
                MODELLED_GROUP_RECORDS
            },
            groups: 0,
            bodies: FrameStream::default(),
            indexes: FrameStream::default(),
            checkpoints: CheckpointSeries::default(),
        })
    }

    /// Writes an event.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), SealError> {
        let head = &event.head;
        let key = self.reel.key(head.object).ok_or(ReadError::NoSuchEvent {
            seq: head.seq,
            end: self.reel.end(),
        })?;
        self.new_objects(head.object)?;
        self.encoder.make_room().map_err(|error| refused(&error))?;
        let unit = if self.is_large {
            // The block of the group's text is in front of those that wait.
            let before = u32::try_from(self.open.len() + 1).ok();
            before
                .and_then(|before| self.block.checked_add(before))
                .ok_or(SealError::TooLarge)?
        } else {
            // To read one body, its whole group is read.
            self.groups
        };
        self.encoder
            .push(
                &mut self.segment,
                unit,
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
            let key = self.reel.key(next).ok_or(SealError::TooLarge)?;
            self.segment.objects.push(key.to_key());
        }
        Ok(())
    }

    /// Writes a note.
    pub(crate) fn note(&mut self, entry: &NoteEntry) -> Result<(), SealError> {
        let mut note = entry.note.clone();
        self.checkpoints.note(&note);
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
        let (most_records, most_bytes) = if self.is_large {
            (SEALED_BLOCK_RECORDS, BLOCK_RAW)
        } else {
            (MODELLED_BLOCK_RECORDS, MODELLED_BLOCK_RAW)
        };
        if self.segment.records.len() >= most_records || bytes >= most_bytes {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), SealError> {
        let next = self.segment.next();
        let segment = std::mem::replace(&mut self.segment, next);
        if self.is_large {
            self.wait_for_group(&segment)
        } else {
            self.write_modelled(&segment)
        }
    }

    fn index_of(&self, segment: &Segment) -> Vec<u8> {
        let resource_of = |object: ObjectId| self.reel.key(object).map(|key| key.resource);
        index::encode(&segment.objects, &segment.records, resource_of)
    }

    fn wait_for_group(&mut self, segment: &Segment) -> Result<(), SealError> {
        let bodies = segment.bodies.columns_since(BodyMark::default());
        let [_, _, text, _] =
            frame::column_places(&bodies, "a block's bodies").map_err(|error| refused(&error))?;
        self.open.push(OpenBlock {
            start: segment.start,
            blobs: segment.blobs,
            bodies,
            text,
            index: self.index_of(segment),
        });
        if self.open.len() >= SEALED_GROUP {
            self.end_shared()?;
        }
        Ok(())
    }

    /// Writes a group of a large recording: its shared text, then its blocks.
    fn end_shared(&mut self) -> Result<(), SealError> {
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
        let group = self.block;
        let packed = packed_with(&prefix, &[])?;
        self.block_rows((head.start, head.blobs), group, &head.index, &packed)?;
        for block in &open {
            let packed = packed_with(&block.bodies, &prefix)?;
            self.block_rows((block.start, block.blobs), group, &block.index, &packed)?;
        }
        self.checkpoint()?;
        self.write_extents()?;
        // The next group's text is a blob, too.
        let blob = self.segment.start.blob.checked_add(1);
        self.segment.start.blob = blob.ok_or(SealError::TooLarge)?;
        Ok(())
    }

    /// Writes a block: its row of the directory, its index and its bodies. Nothing else lies in their extents, so that
    /// a cut leaves the blocks in front of it, and other damage takes few.
    fn block_rows(
        &mut self,
        (start, blobs): (SegmentStart, u32),
        prefix: u32,
        index: &[u8],
        packed: &[u8],
    ) -> Result<(), SealError> {
        let index = packed_index::pack(index, start.object, frame::LEVEL_SEALED);
        let index = index.map_err(|error| refused(&error))?;
        let number = self.block;
        self.block = number.checked_add(1).ok_or(SealError::TooLarge)?;
        let place = BlockPlace {
            start,
            blobs,
            prefix,
            bodies: self.bodies.push(packed),
            index: self.indexes.push(&index),
        };
        let row = place.encode().map_err(|error| refused(&error))?;
        self.file
            .row(RowKind::Directory, u64::from(number), row)
            .map_err(|source| written(self.reel.path(), source))?;
        self.write_extents()
    }

    /// Writes a block that continues its group's model.
    fn write_modelled(&mut self, segment: &Segment) -> Result<(), SealError> {
        let number = self.block;
        let reel = self.reel;
        let resource_of = |object: ObjectId| reel.key(object).map(|key| key.resource);
        let raw = segment.bodies.columns_since(BodyMark::default());
        let facts = facts_of(segment, resource_of);
        let packed = if raw.len() <= MAX_MODEL_RAW {
            self.group.model.pack(&raw, &facts).ok()
        } else {
            None
        };
        let is_modelled = packed.is_some();
        if !is_modelled {
            // It is a group of its own, and the next one begins another.
            self.end_group();
        }
        let packed = match packed {
            Some(packed) => packed,
            None => frame::pack_pieces(&raw).map_err(|error| refused(&error))?,
        };
        let prefix = self.group.last.unwrap_or(number);
        let index = self.index_of(segment);
        self.block_rows((segment.start, segment.blobs), prefix, &index, &packed)?;
        self.group.last = Some(number);
        self.group.blocks += 1;
        self.group.records += segment.records.len();
        let is_full = self.group.blocks >= MAX_GROUP || self.group.records >= self.group_records;
        if !is_modelled || is_full {
            self.end_group();
            self.write_extents()?;
        }
        Ok(())
    }

    fn end_group(&mut self) {
        if self.group.last.is_some() {
            self.groups = self.groups.saturating_add(1);
        }
        self.group = OpenGroup::new();
    }
}

impl SealWriter<'_> {
    /// Writes the live objects once more if many records lie behind the last time.
    fn checkpoint(&mut self) -> Result<(), SealError> {
        let seq = self.segment.start.record;
        let is_due = self.checkpoints.records_before(seq) >= SEALED_CHECKPOINT_RECORDS;
        if !is_due || !self.encoder.fits_memory() {
            return Ok(());
        }
        let bodies = &mut self.bodies;
        let taken = self
            .checkpoints
            .take(&mut self.encoder, seq, bodies, frame::LEVEL_SEALED);
        let (number, row) = taken.map_err(|error| refused(&error))?;
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
        self.end_shared()?;
        let path = self.reel.path();
        self.file.end().map_err(|source| written(path, source))
    }
}

/// Returns what a reader will know of a segment's bodies from its index.
fn facts_of(segment: &Segment, resource_of: impl Fn(ObjectId) -> Option<ResourceId>) -> BlockFacts {
    let events = segment.records.iter().filter_map(|record| {
        let RecordContent::Event {
            object, version, ..
        } = &record.content
        else {
            return None;
        };
        Some(EventFacts {
            object: object.0,
            resource: resource_of(*object)?.0,
            version: match version {
                Rv::Number(number) => Some(*number),
                Rv::Text(_) => None,
            },
            wall: record.stamp.wall.micros,
        })
    });
    let objects = segment.objects.iter();
    BlockFacts {
        first_object: segment.start.object,
        objects: objects
            .map(|key| (key.resource.0, uuid_number(&key.uid)))
            .collect(),
        events: events.collect(),
    }
}

fn packed_with(bodies: &[u8], prefix: &[u8]) -> Result<Vec<u8>, SealError> {
    frame::pack(bodies, frame::LEVEL_SEALED, prefix).map_err(|error| refused(&error))
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
