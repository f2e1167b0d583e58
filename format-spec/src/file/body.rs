//! Owns the way from an event's number to its bytes: find the block, follow the versions back, apply
//! the deltas. Refuses bytes whose way leads through damage.

use super::cache::Cache;
use super::directory::Span;
use super::extents;
use super::guard::{Fenced, fenced};
use super::heads::Slot;
use super::load::{Block, Source};
use super::reel::{ReadCounts, Reel};
use crate::codec::bodies::{Base, Bodies};
use crate::codec::{CodecError, frame, seed, splice};
use crate::error::ReadError;
use crate::id::{BlobId, BlockId, ObjectId, Seq};
use crate::limits::{MAX_BLOCK_RAW, MAX_BODY, MAX_CHAIN, MAX_PREFIX, READ_CACHE};
use crate::tables;
use redb::{Database, ReadOnlyTable, ReadTransaction};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads bodies and blobs.
pub(crate) struct Reader {
    extents: Result<ReadOnlyTable<u64, &'static [u8]>, String>,
    blocks: Mutex<Cache<u64, Bodies>>,
    bodies: Mutex<Cache<Seq, Arc<[u8]>>>,
    rows: AtomicU64,
    frames: AtomicU64,
    built: AtomicU64,
    /// Outlives the table.
    _database: Fenced<Database>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A codec's or another event's error on the way to one event.
enum Fault {
    Codec(CodecError),
    Read(ReadError),
}

impl From<CodecError> for Fault {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

/// One step of the way back: an event's delta.
struct Step {
    seq: Seq,
    bodies: Arc<Bodies>,
    place: usize,
}

impl Reader {
    pub(crate) fn new(database: Fenced<Database>, transaction: &ReadTransaction) -> Self {
        Self {
            extents: fenced(|| transaction.open_table(tables::EXTENTS)),
            blocks: Mutex::new(Cache::new(READ_CACHE / 4 * 3)),
            bodies: Mutex::new(Cache::new(READ_CACHE / 4)),
            rows: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            built: AtomicU64::new(0),
            _database: database,
        }
    }

    pub(crate) fn counts(&self) -> ReadCounts {
        ReadCounts {
            rows: self.rows.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
            bodies: self.built.load(Ordering::Relaxed),
        }
    }

    fn block_at(reel: &Reel, seq: Seq) -> Result<&Block, ReadError> {
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
        let place = match &block.source {
            Source::Tail(bodies) => return Ok(Arc::clone(bodies)),
            Source::Sealed(place) => place,
        };
        let weight = |bodies: &Bodies| bodies.raw().len();
        if let Some(bodies) = held(&self.blocks).get(block.start.record, weight) {
            return Ok(bodies);
        }
        let damaged = |cause: String| ReadError::Block {
            block: BlockId(block.number),
            first: Seq(block.start.record),
            last: Seq(block.end().saturating_sub(1)),
            cause,
        };
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
            Some(self.bodies(reel, first)?)
        };
        let prefix = prefix.as_deref().map_or(&[][..], Bodies::raw);
        let prefix = prefix.get(..MAX_PREFIX).unwrap_or(prefix);
        let packed = self.extent_bytes(place.bodies).map_err(damaged)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let bodies = frame::unpack(&packed, prefix, MAX_BLOCK_RAW)
            .and_then(Bodies::decode)
            .map_err(|error| damaged(error.to_string()))?;
        let bodies = Arc::new(bodies);
        held(&self.blocks).put(block.start.record, Arc::clone(&bodies), weight(&bodies));
        Ok(bodies)
    }

