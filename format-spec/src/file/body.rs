//! Owns the decoding of blocks, checkpoints and blobs, and what is kept of it. Refuses to choose the
//! way to a body: the chain does.

use super::allowance::ReadAllowance;
use super::cache::Cache;
use super::checkpoint::{Checkpoint, Stored};
use super::directory::Span;
use super::extents;
use super::guard::{Fenced, fenced};
use super::load::{Block, Source};
use super::reel::{ReadCounts, Reel};
use crate::codec::bodies::{Bodies, BodyCounts};
use crate::codec::{CodecError, frame, seed, splice};
use crate::error::ReadError;
use crate::event::ObjectKey;
use crate::id::{BlobId, BlockId, ObjectId, Seq};
use crate::limits::{MAX_BLOCK_RAW, MAX_BODY, MAX_PREFIX, READ_CACHE};
use crate::tables;
use redb::{Database, ReadOnlyTable, ReadTransaction};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads bodies and blobs.
pub(crate) struct Reader {
    extents: Result<ReadOnlyTable<u64, &'static [u8]>, String>,
    blocks: Mutex<Cache<u64, Bodies>>,
    stored: Mutex<Cache<u64, Stored>>,
    known: Mutex<Cache<Seq, Arc<[u8]>>>,
    damage: Mutex<FrameDamage>,
    rows: AtomicU64,
    frames: AtomicU64,
    built: AtomicU64,
    /// Outlives the table.
    _database: Fenced<Database>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frames that were decompressed and found damaged, and why.
///
/// Every body behind a damaged frame needs it, and a forged frame of a few kilobytes decompresses to
/// [`MAX_BLOCK_RAW`] bytes before its first error is met: without this, each of those bodies would
/// decompress it anew. Bounded by the frames that the directory and the checkpoints name.
#[derive(Debug, Default)]
struct FrameDamage {
    /// By the block's first record.
    blocks: HashMap<u64, String>,
    /// Parts of checkpoints, by their place in the stream.
    parts: HashMap<u64, String>,
}

/// Why a body is not put together.
enum Fault {
    Codec(CodecError),
    /// Another event's error.
    Read(ReadError),
    /// Nothing more may be decoded for now.
    Spent,
}

/// What a checkpoint says of a body.
pub(crate) enum Way {
    /// Here it is.
    Here(Arc<[u8]>),
    /// It must be looked for elsewhere.
    Elsewhere,
    /// Nothing more may be decoded for now.
    Spent,
}

impl From<CodecError> for Fault {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

impl Reader {
    pub(crate) fn new(database: Fenced<Database>, transaction: &ReadTransaction) -> Self {
        Self {
            extents: fenced(|| transaction.open_table(tables::EXTENTS)),
            blocks: Mutex::new(Cache::new(READ_CACHE / 2)),
            stored: Mutex::new(Cache::new(READ_CACHE / 4)),
            known: Mutex::new(Cache::new(READ_CACHE / 4)),
            damage: Mutex::default(),
            rows: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            built: AtomicU64::new(0),
            _database: database,
        }
    }

    /// Keeps at most so many bytes of what was decoded.
    pub(crate) fn bound(&self, most: usize) {
        held(&self.blocks).bound(most / 2);
        held(&self.stored).bound(most / 4);
        held(&self.known).bound(most / 4);
    }

