//! Owns the writing end of a reel: it numbers records, groups them into commits, and seals full
//! blocks. Refuses two writers, unannounced resources, and anything beyond the format's bounds.
//!
//! What was appended is durable after the next [`Appender::commit`]. A failed commit keeps everything
//! in memory, and the next one tries again on a database opened anew.

mod begin;

use super::backend::Exclusive;
use super::blobs::Fingerprints;
use super::checkpoint::{self, Checkpoint};
use super::encoder::Encoder;
use super::extents::Stream;
use super::growth::{Growth, Usage};
use super::guard::{Fenced, fenced};
use super::segment::Segment;
use super::{directory, state};
use crate::codec::bodies::Mark;
use crate::codec::index::{self, Content, Record, Rv};
use crate::codec::{CodecError, frame, record};
use crate::error::AppendError;
use crate::event::{Body, NewEvent, ObjectKey};
use crate::id::{ObjectId, ResourceId, Seq};
use crate::limits::{BLOCK_GROUP, CHECKPOINT_RECORDS, MAX_BODY, MAX_ITEMS, MAX_NAME, MAX_PREFIX};
use crate::note::{BlobNote, Note};
use crate::tables;
use crate::time::Stamp;
use redb::{Database, ReadableTable as _};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many bytes one blob of a note holds at most.
const NOTE_BLOB: usize = 64 * 1024;
/// How many bytes of pages the database keeps while writing.
const WRITE_CACHE: usize = 8 * 1024 * 1024;

/// The writing end of a reel.
pub struct Appender {
    path: PathBuf,
    backend: Exclusive,
    /// Absent after a failure, until it is opened anew.
    database: Option<Fenced<Database>>,
    segment: Segment,
    encoder: Encoder,
    /// The objects seen, by keyed fingerprint, and their resources by number.
    objects: HashMap<(u64, u64), ObjectId>,
    resources: Vec<ResourceId>,
    /// How many objects of each resource are among them.
    seen: HashMap<ResourceId, u64>,
    prints: Fingerprints,
    announced: HashSet<ResourceId>,
    /// The number of the block that the open segment will be.
    block: u32,
    group: Group,
    bodies: Stream,
    indexes: Stream,
    sealed: Vec<(u32, Vec<u8>)>,
    checkpoints: Checkpoints,
    next_commit: u64,
    growth: Growth,
}

/// How large a reel and what an appender keeps in memory may become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The file's length, in bytes: a commit that would exceed it fails with
    /// [`AppendError::OverBound`].
    pub file_bytes: Option<u64>,
    /// The last bodies of live objects, in bytes of memory: beyond, they move to a temporary file
    /// without a name in the reel's folder, and no checkpoint is written.
    pub body_memory: Option<u64>,
}

/// What the objects of a resource take in an appender's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectMemory {
    /// The resource.
    pub resource: ResourceId,
    /// How many of its objects are live.
    pub live: u64,
    /// The bytes of their names, namespaces and uids, in memory or not.
    pub name_bytes: u64,
    /// The bytes of memory.
    pub bytes: u64,
}

/// The memory that an object takes for as long as its resource is recorded: its fingerprint, in a table
/// that is between half and almost full, and its resource.
const SEEN_BYTES: u64 = 48;

/// The blocks that share a prefix.
#[derive(Debug, Default)]
struct Group {
    first: u32,
    prefix: Vec<u8>,
}

/// The checkpoints: those that were taken, by how many records lie before each, and the rows that are
/// not durable yet.
#[derive(Debug, Default)]
struct Checkpoints {
    taken: Vec<u64>,
    pending: Vec<(u32, Vec<u8>)>,
    left_out: HashSet<ResourceId>,
}