    fn extent_bytes(&self, span: Span) -> Result<Vec<u8>, String> {
        let table = self.extents.as_ref().map_err(Clone::clone)?;
        extents::read(table, span, || {
            self.rows.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Gives the place of an event among the events of its block.
    fn place_in(reel: &Reel, block: &Block, seq: Seq) -> usize {
        (block.start.record..seq.0)
            .filter(|before| matches!(reel.loaded.heads.slot(Seq(*before)), Some(Slot::Event(_))))
            .count()
    }

    pub(crate) fn body(&self, reel: &Reel, seq: Seq) -> Result<Arc<[u8]>, ReadError> {
        if reel.object_of(seq).is_none() {
            return Err(match reel.loaded.heads.slot(seq) {
                Some(Slot::Note) => ReadError::NotAnEvent { seq },
                Some(_) => lost(seq),
                None => ReadError::NoSuchEvent {
                    seq,
                    end: reel.end(),
                },
            });
        }
        let mut steps: Vec<Step> = Vec::new();
        let mut at = seq;
        let mut body: Option<Arc<[u8]>> = None;
        let mut seeds: Vec<(Seq, ObjectId)> = Vec::new();
        loop {
            if let Some(known) = held(&self.bodies).get(at, |body| body.len()) {
                body = Some(Arc::clone(&known));
                break;
            }
            if steps.len() >= MAX_CHAIN {
                return Err(ReadError::Event {
                    seq,
                    cause: format!("more than {MAX_CHAIN} versions lie behind it"),
                });
            }
            let block = Self::block_at(reel, at)?;
            let bodies = self.bodies(reel, block)?;
            let place = Self::place_in(reel, block, at);
            let base = bodies.delta(place).map(|(base, _, _)| base);
            steps.push(Step {
                seq: at,
                bodies,
                place,
            });
            let own = reel.object_of(at).unwrap_or_default();
            let other = match base {
                None => {
                    return Err(ReadError::Event {
                        seq: at,
                        cause: "its block holds no body for it".to_owned(),
                    });
                }
                Some(Base::Whole) => break,
                Some(Base::Previous) => own,
                Some(Base::Other(other)) => {
                    seeds.push((at, other));
                    other
                }
            };
            at = Self::before(reel, other, at)?;
        }
        for step in steps.into_iter().rev() {
            let key = reel
                .object_of(step.seq)
                .and_then(|id| {
                    reel.objects()
                        .get(usize::try_from(id.0).unwrap_or(usize::MAX))
                })
                .map(|object| &object.key)
                .ok_or_else(|| lost(step.seq))?;
            let against = match (&body, seeds.last()) {
                (None, _) => seed::of(key),
                (Some(before), Some((at, other))) if *at == step.seq => {
                    let place = usize::try_from(other.0).unwrap_or(usize::MAX);
                    let other = reel.objects().get(place).ok_or_else(|| lost(step.seq))?;
                    let text = seed::from_other(before, &other.key, key);
                    seeds.pop();
                    text
                }
                (Some(before), _) => before.to_vec(),
            };
            let built = self.apply(reel, &step, &against)?;
            held(&self.bodies).put(step.seq, Arc::new(Arc::clone(&built)), built.len());
            body = Some(built);
        }
        body.ok_or_else(|| lost(seq))
    }

    /// Gives the version of an object before `seq`, if none between them may be lost.
    fn before(reel: &Reel, object: ObjectId, seq: Seq) -> Result<Seq, ReadError> {
        let before = reel.versions.before(object, seq).ok_or_else(|| lost(seq))?;
        let hidden = reel
            .loaded
            .heads
            .lost
            .iter()
            .any(|(from, to)| *from < seq.0 && *to > before.0);
        if hidden { Err(lost(seq)) } else { Ok(before) }
    }

    fn apply(&self, reel: &Reel, step: &Step, against: &[u8]) -> Result<Arc<[u8]>, ReadError> {
        let (_, ops, text) = step
            .bodies
            .delta(step.place)
            .ok_or_else(|| lost(step.seq))?;
        self.splice(reel, step.seq, against, ops, text)
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
        self.built.fetch_add(1, Ordering::Relaxed);
        let built = splice::apply(against, ops, text, MAX_BODY, |id, take| {
            let (bodies, place) = self.find_blob(reel, id).map_err(Fault::Read)?;
            take(bodies.blob(place).unwrap_or_default());
            Ok::<(), Fault>(())
        });
        match built {
            Ok(body) => Ok(body.into()),
            Err(Fault::Read(error)) => Err(error),
            Err(Fault::Codec(error)) => Err(ReadError::Event {
                seq,
                cause: error.to_string(),
            }),
        }
    }

    fn find_blob(&self, reel: &Reel, id: BlobId) -> Result<(Arc<Bodies>, usize), ReadError> {
        let missing = || ReadError::Storage {
            place: format!("text {id} of the blob log"),
            cause: "it is not there".to_owned(),
        };
        let blocks = &reel.loaded.blocks;
        let count = blocks.partition_point(|block| block.start.blob <= id.0);
        // Blocks without blobs share their number with the next: the last that starts there has it.
        let block = count
            .checked_sub(1)
            .and_then(|place| blocks.get(place))
            .ok_or_else(missing)?;
        let place = usize::try_from(id.0 - block.start.blob).unwrap_or(usize::MAX);
        let bodies = self.bodies(reel, block)?;
        if place >= bodies.blob_count() {
            return Err(missing());
        }
        Ok((bodies, place))
    }

    pub(crate) fn blob(&self, reel: &Reel, id: BlobId) -> Result<Arc<[u8]>, ReadError> {
        let (bodies, place) = self.find_blob(reel, id)?;
        Ok(bodies.blob(place).unwrap_or_default().into())
    }
}

fn lost(seq: Seq) -> ReadError {
    ReadError::Event {
        seq,
        cause: "it, or what it is told against, lies where the reel is damaged".to_owned(),
    }
}
