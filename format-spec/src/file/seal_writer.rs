//! Writes the records of a reel anew in their tightest form: in groups of blocks that share a text, compressed with
//! the strongest level, in a file without a database.
//!
//! In a recording that is small enough to stay in a reader's memory once decoded, one model codes a group, block after
//! block: the first blocks make the later ones small, and a block is read with those in front of it in its group. So
//! damage of a block stays in its group, apart from what is encoded against it, and a cut leaves what lies in front.
//!
//! A model takes some 30 microseconds an event. In a larger recording each query reads another group, so its
//! blocks are compressed by zstd alone, unless the smallest file is wanted. There the bodies of a group lie by resource
//! and object, not in the order of the events: so what is alike lies together, and one block has all versions of an
//! object. A group begins with a block without records: its blobs are the text that the group's blocks share, and the
//! first object of each; its bytes are the prefix of all of them.

use crate::codec::bodies::{Bodies, BodyCounts, BodyMark, BodySlot, BodyWriter, put_owner};
use crate::codec::index::{Record, RecordContent, Rv};
use crate::codec::model::{BlockFacts, BodyModel, EventFacts, ModelSize};
use crate::codec::{CodecError, frame, index, packed_index, record};
use crate::error::{ReadError, SealError};
use crate::file::append::folder_of;
use crate::file::checkpoint::CheckpointSeries;
use crate::file::encoder::Encoder;
use crate::file::group::{OBJECT_GROUP_BLOBS, ObjectGroup};
use crate::file::origin::FileOrigin;
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
    SEALED_GROUP, SEALED_GROUP_RAW, SMALLEST_GROUP_RECORDS,
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
    /// The objects of its events, and their bodies.
    objects: Vec<ObjectId>,
    bodies: Bodies,
    index: Vec<u8>,
}

/// The bodies of one block of a group, by object.
#[derive(Default)]
struct ObjectBlock {
    last: ObjectId,
    owners: Vec<u8>,
    bodies: BodyWriter,
}

