//! The writing end of a reel: it numbers records, groups them into commits, and seals full blocks.
//!
//! Invariants:
//! * One writer: the file is locked from opening to the end.
//! * The number of a record is its place in the file. Appended records are durable after the next
//!   [`Appender::commit`]. A failed commit keeps everything in memory, and the next one retries
//!   with the database opened again.
//! * A sealed block and the tail rows that it replaces change in one transaction: every record is
//!   in exactly one of them.
//! * The resource of an event was announced before it, and nothing exceeds the bounds of the
//!   format: a reader checks the same bounds.
//! * Resuming reads the whole reel first. A damaged reel is not appended to: new records would be
//!   encoded against bodies that cannot be read.

use crate::codec::bodies::BodyMark;
use crate::codec::index::{Record, RecordContent, Rv};
use crate::codec::{CodecError, frame, index, packed_index, record};
use crate::error::{AppendError, OpenError};
use crate::event::{EventType, NewBody, NewEvent, ObjectKey};
use crate::file::backend::{Exclusive, PanicFence, fenced, io_error};
use crate::file::checkpoint::CheckpointSeries;
use crate::file::encoder::{Encoder, Fingerprints};
use crate::file::growth::{FileGrowth, Usage};
use crate::file::load::BlockSource;
use crate::file::origin::FileOrigin;
use crate::file::recover::{draw_part_path, publish};
use crate::file::reel::Reel;
use crate::file::row::{ROW_HEADER, RowHeader, RowKind, RowOwner, content_of};
use crate::file::segment::{BlockPlace, FrameStream, Segment, SegmentStart};
use crate::file::tables;
use crate::file::tables::FileState;
use crate::id::{ObjectId, ResourceId, Seq, Stamp};
use crate::limits::{
    BLOCK_GROUP, CHECKPOINT_RECORDS, EXTENT, MAX_BODY, MAX_ITEMS, MAX_NAME, MAX_PREFIX, len64,
    place32,
};
use crate::note::{BlobNote, Note};
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// The longest blob of a note, in bytes.
const NOTE_BLOB: usize = 64 * 1024;
/// The page cache of the database while writing, in bytes.
const WRITE_CACHE: usize = 8 * 1024 * 1024;

/// The writing end of a reel.
pub struct Appender {
    path: PathBuf,
    /// The owner in the header of each row.
    owner: RowOwner,
    backend: Exclusive,
    /// `None` after a failure, until it is opened again.
    database: Option<PanicFence<Database>>,
    segment: Segment,
    encoder: Encoder,
    /// The known objects by keyed fingerprint, and their resources by number.
    objects: HashMap<(u64, u64), ObjectId>,
    resources: Vec<ResourceId>,
    /// The number of objects of each resource.
    seen: HashMap<ResourceId, u64>,
    prints: Fingerprints,
    announced: HashSet<ResourceId>,
    /// The number that the open segment will have as a block.
    block: u32,
    group: BlockGroup,
    bodies: FrameStream,
    indexes: FrameStream,
    sealed: Vec<SealedBlock>,
    checkpoints: CheckpointSeries,
    /// Rows of checkpoints that are not durable yet.
    pending_checkpoints: Vec<(u32, Vec<u8>)>,
    next_commit: u64,
    growth: FileGrowth,
}

/// The limits of a reel's size and of an appender's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The length of the file, in bytes: a commit that would exceed it fails with
    /// [`AppendError::OverBound`].
    pub file_bytes: Option<u64>,
    /// The last bodies of live objects in memory, in bytes. Beyond it they move to a temporary file
    /// without a name in the reel's folder, and no checkpoint is written.
    pub body_memory: Option<u64>,
}

/// The memory of a resource's objects in an appender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectMemory {
    /// The resource.
    pub resource: ResourceId,
    /// The number of its live objects.
    pub live: u64,
    /// The bytes of their names, namespaces and uids, in memory or not.
    pub name_bytes: u64,
    /// The bytes in memory.
    pub bytes: u64,
}

