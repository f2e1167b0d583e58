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
use crate::codec::bodies::Bodies;
use crate::codec::{CodecError, frame, seed, splice};
use crate::error::ReadError;
use crate::event::ObjectKey;
use crate::id::{BlobId, BlockId, ObjectId, Seq};
use crate::limits::{MAX_BLOCK_RAW, MAX_BODY, MAX_PREFIX, READ_CACHE};
use crate::tables;
use redb::{Database, ReadOnlyTable, ReadTransaction};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads bodies and blobs.
pub(crate) struct Reader {
    extents: Result<ReadOnlyTable<u64, &'static [u8]>, String>,
    blocks: Mutex<Cache<u64, Bodies>>,
    stored: Mutex<Cache<u64, Stored>>,
    known: Mutex<Cache<Seq, Arc<[u8]>>>,
    rows: AtomicU64,
    frames: AtomicU64,
    built: AtomicU64,
    /// Outlives the table.
    _database: Fenced<Database>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
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
        let bodies = frame::unpack(&packed, prefix, MAX_BLOCK_RAW)
            .and_then(Bodies::decode)
            .map_err(|error| damaged(error.to_string()))?;
        let bodies = Arc::new(bodies);
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
        if !allowance.take_frame() {
            return Ok(None);
        }
        let packed = self.extent_bytes(span)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let stored = Stored::decode(&packed).map_err(|error| error.to_string())?;
        let stored = Arc::new(stored);
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