    pub(crate) fn counts(&self) -> ReadCounts {
        ReadCounts {
            rows: self.rows.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
            bodies: self.built.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn block_at(reel: &Reel, seq: Seq) -> Result<&Block, ReadError> {
        let blocks = &reel.loaded.blocks;
        let count = blocks.partition_point(|block| block.start.record <= seq.0);
        count
            .checked_sub(1)
            .and_then(|place| blocks.get(place))
            .filter(|block| seq.0 < block.end())
            .ok_or_else(|| ReadError::NoSuchEvent {
                seq,
                end: reel.end(),
            })
    }

    /// Gives a block's bodies.
    pub(crate) fn bodies(&self, reel: &Reel, block: &Block) -> Result<Arc<Bodies>, ReadError> {
        self.bodies_within(reel, block, &mut { ReadAllowance::ALL })?
            .ok_or_else(|| damaged(block, SPENT.to_owned()))
    }

    /// Gives a block's bodies; nothing if more would have to be decoded for that than may be.
    pub(crate) fn bodies_within(
        &self,
        reel: &Reel,
        block: &Block,
        allowance: &mut ReadAllowance,
    ) -> Result<Option<Arc<Bodies>>, ReadError> {
        let place = match &block.source {
            Source::Tail(bodies) => return Ok(Some(Arc::clone(bodies))),
            Source::Sealed(place) => place,
        };
        let weight = |bodies: &Bodies| bodies.raw().len();
        if let Some(bodies) = held(&self.blocks).get(block.start.record, weight) {
            return Ok(Some(bodies));
        }
        let damaged = |cause| damaged(block, cause);
        if let Some(cause) = held(&self.damage).blocks.get(&block.start.record) {
            return Err(damaged(cause.clone()));
        }
        let prefix = if place.prefix == block.number {
            None
        } else {
            // The first of a group has no prefix of its own, so that this goes one step deep.
            let blocks = &reel.loaded.blocks;
            let first = blocks
                .binary_search_by_key(&place.prefix, |block| block.number)
                .ok()
                .and_then(|at| blocks.get(at))
                .filter(|first| match &first.source {
                    Source::Sealed(place) => place.prefix == first.number,
                    Source::Tail(_) => false,
                })
                .ok_or_else(|| damaged(format!("block {}, its prefix, is lost", place.prefix)))?;
            match self.bodies_within(reel, first, allowance)? {
                Some(first) => Some(first),
                None => return Ok(None),
            }
        };
        if !allowance.take_frame() {
            return Ok(None);
        }
        let prefix = prefix.as_deref().map_or(&[][..], Bodies::raw);
        let prefix = prefix.get(..MAX_PREFIX).unwrap_or(prefix);
        let packed = self.extent_bytes(place.bodies).map_err(damaged)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let most = BodyCounts {
            entries: Self::place_in(reel, block, Seq(block.end())),
            blobs: usize::try_from(block.blobs).unwrap_or(usize::MAX),
        };
        let read =
            frame::unpack(&packed, prefix, MAX_BLOCK_RAW).and_then(|raw| Bodies::decode(raw, most));
        let bodies = match read {
            Ok(bodies) => Arc::new(bodies),
            Err(error) => {
                let cause = error.to_string();
                let mut damage = held(&self.damage);
                damage.blocks.insert(block.start.record, cause.clone());
                return Err(damaged(cause));
            }
        };
        held(&self.blocks).put(block.start.record, Arc::clone(&bodies), weight(&bodies));
        Ok(Some(bodies))
    }

    fn extent_bytes(&self, span: Span) -> Result<Vec<u8>, String> {
        let table = self.extents.as_ref().map_err(Clone::clone)?;
        extents::read(table, span, || {
            self.rows.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Gives the place of an event among the events of its block.
    pub(crate) fn place_in(reel: &Reel, block: &Block, seq: Seq) -> usize {
        let start = block.start.record;
        let before = usize::try_from(seq.0.saturating_sub(start)).unwrap_or(usize::MAX);
        before.saturating_sub(reel.loaded.heads.notes_between(start, seq.0))
    }

    /// Gives a checkpoint's frame; nothing if it may not be decoded now.
    fn stored(
        &self,
        span: Span,
        allowance: &mut ReadAllowance,
    ) -> Result<Option<Arc<Stored>>, String> {
        let weight = |stored: &Stored| stored.bodies.raw().len();
        if let Some(stored) = held(&self.stored).get(span.offset, weight) {
            return Ok(Some(stored));
        }
        if let Some(cause) = held(&self.damage).parts.get(&span.offset) {
            return Err(cause.clone());
        }
        if !allowance.take_frame() {
            return Ok(None);
        }
        let packed = self.extent_bytes(span)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let stored = match Stored::decode(&packed) {
            Ok(stored) => Arc::new(stored),
            Err(error) => {
                let cause = error.to_string();
                let mut damage = held(&self.damage);
                damage.parts.insert(span.offset, cause.clone());
                return Err(cause);
            }
        };
        held(&self.stored).put(span.offset, Arc::clone(&stored), weight(&stored));
        Ok(Some(stored))
    }

    /// Gives the body of an object's last version before a checkpoint that holds it.
    ///
    /// [`Way::Elsewhere`] if the frame is damaged: the body stands elsewhere too.
    pub(crate) fn stored_body(
        &self,
        reel: &Reel,
        checkpoint: &Checkpoint,
        seq: Seq,
        object: ObjectId,
        allowance: &mut ReadAllowance,
    ) -> Way {
        let (Some(part), Some(key)) = (checkpoint.part_of(object), key_of(reel, object)) else {
            return Way::Elsewhere;
        };
        let stored = match self.stored(part, allowance) {
            Ok(Some(stored)) => stored,
            Ok(None) => return Way::Spent,
            Err(_damaged) => return Way::Elsewhere,
        };
        let Some((ops, text)) = stored.delta(object) else {
            return Way::Elsewhere;
        };
        match self.splice_within(reel, seq, &seed::of(key), ops, text, allowance) {
            Ok(Some(body)) => Way::Here(body),
            Ok(None) => Way::Spent,
            Err(_damaged) => Way::Elsewhere,
        }
    }

    /// Gives a body that was put together before.
    pub(crate) fn known(&self, seq: Seq) -> Option<Arc<[u8]>> {
        held(&self.known)
            .get(seq, |body| body.len())
            .map(|body| Arc::clone(&*body))
    }

    /// Keeps a body that was put together.
    pub(crate) fn keep(&self, seq: Seq, body: &Arc<[u8]>) {
        held(&self.known).put(seq, Arc::new(Arc::clone(body)), body.len());
    }

    /// Applies one event's delta.
    pub(crate) fn splice(
        &self,
        reel: &Reel,
        seq: Seq,
        against: &[u8],
        ops: &[u8],
        text: &[u8],
    ) -> Result<Arc<[u8]>, ReadError> {
        self.splice_within(reel, seq, against, ops, text, &mut { ReadAllowance::ALL })?
            .ok_or_else(|| ReadError::Event {
                seq,
                cause: SPENT.to_owned(),
            })
    }

    /// Applies one event's delta; gives nothing if that would take more than may be decoded.
    pub(crate) fn splice_within(
        &self,
        reel: &Reel,
        seq: Seq,
        against: &[u8],
        ops: &[u8],
        text: &[u8],
        allowance: &mut ReadAllowance,
    ) -> Result<Option<Arc<[u8]>>, ReadError> {
        if !allowance.has_body() {
            return Ok(None);
        }
        let built = splice::apply(against, ops, text, MAX_BODY, |id, take| {
            let found = self.find_blob(reel, id, allowance).map_err(Fault::Read)?;
            let (bodies, place) = found.ok_or(Fault::Spent)?;
            take(bodies.blob(place).unwrap_or_default());
            Ok::<(), Fault>(())
        });
        if !matches!(built, Err(Fault::Spent)) {
            self.built.fetch_add(1, Ordering::Relaxed);
        }
        match built {
            Ok(body) => {
                allowance.take_body(body.len());
                Ok(Some(body.into()))
            }
            Err(Fault::Spent) => Ok(None),
            Err(Fault::Read(error)) => Err(error),
            Err(Fault::Codec(error)) => Err(ReadError::Event {
                seq,
                cause: error.to_string(),
            }),
        }
    }

    fn find_blob(
        &self,
        reel: &Reel,
        id: BlobId,
        allowance: &mut ReadAllowance,
    ) -> Result<Option<(Arc<Bodies>, usize)>, ReadError> {
        let missing = || missing(id);
        let blocks = &reel.loaded.blocks;
        let count = blocks.partition_point(|block| block.start.blob <= id.0);
        // Blocks without blobs share their number with the next: the last that starts there has it.
        let block = count
            .checked_sub(1)
            .and_then(|place| blocks.get(place))
            .ok_or_else(missing)?;
        let place = usize::try_from(id.0 - block.start.blob).unwrap_or(usize::MAX);
        let Some(bodies) = self.bodies_within(reel, block, allowance)? else {
            return Ok(None);
        };
        if place >= bodies.blob_count() {
            return Err(missing());
        }
        Ok(Some((bodies, place)))
    }

    pub(crate) fn blob(&self, reel: &Reel, id: BlobId) -> Result<Arc<[u8]>, ReadError> {
        let found = self.find_blob(reel, id, &mut { ReadAllowance::ALL })?;
        let (bodies, place) = found.ok_or_else(|| missing(id))?;
        Ok(bodies.blob(place).unwrap_or_default().into())
    }
}

/// What nobody sees: an allowance without bounds that is spent.
const SPENT: &str = "too much lies behind it";

fn damaged(block: &Block, cause: String) -> ReadError {
    ReadError::Block {
        block: BlockId(block.number),
        first: Seq(block.start.record),
        last: Seq(block.end().saturating_sub(1)),
        cause,
    }
}

fn missing(id: BlobId) -> ReadError {
    ReadError::Storage {
        place: format!("text {id} of the blob log"),
        cause: "it is not there".to_owned(),
    }
}

/// Gives who an object is.
pub(crate) fn key_of(reel: &Reel, object: ObjectId) -> Option<&ObjectKey> {
    let place = usize::try_from(object.0).ok()?;
    reel.objects().get(place).map(|object| &object.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bodies::{Base, Mark, Writer};
    use crate::codec::{columns, varint};
    use crate::event::{Body, EventType, Evidence, NewEvent};
    use crate::file::append::Appender;
    use crate::file::checkpoint::Part;
    use crate::file::directory;
    use crate::id::{ConnectionId, ResourceId};
    use crate::limits::EXTENT;
    use crate::note::Note;
    use crate::resource::ResourceInfo;
    use crate::time::{Elapsed, RecordedAt, Stamp};
    use redb::{ReadableDatabase as _, ReadableTable as _};
    use std::path::{Path, PathBuf};

    const OBJECTS: u64 = 300;
    const ROUNDS: u64 = 12;
    const STAMP: Stamp = Stamp {
        wall: RecordedAt::from_micros(0),
        elapsed: Elapsed { micros: 0 },
    };

    fn body_of(object: u64, round: u64) -> String {
        format!(
            r#"{{"name":"o{object}","round":{round},"text":"{:x}"}}"#,
            object * 77_777 + round
        )
    }

    /// A reel of four blocks: objects with a version in each round.
    fn reel_in(folder: &Path) -> PathBuf {
        let path = folder.join("forged.reel");
        let mut appender = Appender::create(&path).unwrap();
        let resource = ResourceId(0);
        let note = Note::Resource(ResourceInfo {
            id: resource,
            group: String::new(),
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            singular: "pod".to_owned(),
            kind: "Pod".to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
            storage_hash: None,
        });
        appender.append_note(STAMP, note).unwrap();
        for round in 0..ROUNDS {
            for object in 0..OBJECTS {
                let (name, body) = (format!("o{object}"), body_of(object, round));
                let event = NewEvent {
                    stamp: STAMP,
                    connection: ConnectionId(0),
                    kind: if round == 0 {
                        EventType::Added
                    } else {
                        EventType::Modified
                    },
                    evidence: Evidence::Live,
                    resource,
                    namespace: "n",
                    name: &name,
                    uid: &name,
                    resource_version: "1",
                    body: Body::Bytes(body.as_bytes()),
                };
                appender.append_event(&event).unwrap();
            }
        }
        appender.finish().unwrap();
        path
    }

    /// Puts a frame behind the last extent, and gives its place.
    fn add_frame(database: &Database, packed: &[u8]) -> Span {
        let transaction = database.begin_write().unwrap();
        let first = {
            let mut extents = transaction.open_table(tables::EXTENTS).unwrap();
            let first = extents
                .last()
                .unwrap()
                .map_or(0, |(row, _)| row.value() + 1);
            for (row, bytes) in (first..).zip(packed.chunks(EXTENT)) {
                extents.insert(row, bytes).unwrap();
            }
            first
        };
        transaction.commit().unwrap();
        Span {
            offset: first * u64::try_from(EXTENT).unwrap(),
            len: u32::try_from(packed.len()).unwrap(),
        }
    }

    /// Replaces a block's columns by others with the right checksum.
    fn forge_block(path: &Path, number: u32, change: impl Fn([Vec<u8>; 4]) -> [Vec<u8>; 4]) {
        let database = Database::open(path).unwrap();
        let read = database.begin_read().unwrap();
        let row = read.open_table(tables::DIRECTORY).unwrap();
        let mut place = directory::decode(row.get(number).unwrap().unwrap().value()).unwrap();
        assert_eq!(place.prefix, 0, "the group's first block is its prefix");
        let extents = read.open_table(tables::EXTENTS).unwrap();
        let prefix = if number == 0 {
            Vec::new()
        } else {
            let first = directory::decode(row.get(0).unwrap().unwrap().value()).unwrap();
            let packed = extents::read(&extents, first.bodies, || {}).unwrap();
            frame::unpack(&packed, &[], MAX_BLOCK_RAW).unwrap()
        };
        let packed = extents::read(&extents, place.bodies, || {}).unwrap();
        let raw = frame::unpack(&packed, &prefix, MAX_BLOCK_RAW).unwrap();
        let columns = columns::split::<4>(&raw, "a segment's bodies").unwrap();
        let columns = change(columns.map(<[u8]>::to_vec));
        let raw = columns::join(columns.each_ref().map(Vec::as_slice));
        let packed = frame::pack(&raw, frame::LEVEL_QUICK, &prefix).unwrap();
        drop((row, extents, read));
        place.bodies = add_frame(&database, &packed);
        let transaction = database.begin_write().unwrap();
        {
            let mut table = transaction.open_table(tables::DIRECTORY).unwrap();
            let row = directory::encode(&place).unwrap();
            table.insert(number, row.as_slice()).unwrap();
        }
        transaction.commit().unwrap();
    }

    fn read_all(reel: &Reel) -> (u64, u64) {
        let (mut right, mut wrong) = (0, 0);
        let mut count = |event: Option<(Seq, &[u8])>| match event {
            Some((seq, body)) => {
                let place = seq.0 - 1;
                let expected = body_of(place % OBJECTS, place / OBJECTS);
                assert_eq!(body, expected.as_bytes(), "wrong bytes of event {seq}");
                right += 1;
            }
            None => wrong += 1,
        };
        for event in reel.scan(Seq(0)) {
            count(
                event
                    .ok()
                    .as_ref()
                    .map(|event| (event.head.seq, &*event.body)),
            );
        }
        for seq in (1..reel.end().0).map(Seq) {
            count(reel.body(seq).ok().as_deref().map(|body| (seq, body)));
            count(
                reel.body_at(seq, Seq(seq.0 + 1))
                    .ok()
                    .as_deref()
                    .map(|body| (seq, body)),
            );
        }
        (right, wrong)
    }

    #[test]
    fn a_block_that_is_damaged_behind_its_checksum_is_decompressed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = reel_in(folder.path());
        // A text that belongs to no body makes the block as large as a block can be.
        forge_block(&path, 1, |[entries, ops, mut text, blobs]| {
            text.resize(MAX_BLOCK_RAW - 100_000, b'z');
            [entries, ops, text, blobs]
        });
        assert!(std::fs::metadata(&path).unwrap().len() < 2_000_000);
        let reel = Reel::open(&path).unwrap();
        let blocks = reel.blocks().len();
        assert!(blocks >= 3, "{blocks} blocks");
        let (right, wrong) = read_all(&reel);
        assert!(right > 1_000 && wrong > 4_000, "{right} and {wrong}");
        let frames = reel.counts().frames;
        assert!(frames <= u64::try_from(blocks).unwrap(), "{frames} frames");
        let error = reel.body(Seq(1_500)).unwrap_err().to_string();
        assert!(error.contains("a segment's text"), "{error}");
    }

    #[test]
    fn a_block_with_more_bodies_than_events_is_refused_at_the_first_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = reel_in(folder.path());
        forge_block(&path, 0, |[mut entries, ops, text, blobs]| {
            // Three bytes of a column are 40 in memory.
            entries.resize(MAX_BLOCK_RAW - 300_000, 0);
            [entries, ops, text, blobs]
        });
        let reel = Reel::open(&path).unwrap();
        let (right, _) = read_all(&reel);
        assert_eq!(right, 0, "the first block is the prefix of the others");
        assert_eq!(reel.counts().frames, 1);
        let error = reel.body(Seq(1)).unwrap_err().to_string();
        assert!(error.contains("number of bodies"), "{error}");
    }

    #[test]
    fn a_block_beyond_the_cache_is_kept_until_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = reel_in(folder.path());
        // All text of the block is its first body's, so that the others are damaged and the block is not.
        forge_block(&path, 1, |[entries, ops, mut text, blobs]| {
            let mut fields = varint::Fields::new(&entries, "an entry");
            let (base, ops_len) = (fields.number32().unwrap(), fields.number32().unwrap());
            let first = fields.number32().unwrap();
            let rest = fields.rest().to_vec();
            let more = MAX_BLOCK_RAW - 200_000 - text.len();
            let mut entries = Vec::new();
            varint::put(&mut entries, u128::from(base));
            varint::put(&mut entries, u128::from(ops_len));
            varint::put_len(&mut entries, usize::try_from(first).unwrap() + more);
            entries.extend(rest);
            let at = usize::try_from(first).unwrap();
            text.splice(at..at, std::iter::repeat_n(b'z', more));
            [entries, ops, text, blobs]
        });
        let reel = Reel::open(&path).unwrap();
        reel.bound_cache(0);
        let block = reel.blocks()[1];
        let mut bodies = 0;
        for seq in (block.first.0 + 1..block.first.0 + u64::from(block.records)).map(Seq) {
            bodies += u64::from(reel.body(seq).is_ok());
        }
        assert!(bodies > 100, "{bodies} bodies");
        let frames = reel.counts().frames;
        assert!(
            frames <= 2 * bodies / 100,
            "{frames} frames for {bodies} bodies"
        );
    }

    #[test]
    fn a_damaged_part_of_a_checkpoint_is_decompressed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = reel_in(folder.path());
        let database = Database::open(&path).unwrap();
        let mut bodies = Writer::default();
        bodies.end_entry(Base::Whole);
        bodies.text.resize(MAX_BLOCK_RAW - 1_000, b'z');
        let raw = columns::join([&[0][..], &bodies.columns_since(Mark::default())]);
        let packed = frame::pack(&raw, frame::LEVEL_QUICK, &[]).unwrap();
        let checkpoint = Checkpoint {
            seq: OBJECTS * ROUNDS,
            parent_seq: 0,
            parts: vec![Part {
                first: 0,
                span: add_frame(&database, &packed),
            }],
        };
        let transaction = database.begin_write().unwrap();
        {
            let mut table = transaction.open_table(tables::CHECKPOINTS).unwrap();
            let row = checkpoint.encode().unwrap();
            table.insert(1, row.as_slice()).unwrap();
        }
        transaction.commit().unwrap();
        drop(database);
        let reel = Reel::open(&path).unwrap();
        for object in 0..OBJECTS - 1 {
            let seq = Seq(1 + (ROUNDS - 1) * OBJECTS + object);
            let body = reel.body_at(seq, reel.end()).unwrap();
            assert_eq!(&*body, body_of(object, ROUNDS - 1).as_bytes());
        }
        let blocks = u64::try_from(reel.blocks().len()).unwrap();
        assert!(reel.counts().frames <= blocks + 1, "{:?}", reel.counts());
    }
}