/// The memory of an object while its resource is recorded: its fingerprint, in a table that is
/// between half and almost full, and its resource.
const SEEN_BYTES: u64 = 48;

/// A block that is not durable yet.
#[derive(Debug)]
struct SealedBlock {
    number: u32,
    /// The directory row.
    row: Vec<u8>,
    /// The directory row and the index, for salvage; empty if a bounded file has little room left.
    copy: Vec<u8>,
}

/// The blocks that share a prefix.
#[derive(Debug, Default)]
struct BlockGroup {
    first: u32,
    prefix: Vec<u8>,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitStats {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// The number of records in the reel.
    pub records: u64,
    /// Whether the file was deleted: it is gone when the recorder ends.
    pub is_deleted: bool,
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender")
            .field("path", &self.path)
            .field("block", &self.block)
            .field("next", &self.segment.end())
            .finish_non_exhaustive()
    }
}

impl Appender {
    /// Creates an appender for an empty reel.
    fn over(
        path: &Path,
        backend: Exclusive,
        database: PanicFence<Database>,
        owner: RowOwner,
        bounds: Bounds,
    ) -> Self {
        Self {
            path: path.to_owned(),
            owner,
            backend,
            database: Some(database),
            segment: Segment::default(),
            encoder: Encoder::new(folder_of(path), bounds.body_memory),
            objects: HashMap::new(),
            resources: Vec::new(),
            seen: HashMap::new(),
            prints: Fingerprints::default(),
            announced: HashSet::new(),
            block: 0,
            group: BlockGroup::default(),
            bodies: FrameStream::default(),
            indexes: FrameStream::default(),
            sealed: Vec::new(),
            checkpoints: CheckpointSeries::default(),
            pending_checkpoints: Vec::new(),
            next_commit: 0,
            growth: FileGrowth::new(bounds.file_bytes),
        }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of the next record.
    pub fn next_seq(&self) -> Seq {
        Seq(self.segment.end())
    }

    fn print(&self, key: &ObjectKey) -> (u64, u64) {
        let parts = [key.namespace.as_str(), &key.name, &key.uid].join("\u{0}");
        let mut bytes = key.resource.0.to_le_bytes().to_vec();
        bytes.extend_from_slice(parts.as_bytes());
        self.prints.of(&bytes)
    }

    fn storage(&self) -> impl Fn(String) -> AppendError + use<> {
        let path = self.path.clone();
        let backend = self.backend.clone();
        let max = self.growth.max();
        move |cause| {
            let path = path.clone();
            match max {
                Some(max) if backend.take_refusal() => AppendError::OverBound { path, max },
                _ => AppendError::Storage { path, cause },
            }
        }
    }

    /// Returns the bytes appended since the beginning of this run, before compression: differences
    /// of it compare the cost of records.
    pub fn appended_bytes(&self) -> u64 {
        self.growth.sealed_bytes().saturating_add(self.open_bytes())
    }

    fn open_bytes(&self) -> u64 {
        let bytes = self.segment.bodies.len();
        len64(bytes.saturating_add(self.segment.note_bytes))
    }

    /// Returns how much of the file is used, and how long it can become.
    pub fn usage(&mut self) -> Usage {
        if let Some(database) = &mut self.database {
            self.growth.look(database, &self.backend);
        }
        self.growth.usage(self.backend.file_bytes())
    }

    /// Measures the used bytes of the database.
    #[cfg(test)]
    pub(crate) fn recount(&mut self) -> u64 {
        if let Some(database) = &self.database {
            self.growth.count(database);
        }
        self.usage().used_bytes
    }

    /// Appends an event. It is durable after the next commit.
    ///
    /// # Errors
    ///
    /// If its resource was not announced, or it exceeds the bounds of the format. The reel is
    /// unchanged then.
    pub fn append_event(&mut self, event: &NewEvent<'_>) -> Result<Seq, AppendError> {
        self.check(event)?;
        self.make_room()?;
        let key = ObjectKey {
            resource: event.resource,
            namespace: event.namespace.to_owned(),
            name: event.name.to_owned(),
            uid: event.uid.to_owned(),
        };
        let print = self.print(&key);
        let known = self.objects.get(&print).copied();
        // No uid tells it from the one of its name that was deleted.
        let is_another = |object: &ObjectId| {
            key.uid.is_empty() && event.kind != EventType::Deleted && !self.encoder.is_live(*object)
        };
        let known = known.filter(|object| !is_another(object));
        let last;
        let body = match event.body {
            NewBody::Bytes(bytes) => bytes,
            NewBody::Last => {
                last = known
                    .and_then(|object| self.encoder.last(object))
                    .ok_or(AppendError::NoLastBody)?
                    .map_err(|error| self.storage()(error.to_string()))?;
                &last
            }
        };
        let object = match known {
            Some(object) => object,
            None => self.new_object(print, &key)?,
        };
        let storage = self.storage();
        self.encoder
            .push(
                &mut self.segment,
                self.block,
                object,
                &key,
                event.kind,
                body,
            )
            .map_err(|error| storage(error.to_string()))?;
        self.push(Record {
            stamp: event.stamp,
            content: RecordContent::Event {
                kind: event.kind,
                evidence: event.evidence,
                object,
                connection: event.connection,
                version: Rv::new(event.resource_version),
            },
        })
    }

    /// Moves bodies out of memory before any part of the next event is written, so that a failure
    /// leaves the segment unchanged.
    fn make_room(&mut self) -> Result<(), AppendError> {
        let made = self.encoder.make_room();
        made.map_err(|error| self.storage()(error.to_string()))
    }

    /// Returns the memory of each resource's objects.
    pub fn object_memory(&self) -> Vec<ObjectMemory> {
        let live = self.encoder.memory();
        self.seen
            .iter()
            .map(|(resource, seen)| {
                let live = live.get(resource).copied().unwrap_or_default();
                ObjectMemory {
                    resource: *resource,
                    live: live.objects,
                    name_bytes: live.name_bytes,
                    bytes: live.bytes().saturating_add(seen.saturating_mul(SEEN_BYTES)),
                }
            })
            .collect()
    }

    /// Forgets the objects of a resource whose events will no longer be appended: another event of
    /// one of them would make it a new object.
    pub fn forget_objects(&mut self, resource: ResourceId) {
        self.encoder.forget(resource);
        let resources = &self.resources;
        self.objects
            .retain(|_, object| resources.get(place32(object.0)) != Some(&resource));
        self.objects.shrink_to_fit();
        self.seen.remove(&resource);
    }

    fn check(&self, event: &NewEvent<'_>) -> Result<(), AppendError> {
        if !self.announced.contains(&event.resource) {
            return Err(AppendError::UnknownResource {
                resource: event.resource.0,
            });
        }
        if let NewBody::Bytes(bytes) = event.body
            && bytes.len() > MAX_BODY
        {
            return Err(AppendError::BodyTooLong { len: bytes.len() });
        }
        for (what, text) in [
            ("namespace", event.namespace),
            ("name", event.name),
            ("uid", event.uid),
            ("resourceVersion", event.resource_version),
        ] {
            if text.len() > MAX_NAME {
                let len = text.len();
                return Err(AppendError::NameTooLong { what, len });
            }
        }
        Ok(())
    }

    fn new_object(&mut self, print: (u64, u64), key: &ObjectKey) -> Result<ObjectId, AppendError> {
        let number = u32::try_from(self.resources.len())
            .ok()
            .filter(|number| u64::from(*number) < MAX_ITEMS)
            .ok_or(AppendError::Full { what: "objects" })?;
        let object = ObjectId(number);
        self.see(print, object, key.resource);
        self.segment.objects.push(key.clone());
        Ok(object)
    }

    fn see(&mut self, print: (u64, u64), object: ObjectId, resource: ResourceId) {
        self.resources.push(resource);
        self.objects.insert(print, object);
        let seen = self.seen.entry(resource).or_default();
        *seen = seen.saturating_add(1);
    }

    /// Appends a note. It is durable after the next commit.
    ///
    /// # Errors
    ///
    /// If it exceeds the bounds of the format.
    pub fn append_note(&mut self, stamp: Stamp, note: Note) -> Result<Seq, AppendError> {
        let storage = self.storage();
        let bytes = record::encode(&note).map_err(|error| storage(error.to_string()))?;
        self.checkpoints.note(&note);
        if let Note::Resource(resource) = note {
            self.announced.insert(resource.id);
        }
        self.segment.note_bytes = self.segment.note_bytes.saturating_add(bytes.len());
        self.push(Record {
            stamp,
            content: RecordContent::Note(bytes),
        })
    }

    /// Appends a note with bytes of any length, which go to the blob log.
    ///
    /// # Errors
    ///
    /// If the reel is full.
    pub fn append_blob_note(
        &mut self,
        stamp: Stamp,
        note: BlobNote,
        bytes: &[u8],
    ) -> Result<Seq, AppendError> {
        let segment = &mut self.segment;
        let mut log = self.encoder.blobs.log(
            &mut segment.bodies.blobs,
            segment.start.blob,
            &mut segment.blobs,
        );
        let blobs = bytes
            .chunks(NOTE_BLOB)
            .map(|chunk| log.always(chunk))
            .collect::<Option<Vec<_>>>()
            .ok_or(AppendError::Full { what: "texts" })?;
        let note = match note {
            BlobNote::OddLine {
                connection,
                problem,
                len,
            } => Note::OddLine {
                connection,
                problem,
                len,
                blobs,
            },
            BlobNote::Document { kind, path } => Note::Document { kind, path, blobs },
        };
        self.append_note(stamp, note)
    }

    fn push(&mut self, record: Record) -> Result<Seq, AppendError> {
        let seq = Seq(self.segment.end());
        if seq.0 >= MAX_ITEMS {
            return Err(AppendError::Full { what: "records" });
        }
        self.segment.records.push(record);
        if self.segment.is_full() {
            self.seal()?;
        }
        Ok(seq)
    }

    fn resource_of(&self) -> impl Fn(ObjectId) -> Option<ResourceId> {
        |object| {
            let place = usize::try_from(object.0).ok()?;
            self.resources.get(place).copied()
        }
    }

    /// Turns the open segment into a block, which the next commit writes.
    fn seal(&mut self) -> Result<(), AppendError> {
        let storage = self.storage();
        let as_text = |error: CodecError| storage(error.to_string());
        let raw = self.segment.bodies.columns_since(BodyMark::default());
        let index = index::encode(
            &self.segment.objects,
            &self.segment.records,
            self.resource_of(),
        );
        if self.block >= self.group.first.saturating_add(BLOCK_GROUP) {
            self.group.first = self.block;
        }
        let prefix = if self.block == self.group.first {
            &[]
        } else {
            self.group.prefix.as_slice()
        };
        let packed = frame::pack(&raw, frame::LEVEL_KEPT, prefix).map_err(as_text)?;
        let first = self.segment.start.object;
        let index = packed_index::pack(&index, first, frame::LEVEL_KEPT).map_err(as_text)?;
        let place = BlockPlace {
            start: self.segment.start,
            blobs: self.segment.blobs,
            prefix: self.group.first,
            bodies: self.bodies.push(&packed),
            index: self.indexes.push(&index),
        };
        let row = place.encode().map_err(as_text)?;
        if self.block == self.group.first {
            self.group.prefix = raw;
            self.group.prefix.truncate(MAX_PREFIX);
        }
        let copy = if self.growth.is_roomy() {
            frame::join_columns([&row, &index])
        } else {
            Vec::new()
        };
        self.sealed.push(SealedBlock {
            number: self.block,
            row,
            copy,
        });
        self.growth.sealed(self.open_bytes());
        self.block = self
            .block
            .checked_add(1)
            .ok_or(AppendError::Full { what: "blocks" })?;
        self.segment = self.segment.next();
        let is_due = self.checkpoints.records_before(self.segment.end()) >= CHECKPOINT_RECORDS;
        // A checkpoint is built in memory, so without room for the bodies there is no room for it.
        let has_room =
            self.encoder.fits_memory() && self.growth.has_room_for(self.encoder.live_bytes());
        if is_due && has_room {
            let end = self.segment.end();
            let bodies = &mut self.bodies;
            let taken = self
                .checkpoints
                .take(&mut self.encoder, end, bodies, frame::LEVEL_KEPT);
            self.pending_checkpoints.push(taken.map_err(as_text)?);
        }
        Ok(())
    }

    /// Makes every appended record durable, in one transaction.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. No record is lost: the next commit retries.
    pub fn commit(&mut self) -> Result<CommitStats, AppendError> {
        if self.segment.is_pending() || !self.sealed.is_empty() {
            let whole = !self.sealed.is_empty();
            let tail = if self.segment.records.is_empty() {
                None
            } else {
                let row = self.segment.tail_row(whole, self.resource_of());
                Some(row.map_err(|error| self.storage()(error.to_string()))?)
            };
            self.write(tail.as_deref(), None)?;
            self.set_done();
        }
        Ok(CommitStats {
            file_bytes: self.backend.file_bytes(),
            records: self.segment.end(),
            is_deleted: self.backend.is_deleted(),
        })
    }

    fn set_done(&mut self) {
        self.bodies.set_done();
        self.indexes.set_done();
        self.sealed.clear();
        self.pending_checkpoints.clear();
        self.next_commit = self.next_commit.saturating_add(1);
        let now = self.segment.now();
        self.segment.set_done(now);
    }

    /// Writes one transaction: the sealed blocks, and the tail row behind them.
    fn write(&mut self, tail: Option<&[u8]>, state: Option<&[u8]>) -> Result<(), AppendError> {
        let storage = self.storage();
        let database = match self.database.take() {
            Some(database) => database,
            None => open_database(self.backend.clone()).map_err(&storage)?,
        };
        if self.growth.max().is_some() {
            let streams = [&self.bodies, &self.indexes];
            let extents = streams.iter().flat_map(|stream| stream.rows());
            let rows = extents.map(|(_, row)| row.len());
            let rows = rows.chain(self.sealed.iter().map(|block| block.row.len()));
            let rows = rows.chain(self.sealed.iter().map(|block| block.copy.len()));
            let rows = rows.chain(self.pending_checkpoints.iter().map(|(_, row)| row.len()));
            let rows = rows.chain(tail.map(<[u8]>::len));
            self.growth
                .writes(rows.map(|len| len.saturating_add(ROW_HEADER)));
        }
        let owner = self.owner;
        fenced(|| -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            {
                let mut tails = transaction.open_table(tables::TAIL)?;
                if !self.sealed.is_empty() {
                    tails.retain(|_, _| false)?;
                    for (table, kind, stream) in [
                        (tables::EXTENTS, RowKind::Bodies, &self.bodies),
                        (tables::INDEXES, RowKind::Index, &self.indexes),
                    ] {
                        let mut extents = transaction.open_table(table)?;
                        for (number, row) in stream.rows() {
                            extents.insert(number, owner.row(kind, number, &row).as_slice())?;
                        }
                    }
                    let mut directory = transaction.open_table(tables::DIRECTORY)?;
                    let mut copies = transaction.open_table(tables::BLOCKS)?;
                    for block in &self.sealed {
                        let number = u64::from(block.number);
                        let row = owner.row(RowKind::Directory, number, &block.row);
                        directory.insert(block.number, row.as_slice())?;
                        if !block.copy.is_empty() {
                            let row = owner.row(RowKind::Block, number, &block.copy);
                            copies.insert(block.number, row.as_slice())?;
                        }
                    }
                }
                let mut checkpoints = transaction.open_table(tables::CHECKPOINTS)?;
                for (number, row) in &self.pending_checkpoints {
                    let row = owner.row(RowKind::Checkpoint, u64::from(*number), row);
                    checkpoints.insert(*number, row.as_slice())?;
                }
                if let Some(row) = tail {
                    let row = owner.row(RowKind::Tail, self.next_commit, row);
                    tails.insert(self.next_commit, row.as_slice())?;
                }
                let mut meta = transaction.open_table(tables::META)?;
                match state {
                    Some(row) => {
                        let row = owner.row(RowKind::State, 0, row);
                        meta.insert(tables::STATE_KEY, row.as_slice())?;
                    }
                    None if meta.get(tables::STATE_KEY)?.is_some() => {
                        drop(meta.remove(tables::STATE_KEY)?);
                    }
                    None => {}
                }
            }
            transaction.commit()?;
            Ok(())
        })
        .map_err(storage)?;
        self.database = Some(database);
        Ok(())
    }