/// A group whose bodies lie by object.
struct GroupByObject {
    /// The columns of each block.
    columns: Vec<Vec<u8>>,
    /// The first object of each block that has bodies.
    firsts: Vec<(ResourceId, ObjectId)>,
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
    /// The blocks of the group of a large recording, and the bytes of their columns.
    open: Vec<OpenBlock>,
    open_raw: usize,
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
        let has_many = reel.end().0 > MODELLED_RECORDS;
        let is_large = has_many && density == SealDensity::Usual;
        let encoder = Encoder::new(folder_of(path), Some(BODY_MEMORY));
        let (encoder, origin) = if is_large {
            (encoder.by_groups(), FileOrigin::with_bodies_by_object())
        } else {
            (encoder.counting_pieces(), FileOrigin::of_this_program())
        };
        let file = RowFile::create(path, reel.facts().permissions(), state, &origin)
            .map_err(|source| written(path, source))?;
        Ok(Self {
            reel,
            file,
            encoder,
            segment: Segment::begin(SegmentStart {
                // The blobs of the block in front of a group.
                blob: if is_large { OBJECT_GROUP_BLOBS } else { 0 },
                ..SegmentStart::default()
            }),
            block: 0,
            group: OpenGroup::new(),
            open: Vec::new(),
            open_raw: 0,
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
        // To read one body, blocks of its whole group are read, or one block of it.
        let unit = self.groups;
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
        let raw = segment.bodies.columns_since(BodyMark::default());
        self.open_raw = self.open_raw.saturating_add(raw.len());
        let bodies = Bodies::decode(raw, BodyCounts::UNKNOWN).map_err(|error| refused(&error))?;
        let objects = segment.records.iter();
        let objects = objects.filter_map(|record| match &record.content {
            RecordContent::Event { object, .. } => Some(*object),
            RecordContent::Note(_) => None,
        });
        self.open.push(OpenBlock {
            start: segment.start,
            blobs: segment.blobs,
            objects: objects.collect(),
            bodies,
            index: self.index_of(segment),
        });
        if self.open.len() >= SEALED_GROUP || self.open_raw >= SEALED_GROUP_RAW {
            self.end_by_object()?;
        }
        Ok(())
    }

    /// Writes a group of a large recording: the shared text and the order, then the blocks.
    fn end_by_object(&mut self) -> Result<(), SealError> {
        let open = std::mem::take(&mut self.open);
        self.open_raw = 0;
        let Some(first) = open.first() else {
            return Ok(());
        };
        let GroupByObject { columns, firsts } = self.by_object(&open)?;
        let records = self.segment.start.record.saturating_sub(first.start.record);
        let order = ObjectGroup::encode(records, &firsts);
        let mut texts = Vec::new();
        for columns in &columns {
            let [_, bodies] = frame::split_columns(columns, "bodies by object")
                .map_err(|error| refused(&error))?;
            let [_, _, text, _] = frame::split_columns(bodies, "a block's bodies")
                .map_err(|error| refused(&error))?;
            texts.push(text);
        }
        let most = MAX_PREFIX.saturating_sub(PREFIX_HEAD.saturating_add(order.len()));
        let shared = shared_text(&texts.iter().copied(), most);
        let mut prefix = BodyWriter::default();
        prefix.blobs.push(&shared);
        prefix.blobs.push(&order);
        let prefix = prefix.columns_since(BodyMark::default());
        let head = SegmentStart {
            blob: first.start.blob.saturating_sub(OBJECT_GROUP_BLOBS),
            ..first.start
        };
        let group = self.block;
        let packed = frame::pack(&prefix, frame::LEVEL_SEALED, &[]);
        let packed = packed.map_err(|error| refused(&error))?;
        let index = index::encode(&[], &[], |_| None);
        self.block_rows((head, OBJECT_GROUP_BLOBS), group, &index, &packed)?;
        for (block, columns) in open.iter().zip(&columns) {
            let packed = frame::pack_by_object(columns, &prefix);
            let packed = packed.map_err(|error| refused(&error))?;
            self.block_rows((block.start, block.blobs), group, &block.index, &packed)?;
        }
        self.groups = self.groups.saturating_add(1);
        self.checkpoint()?;
        self.write_extents()?;
        let blob = self.segment.start.blob.checked_add(OBJECT_GROUP_BLOBS);
        self.segment.start.blob = blob.ok_or(SealError::TooLarge)?;
        Ok(())
    }

    /// Puts the bodies of a group in the order of resource and object. Returns the columns of its blocks, and the first
    /// object of each block that has bodies. Blobs stay in the blocks of their records, by which they are found.
    fn by_object(&self, open: &[OpenBlock]) -> Result<GroupByObject, SealError> {
        let mut events = Vec::new();
        let mut bytes = 0usize;
        for block in open {
            for (place, object) in block.objects.iter().enumerate() {
                let key = self.reel.key(*object).ok_or(SealError::TooLarge)?;
                let (base, delta) =
                    (block.bodies.delta(BodySlot::Nth(place))).ok_or(SealError::Changed)?;
                bytes = bytes.saturating_add(delta.ops.len() + delta.text.len());
                events.push((key.resource, *object, base, delta));
            }
        }
        // Versions of an object stay in their order.
        events.sort_by_key(|(resource, object, ..)| (*resource, *object));
        let share = bytes / open.len().max(1) + 1;
        let mut blocks = Vec::new();
        let mut firsts = Vec::new();
        let mut block = ObjectBlock::default();
        for versions in events.chunk_by(|one, next| one.1 == next.1) {
            let Some((resource, object, ..)) = versions.first() else {
                continue;
            };
            if block.owners.is_empty() {
                firsts.push((*resource, *object));
            }
            put_owner(&mut block.owners, block.last, *object, versions.len());
            block.last = *object;
            for (_, _, base, delta) in versions {
                block.bodies.ops.extend_from_slice(delta.ops);
                block.bodies.text.extend_from_slice(delta.text);
                block.bodies.end_entry(*base);
            }
            if block.bodies.ops.len() + block.bodies.text.len() >= share {
                blocks.push(std::mem::take(&mut block));
            }
        }
        if !block.owners.is_empty() {
            blocks.push(block);
        }
        // Each but the last has its share, so that there are never more of them.
        blocks.resize_with(open.len(), ObjectBlock::default);
        let columns = blocks.into_iter().zip(open).map(|(mut block, open)| {
            for place in 0..open.bodies.blob_count() {
                let text = open.bodies.blob(place).unwrap_or_default();
                block.bodies.blobs.push(text);
            }
            let bodies = block.bodies.columns_since(BodyMark::default());
            frame::join_columns([&block.owners, &bodies])
        });
        let columns = columns.collect();
        Ok(GroupByObject { columns, firsts })
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
        self.end_by_object()?;
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