/// What a commit made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitStats {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// How many records the reel holds.
    pub records: u64,
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
    /// Makes an appender to an empty reel.
    fn over(path: &Path, backend: Exclusive, database: Fenced<Database>, bounds: Bounds) -> Self {
        Self {
            path: path.to_owned(),
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
            group: Group::default(),
            bodies: Stream::default(),
            indexes: Stream::default(),
            sealed: Vec::new(),
            checkpoints: Checkpoints::default(),
            next_commit: 0,
            growth: Growth::new(bounds.file_bytes),
        }
    }

    /// Gives the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the number of the record that will be appended next.
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

    /// Counts the bytes that were appended since the beginning of this run, before compression: what
    /// one record added says how much it costs beside others.
    pub fn appended_bytes(&self) -> u64 {
        self.growth.sealed_bytes().saturating_add(self.open_bytes())
    }

    fn open_bytes(&self) -> u64 {
        let bytes = self.segment.bodies.len();
        u64::try_from(bytes.saturating_add(self.segment.note_bytes)).unwrap_or(u64::MAX)
    }

    /// Tells how much of the file is used, and how long it can become.
    pub fn usage(&mut self) -> Usage {
        if let Some(database) = &mut self.database {
            self.growth.look(database, &self.backend);
        }
        self.growth.usage(self.backend.file_bytes())
    }

    /// Has the database count what it uses.
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
    /// If its resource was not announced, or it is beyond the format's bounds. The reel is then as
    /// before.
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
        let last;
        let body = match event.body {
            Body::Bytes(bytes) => bytes,
            Body::Last => {
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
            content: Content::Event {
                kind: event.kind,
                evidence: event.evidence,
                object,
                connection: event.connection,
                version: Rv::new(event.resource_version),
            },
        })
    }

    /// Does what moves bodies out of memory before anything of the next event is written, so that a
    /// failure leaves the segment as it is.
    fn make_room(&mut self) -> Result<(), AppendError> {
        let made = self.encoder.make_room();
        made.map_err(|error| self.storage()(error.to_string()))
    }

    /// Tells what the objects of each resource take in memory.
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

    /// Forgets the objects of a resource of which nothing will be appended any more: another event of
    /// one of them would make it a new object.
    pub fn forget_objects(&mut self, resource: ResourceId) {
        self.encoder.forget(resource);
        let resources = &self.resources;
        self.objects.retain(|_, object| {
            let place = usize::try_from(object.0).unwrap_or(usize::MAX);
            resources.get(place) != Some(&resource)
        });
        self.objects.shrink_to_fit();
        self.seen.remove(&resource);
    }

    fn check(&self, event: &NewEvent<'_>) -> Result<(), AppendError> {
        if !self.announced.contains(&event.resource) {
            return Err(AppendError::UnknownResource {
                resource: event.resource.0,
            });
        }
        if let Body::Bytes(bytes) = event.body
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
    /// If it is beyond the format's bounds.
    pub fn append_note(&mut self, stamp: Stamp, note: Note) -> Result<Seq, AppendError> {
        let storage = self.storage();
        let bytes = record::encode(&note).map_err(|error| storage(error.to_string()))?;
        self.checkpoints
            .left_out
            .extend(checkpoint::left_out(&note));
        if let Note::Resource(resource) = note {
            self.announced.insert(resource.id);
        }
        self.segment.note_bytes = self.segment.note_bytes.saturating_add(bytes.len());
        self.push(Record {
            stamp,
            content: Content::Note(bytes),
        })
    }

    /// Appends a note that carries bytes of any length, which go to the blob log.
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

    /// Turns the open segment into a block, to be written by the next commit.
    fn seal(&mut self) -> Result<(), AppendError> {
        let storage = self.storage();
        let told = |error: CodecError| storage(error.to_string());
        let raw = self.segment.bodies.columns_since(Mark::default());
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
        let packed = frame::pack(&raw, frame::LEVEL_KEPT, prefix).map_err(told)?;
        let index = frame::pack(&index, frame::LEVEL_KEPT, &[]).map_err(told)?;
        let place = directory::Place {
            start: self.segment.start,
            blobs: self.segment.blobs,
            prefix: self.group.first,
            bodies: self.bodies.push(&packed),
            index: self.indexes.push(&index),
        };
        let row = directory::encode(&place).map_err(told)?;
        if self.block == self.group.first {
            self.group.prefix = raw;
            self.group.prefix.truncate(MAX_PREFIX);
        }
        self.sealed.push((self.block, row));
        self.growth.sealed(self.open_bytes());
        self.block = self
            .block
            .checked_add(1)
            .ok_or(AppendError::Full { what: "blocks" })?;
        self.segment = self.segment.next();
        let last = self.checkpoints.taken.last().copied().unwrap_or(0);
        let is_due = self.segment.end().saturating_sub(last) >= CHECKPOINT_RECORDS;
        // A checkpoint is put together in memory.
        let has_room =
            self.encoder.fits_memory() && self.growth.has_room_for(self.encoder.live_bytes());
        if is_due && has_room {
            self.take_checkpoint().map_err(told)?;
        }
        Ok(())
    }

    /// Writes the live objects once more, behind the block that was just sealed.
    fn take_checkpoint(&mut self) -> Result<(), CodecError> {
        let number =
            u32::try_from(self.checkpoints.taken.len().saturating_add(1)).unwrap_or(u32::MAX);
        let parent = usize::try_from(checkpoint::parent(number)).unwrap_or(usize::MAX);
        let parent_seq = parent
            .checked_sub(1)
            .and_then(|place| self.checkpoints.taken.get(place));
        let seq = self.segment.end();
        let taken = Checkpoint::write(
            &mut self.encoder,
            &self.checkpoints.left_out,
            seq,
            parent_seq.copied().unwrap_or(0),
            &mut self.bodies,
        )?;
        self.checkpoints.pending.push((number, taken.encode()?));
        self.checkpoints.taken.push(seq);
        Ok(())
    }

    /// Makes everything that was appended durable, in one transaction.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. Nothing is lost: the next commit tries again.
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
        })
    }

    fn set_done(&mut self) {
        self.bodies.set_done();
        self.indexes.set_done();
        self.sealed.clear();
        self.checkpoints.pending.clear();
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
            let rows = rows.chain(self.sealed.iter().map(|(_, row)| row.len()));
            let rows = rows.chain(self.checkpoints.pending.iter().map(|(_, row)| row.len()));
            self.growth.writes(rows.chain(tail.map(<[u8]>::len)));
        }
        fenced(|| -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            {
                let mut tails = transaction.open_table(tables::TAIL)?;
                if !self.sealed.is_empty() {
                    tails.retain(|_, _| false)?;
                    for (table, stream) in [
                        (tables::EXTENTS, &self.bodies),
                        (tables::INDEXES, &self.indexes),
                    ] {
                        let mut extents = transaction.open_table(table)?;
                        for (number, row) in stream.rows() {
                            extents.insert(number, row.as_slice())?;
                        }
                    }
                    let mut directory = transaction.open_table(tables::DIRECTORY)?;
                    for (block, row) in &self.sealed {
                        directory.insert(*block, row.as_slice())?;
                    }
                }
                let mut checkpoints = transaction.open_table(tables::CHECKPOINTS)?;
                for (number, row) in &self.checkpoints.pending {
                    checkpoints.insert(*number, row.as_slice())?;
                }
                if let Some(row) = tail {
                    tails.insert(self.next_commit, row)?;
                }
                let mut meta = transaction.open_table(tables::META)?;
                match state {
                    Some(row) => drop(meta.insert(tables::STATE_KEY, row)?),
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

    /// Seals what is open and writes it with the mark that the recording ended in order.
    pub(crate) fn write_finished(&mut self) -> Result<(), AppendError> {
        if !self.segment.records.is_empty() {
            self.seal()?;
        }
        let finished = state::State {
            finished: true,
            records: self.segment.end(),
        };
        let row = finished
            .encode()
            .map_err(|error| self.storage()(error.to_string()))?;
        self.write(None, Some(&row))?;
        self.set_done();
        Ok(())
    }

    /// Gives the parts that packing needs: the database, and the lock that must outlive it.
    pub(crate) fn into_parts(self) -> (PathBuf, Option<Fenced<Database>>, Exclusive) {
        (self.path, self.database, self.backend)
    }
}

/// Gives the folder of a file.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Opens the database over a file that is held for writing.
pub(crate) fn open_database(backend: Exclusive) -> Result<Fenced<Database>, String> {
    fenced(|| {
        Database::builder()
            .set_cache_size(WRITE_CACHE)
            .create_with_backend(backend)
    })
    .map(Fenced::new)
}