    /// Seals the open segment and writes it, with the mark whether the recording ended in order.
    pub(crate) fn write_state(&mut self, finished: bool) -> Result<(), AppendError> {
        if !self.segment.records.is_empty() {
            self.seal()?;
        }
        let finished = FileState {
            finished,
            records: self.segment.end(),
        };
        let row = finished
            .encode()
            .map_err(|error| self.storage()(error.to_string()))?;
        self.write(None, Some(&row))?;
        self.set_done();
        Ok(())
    }

    /// Returns what packing needs: the database, and the lock, which must outlive it.
    pub(crate) fn into_parts(self) -> (PathBuf, Option<PanicFence<Database>>, Exclusive) {
        (self.path, self.database, self.backend)
    }
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Opens the database over a file that is locked for writing.
pub(crate) fn open_database(backend: Exclusive) -> Result<PanicFence<Database>, String> {
    fenced(|| {
        Database::builder()
            .set_cache_size(WRITE_CACHE)
            .create_with_backend(backend)
    })
    .map(PanicFence::new)
}

impl Appender {
    /// Creates a reel.
    ///
    /// # Errors
    ///
    /// If the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, OpenError> {
        Self::create_within(path, Bounds::default())
    }

    /// Creates a reel with limits.
    ///
    /// # Errors
    ///
    /// If the file exists or cannot be written.
    pub fn create_within(path: &Path, bounds: Bounds) -> Result<Self, OpenError> {
        // The file gets its name when it is a reel: one that a killed program or a full disk left half made could
        // never be resumed.
        let exists = || OpenError::Exists {
            path: path.to_owned(),
        };
        if path.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let part = draw_part_path(path);
        let created = Self::create_part(&part, path, bounds).and_then(|appender| {
            publish(&part, path).map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => exists(),
                _ => io_error(path)(source),
            })?;
            Ok(appender)
        });
        // It has its name already if everything succeeded.
        drop(std::fs::remove_file(&part));
        created
    }

    fn create_part(part: &Path, path: &Path, bounds: Bounds) -> Result<Self, OpenError> {
        let backend = Exclusive::create(part).map_err(|error| match error {
            OpenError::Io { source, .. } => io_error(path)(source),
            other => other,
        })?;
        let backend = backend.bounded(bounds.file_bytes);
        let unwritten = |cause: String| OpenError::Unwritten {
            path: path.to_owned(),
            cause,
        };
        let database = open_database(backend.clone()).map_err(unwritten)?;
        let owner = RowOwner::draw();
        fenced(|| -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            {
                let mut meta = transaction.open_table(tables::META)?;
                meta.insert(tables::FORMAT_KEY, tables::format_row().as_slice())?;
                let row = owner.row(RowKind::Owner, 0, &FileOrigin::of_this_program().encode());
                meta.insert(tables::OWNER_KEY, row.as_slice())?;
                transaction.open_table(tables::TAIL)?;
                transaction.open_table(tables::EXTENTS)?;
                transaction.open_table(tables::INDEXES)?;
                transaction.open_table(tables::CHECKPOINTS)?;
                transaction.open_table(tables::DIRECTORY)?;
            }
            transaction.commit()?;
            Ok(())
        })
        .map_err(unwritten)?;
        Ok(Self::over(path, backend, database, owner, bounds))
    }

    /// Resumes a reel, whether its recorder ended in order or was killed.
    ///
    /// # Errors
    ///
    /// If the file is not a reel, cannot be written, is being written by another program, or is
    /// damaged: no record is appended behind unreadable ones.
    pub fn resume(path: &Path) -> Result<Self, OpenError> {
        Self::resume_within(path, Bounds::default())
    }

    /// Resumes a reel with limits: its file does not exceed the limit, or its current length if
    /// that is more.
    ///
    /// # Errors
    ///
    /// As [`Self::resume`], and if there is no room for the first rows.
    pub fn resume_within(path: &Path, bounds: Bounds) -> Result<Self, OpenError> {
        let reel = Reel::open(path)?;
        let damaged = |place: &str, cause: String| OpenError::Damaged {
            path: path.to_owned(),
            place: place.to_owned(),
            cause,
        };
        if let Some(damage) = reel.damage().first() {
            return Err(damaged(&damage.place, damage.cause.clone()));
        }
        if reel.is_sealed() {
            return Err(OpenError::Sealed {
                path: path.to_owned(),
            });
        }
        let encoder = Encoder::new(folder_of(path), bounds.body_memory);
        let mut carried =
            CarriedState::read(&reel, encoder).map_err(|cause| damaged("a body", cause))?;
        drop(reel);
        let backend = Exclusive::open(path)?.bounded(bounds.file_bytes);
        let database =
            open_database(backend.clone()).map_err(|cause| damaged("the database", cause))?;
        let owner = fenced(|| stamp_format(&database, carried.blocks)).map_err(|cause| {
            OpenError::Unwritten {
                path: path.to_owned(),
                cause,
            }
        })?;
        let mut appender = Self::over(path, backend, database, owner, bounds);
        appender
            .take_over(&mut carried)
            .map_err(|cause| damaged("the last blocks", cause))?;
        Ok(appender)
    }

    fn take_over(&mut self, carried: &mut CarriedState) -> Result<(), String> {
        for (number, key) in (0u32..).zip(&carried.objects) {
            let print = self.print(key);
            self.see(print, ObjectId(number), key.resource);
        }
        self.announced.extend(carried.resources.iter().copied());
        self.block = carried.blocks;
        self.next_commit = carried.next_commit;
        let Some(database) = &self.database else {
            return Err("the database is gone".to_owned());
        };
        self.bodies = fenced(|| resume_stream(database, tables::EXTENTS))?;
        self.indexes = fenced(|| resume_stream(database, tables::INDEXES))?;
        self.group.first = self.block;
        std::mem::swap(&mut self.segment, &mut carried.segment);
        self.checkpoints = std::mem::take(&mut carried.checkpoints);
        std::mem::swap(&mut self.encoder, &mut carried.encoder);
        if !self.segment.records.is_empty() {
            self.seal().map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Notes that the file uses this version of the format, and that another writer begins with the
/// given block.
fn stamp_format(database: &Database, first_block: u32) -> Result<RowOwner, redb::Error> {
    let transaction = database.begin_write()?;
    let owner;
    {
        let mut meta = transaction.open_table(tables::META)?;
        meta.insert(tables::FORMAT_KEY, tables::format_row().as_slice())?;
        let before = meta.get(tables::OWNER_KEY)?;
        let before = before.and_then(|row| RowHeader::read(row.value()));
        owner = RowOwner::resume(before.map(|before| before.owner), first_block);
        let row = owner.row(RowKind::Owner, 0, &FileOrigin::of_this_program().encode());
        meta.insert(tables::OWNER_KEY, row.as_slice())?;
    }
    transaction.commit()?;
    Ok(owner)
}

/// Returns the writing end of a stream behind its durable part.
fn resume_stream(
    database: &Database,
    table: TableDefinition<'_, u64, &'static [u8]>,
) -> Result<FrameStream, redb::Error> {
    let extents = database.begin_read()?.open_table(table)?;
    let Some((number, row)) = extents.last()? else {
        return Ok(FrameStream::default());
    };
    let content = content_of(row.value());
    if content.len() >= EXTENT {
        return Ok(FrameStream::resume(
            number.value().saturating_add(1),
            Vec::new(),
        ));
    }
    Ok(FrameStream::resume(number.value(), content.to_vec()))
}

/// The state that an appender takes over from an earlier session.
pub(crate) struct CarriedState {
    pub(crate) objects: Vec<ObjectKey>,
    pub(crate) resources: Vec<ResourceId>,
    /// The encoder, which knows the last bodies of live objects.
    pub(crate) encoder: Encoder,
    pub(crate) checkpoints: CheckpointSeries,
    pub(crate) blocks: u32,
    pub(crate) next_commit: u64,
    /// The committed records that are not sealed.
    pub(crate) segment: Segment,
}

impl CarriedState {
    /// Reads the state with an empty encoder.
    pub(crate) fn read(reel: &Reel, mut encoder: Encoder) -> Result<Self, String> {
        let mut live: Vec<(Seq, ObjectId)> = reel
            .objects()
            .filter_map(|object| live_version(reel, object.id).map(|seq| (seq, object.id)))
            .collect();
        // In the order of the file, so that each block is decoded once.
        live.sort_unstable();
        for (seq, object) in live {
            let key = reel.key(object).ok_or("an object's name is missing")?;
            let body = reel.body(seq).map_err(|error| error.to_string())?;
            encoder.restore(object, &key.to_key(), &body, seq.0);
            encoder.make_room().map_err(|error| error.to_string())?;
        }
        let resources = reel
            .notes()
            .iter()
            .filter_map(|entry| match &entry.note {
                Note::Resource(resource) => Some(resource.id),
                _ => None,
            })
            .collect();
        Ok(Self {
            objects: reel.objects().map(|object| object.key.to_key()).collect(),
            resources,
            encoder,
            checkpoints: CheckpointSeries::of(reel),
            blocks: reel.loaded.next_block,
            next_commit: reel.loaded.next_commit,
            segment: open_segment(reel)?,
        })
    }
}

/// Returns the last event of an object that is live at the end.
fn live_version(reel: &Reel, object: ObjectId) -> Option<Seq> {
    let last = reel.versions(object).last().copied()?;
    (reel.kind_of(last)? != EventType::Deleted).then_some(last)
}

/// Restores the segment that was open when the recorder stopped.
fn open_segment(reel: &Reel) -> Result<Segment, String> {
    let as_text = |error: CodecError| error.to_string();
    let blocks = &reel.loaded.blocks;
    let sealed = blocks.partition_point(|block| matches!(block.source, BlockSource::Sealed(_)));
    let (sealed, tail) = blocks.split_at_checked(sealed).unwrap_or((blocks, &[]));
    let start = match (tail.first(), sealed.last()) {
        (Some(first), _) => first.start,
        (None, Some(last)) => SegmentStart {
            record: reel.end().0,
            object: u32::try_from(reel.object_count()).map_err(|_too_many| "too many objects")?,
            blob: last.start.blob.saturating_add(last.blobs),
        },
        (None, None) => SegmentStart::default(),
    };
    let new = reel.objects().skip(place32(start.object));
    let mut segment = Segment::begin(start);
    segment.objects = new.map(|object| object.key.to_key()).collect();
    for block in tail {
        if let BlockSource::Tail(bodies) = &block.source {
            segment.blobs = segment.blobs.saturating_add(block.blobs);
            segment.bodies.append(bodies.raw()).map_err(as_text)?;
        }
    }
    let notes = reel.notes();
    let first_note = notes.partition_point(|entry| entry.seq.0 < start.record);
    let mut notes = notes.get(first_note..).unwrap_or_default().iter();
    for seq in (start.record..reel.end().0).map(Seq) {
        let content = if let Some(head) = reel.head(seq) {
            RecordContent::Event {
                kind: head.kind,
                evidence: head.evidence,
                object: head.object,
                connection: head.connection,
                version: Rv::new(&head.resource_version),
            }
        } else {
            let entry = notes.next().ok_or("a note is missing")?;
            RecordContent::Note(record::encode(&entry.note).map_err(as_text)?)
        };
        let stamp = reel.stamp(seq).ok_or("a time is missing")?;
        segment.records.push(Record { stamp, content });
    }
    Ok(segment)
}
