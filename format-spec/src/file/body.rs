//! Reads blocks, checkpoints and blobs: decodes their frames, applies single deltas, and caches both.
//! [`delta_chain`](super::delta_chain) follows the deltas of an event.
//!
//! Invariants, because the file may be damaged or forged:
//! * A damaged frame is decompressed once; its error is remembered.
//! * A body is returned only after its frame's checksum matched; a damaged checkpoint is not an error, because
//!   the body is in a block too.

use crate::codec::bodies::{Bodies, BodyCounts, BodySlot, Delta};
use crate::codec::frame::Form;
use crate::codec::model::{BodyModel, ModelSize};
use crate::codec::{CodecError, frame, splice};
use crate::error::{Damage, Loss, ReadError};
use crate::file::cache::Cache;
use crate::file::checkpoint::{Checkpoint, CheckpointFrame};
use crate::file::group::{self, ObjectGroup};
use crate::file::load::{Block, BlockSource};
use crate::file::reel::{ReadCounts, Reel};
use crate::file::rows::RowSource;
use crate::file::segment::FrameSpan;
use crate::id::{BlobId, BlockId, ObjectId, Seq};
use crate::limits::{
    MAX_BLOCK_RAW, MAX_BODY, MAX_MODEL_RAW, MAX_OBJECT_FRAME, MAX_PREFIX, MODELLED_CACHE,
    READ_CACHE, place32,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads bodies and blobs.
pub(crate) struct BodyReader {
    rows: RowSource,
    blocks: Mutex<Cache<u32, Bodies>>,
    /// Blocks that a model codes.
    modelled: Mutex<Cache<u32, Bodies>>,
    /// The last decoded block of a sealed group, and the state of the model after it.
    model: Mutex<Option<(u32, BodyModel)>>,
    /// The orders of groups whose bodies lie by object, by the block in front of each: as many as the directory has.
    groups: Mutex<HashMap<u32, Arc<ObjectGroup>>>,
    stored: Mutex<Cache<u64, CheckpointFrame>>,
    known: Mutex<Cache<Seq, Arc<[u8]>>>,
    /// Texts of the blob log: many bodies share one, and its block may lie far from theirs.
    texts: Mutex<Cache<u32, Box<[u8]>>>,
    damage: Mutex<FrameDamage>,
    rows_read: AtomicU64,
    frames: AtomicU64,
    built: AtomicU64,
    /// The bytes of decoded data that are kept.
    most: AtomicUsize,
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
    /// By the block's number.
    blocks: HashMap<u32, String>,
    /// Parts of checkpoints, by their place in the stream.
    parts: HashMap<u64, String>,
    /// Events of a damaged reel: those that are encoded against one of them need not be followed any farther.
    events: HashMap<Seq, Arc<ReadError>>,
}

/// Why a body is not put together.
enum BodyFault {
    Codec(CodecError),
    /// Another event's error.
    Read(ReadError),
}

impl From<CodecError> for BodyFault {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

impl BodyReader {
    pub(crate) fn new(rows: RowSource) -> Self {
        Self {
            rows,
            blocks: Mutex::new(Cache::new(READ_CACHE / 2)),
            modelled: Mutex::new(Cache::new(MODELLED_CACHE)),
            model: Mutex::default(),
            groups: Mutex::default(),
            stored: Mutex::new(Cache::new(READ_CACHE / 4)),
            known: Mutex::new(Cache::new(READ_CACHE / 4)),
            texts: Mutex::new(Cache::new(READ_CACHE / 4)),
            damage: Mutex::default(),
            rows_read: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            built: AtomicU64::new(0),
            most: AtomicUsize::new(READ_CACHE),
        }
    }

    /// Keeps at most `most` bytes of decoded data, and returns how many it kept before.
    pub(crate) fn bound(&self, most: usize) -> usize {
        held(&self.blocks).bound(most / 2);
        held(&self.modelled).bound(most);
        held(&self.stored).bound(most / 4);
        held(&self.known).bound(most / 4);
        held(&self.texts).bound(most / 4);
        self.most.swap(most, Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> ReadCounts {
        ReadCounts {
            rows: self.rows_read.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
            bodies: self.built.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn block_at(reel: &Reel, seq: Seq) -> Result<&Block, ReadError> {
        reel.loaded
            .block_with(|start| start.record <= seq.0)
            .and_then(|place| reel.loaded.blocks.get(place))
            .filter(|block| seq.0 < block.end())
            .ok_or_else(|| ReadError::NoSuchEvent {
                seq,
                end: reel.end(),
            })
    }

    /// Returns where the bodies of a block's group lie, if they lie by object.
    pub(crate) fn object_group(
        &self,
        reel: &Reel,
        block: &Block,
    ) -> Result<Option<Arc<ObjectGroup>>, ReadError> {
        let Some(head) = ObjectGroup::head(reel, block) else {
            return Ok(None);
        };
        if let Some(group) = held(&self.groups).get(&head.number) {
            return Ok(Some(Arc::clone(group)));
        }
        let bodies = self.bodies(reel, head)?;
        let order = bodies.blob(1).unwrap_or_default();
        let group = ObjectGroup::decode(head, order);
        let group = Arc::new(group.map_err(|error| damaged(head, error.to_string()))?);
        held(&self.groups).insert(head.number, Arc::clone(&group));
        Ok(Some(group))
    }

    /// Returns the block that holds the body of an event, and which of its bodies that is.
    pub(crate) fn slot_of<'a>(
        &self,
        reel: &'a Reel,
        seq: Seq,
        object: ObjectId,
    ) -> Result<(&'a Block, BodySlot), ReadError> {
        let block = Self::block_at(reel, seq)?;
        let Some(group) = self.object_group(reel, block)? else {
            return Ok((block, BodySlot::Nth(Self::place_in(reel, block, seq))));
        };
        Self::slot_in(reel, &group, seq, object)
    }

    /// Returns the block of a group with the body of an event, and which of its bodies that is.
    pub(crate) fn slot_in<'a>(
        reel: &'a Reel,
        group: &ObjectGroup,
        seq: Seq,
        object: ObjectId,
    ) -> Result<(&'a Block, BodySlot), ReadError> {
        let slot = group.slot_of(reel, seq, object);
        let found = slot.and_then(|(number, slot)| Some((group::block_named(reel, number)?, slot)));
        found.ok_or_else(|| ReadError::Event {
            seq,
            cause: "the block with its body is lost".to_owned(),
        })
    }

    /// Returns the first and the last record whose bodies can be in a block.
    fn records_of(&self, reel: &Reel, block: &Block) -> (Seq, Seq) {
        let records = match self.object_group(reel, block) {
            Ok(Some(group)) => group.records.clone(),
            _ => block.start.record..block.end(),
        };
        let last = records.end.min(reel.end().0).saturating_sub(1);
        (Seq(records.start), Seq(last))
    }

    /// Returns a block's bodies.
    pub(crate) fn bodies(&self, reel: &Reel, block: &Block) -> Result<Arc<Bodies>, ReadError> {
        let place = match &block.source {
            BlockSource::Tail(bodies) => return Ok(Arc::clone(bodies)),
            BlockSource::Sealed(place) => place,
        };
        let weight = |bodies: &Bodies| bodies.raw().len();
        for cache in [&self.blocks, &self.modelled] {
            if let Some(bodies) = held(cache).get(block.number, weight) {
                return Ok(bodies);
            }
        }
        let known = held(&self.damage).blocks.get(&block.number).cloned();
        if let Some(cause) = known {
            return Err(self.unreadable(reel, block, cause));
        }
        let damaged = |cause| damaged(block, cause);
        let packed = self.block_frame(reel, place.bodies, block)?;
        let form = frame::form_of(&packed);
        if form.and_then(ModelSize::of).is_some() {
            return self.modelled(reel, block);
        }
        let prefix = if place.prefix == block.number {
            None
        } else {
            // The first of a group has no prefix of its own, so that this goes one step deep.
            let first = group::block_named(reel, place.prefix)
                .filter(|first| first.prefix() == Some(first.number))
                .ok_or_else(|| damaged(lost_prefix(place.prefix)))?;
            Some(self.bodies(reel, first)?)
        };
        let prefix = prefix.as_deref().map_or(&[][..], Bodies::raw);
        let prefix = prefix.get(..MAX_PREFIX).unwrap_or(prefix);
        self.frames.fetch_add(1, Ordering::Relaxed);
        let read = if form == Some(Form::ByObject) {
            let most = BodyCounts {
                // Any events of its group.
                entries: reel.versions.count(),
                blobs: place32(block.blobs),
            };
            frame::unpack(&packed, prefix, MAX_OBJECT_FRAME)
                .and_then(|raw| Bodies::decode_by_object(raw, most))
        } else {
            frame::unpack(&packed, prefix, MAX_BLOCK_RAW)
                .and_then(|raw| Bodies::decode(raw, Self::most_in(reel, block)))
                .map(|bodies| match form {
                    Some(Form::Pieces) => bodies.counting_pieces(),
                    _ => bodies,
                })
        };
        self.keep_block(reel, &self.blocks, block, read)
    }

    /// Returns the bodies of a block that continues the ones before it in its group: these are decoded first, and
    /// kept, unless the model has passed one of them already.
    fn modelled(&self, reel: &Reel, block: &Block) -> Result<Arc<Bodies>, ReadError> {
        let chain = group::blocks_to(reel, block).map_err(|lost| match lost {
            Some(lost) => damaged(block, lost_prefix(lost)),
            None => damaged(block, "too many blocks lie in front of it".to_owned()),
        })?;
        let behind = |cause: &str, first: &Block| {
            damaged(
                block,
                format!("block {}, its prefix: {cause}", first.number),
            )
        };
        for first in &chain {
            if let Some(cause) = held(&self.damage).blocks.get(&first.number) {
                return Err(behind(cause, first));
            }
        }
        let mut state = held(&self.model).take();
        let done = state
            .as_ref()
            .and_then(|(done, _)| chain.iter().position(|first| first.number == *done))
            .filter(|done| done.saturating_add(1) < chain.len());
        if done.is_none() {
            state = None;
        }
        let mut model = state.map(|(_, model)| model);
        let mut found = None;
        let mut last = done
            .and_then(|done| chain.get(done))
            .map(|first| first.number);
        for step in chain
            .iter()
            .skip(done.map_or(0, |done| done.saturating_add(1)))
        {
            let bodies =
                self.continue_with(reel, step, &mut model)
                    .map_err(|error| match error {
                        ReadError::Block { cause, .. } if step.number != block.number => {
                            behind(&cause, step)
                        }
                        error => error,
                    })?;
            last = Some(step.number);
            found = Some(bodies);
        }
        *held(&self.model) = last.zip(model);
        found.ok_or_else(|| damaged(block, "it does not lie in its own group".to_owned()))
    }

    /// Decodes the next block of a group, whose first one begins a model.
    fn continue_with(
        &self,
        reel: &Reel,
        block: &Block,
        model: &mut Option<BodyModel>,
    ) -> Result<Arc<Bodies>, ReadError> {
        let BlockSource::Sealed(place) = &block.source else {
            return Err(damaged(block, "it is not sealed".to_owned()));
        };
        let packed = self.block_frame(reel, place.bodies, block)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let size = frame::form_of(&packed).and_then(ModelSize::of);
        let size = size.ok_or_else(|| damaged(block, NOT_MODELLED.to_owned()))?;
        let model = model.get_or_insert_with(|| BodyModel::new(size));
        let facts = group::facts_of(reel, block);
        let read = model
            .unpack(&packed, &facts, MAX_MODEL_RAW)
            .and_then(|raw| Bodies::decode(raw, Self::most_in(reel, block)))
            .map(Bodies::counting_pieces);
        let bodies = self.keep_block(reel, &self.modelled, block, read)?;
        let mut texts = held(&self.texts);
        for (number, place) in (block.start.blob..).zip(0..bodies.blob_count()) {
            let text = bodies.blob(place).unwrap_or_default();
            texts.put(number, Arc::new(text.into()), text.len());
        }
        Ok(bodies)
    }

    /// Returns how many bodies and blobs a block's index names.
    fn most_in(reel: &Reel, block: &Block) -> BodyCounts {
        BodyCounts {
            entries: Self::place_in(reel, block, Seq(block.end())),
            blobs: place32(block.blobs),
        }
    }

    /// Keeps a decoded block, or its damage.
    fn keep_block(
        &self,
        reel: &Reel,
        cache: &Mutex<Cache<u32, Bodies>>,
        block: &Block,
        read: Result<Bodies, CodecError>,
    ) -> Result<Arc<Bodies>, ReadError> {
        match read {
            Ok(bodies) => {
                let bodies = Arc::new(bodies);
                let weight = bodies.raw().len();
                held(cache).put(block.number, Arc::clone(&bodies), weight);
                Ok(bodies)
            }
            Err(error) => Err(self.keep_damage(reel, block, error.to_string())),
        }
    }

    /// Keeps why a block cannot be read: the blocks in front of it are not decoded again to find that out.
    fn keep_damage(&self, reel: &Reel, block: &Block, cause: String) -> ReadError {
        let mut damage = held(&self.damage);
        damage.blocks.insert(block.number, cause.clone());
        drop(damage);
        self.unreadable(reel, block, cause)
    }

    /// Makes the error of a block whose bodies cannot be read.
    fn unreadable(&self, reel: &Reel, block: &Block, cause: String) -> ReadError {
        let (first, last) = self.records_of(reel, block);
        let block = BlockId(block.number);
        ReadError::Block {
            block,
            first,
            last,
            cause,
        }
    }

    /// Returns the frame of a block's bodies.
    fn block_frame(
        &self,
        reel: &Reel,
        span: FrameSpan,
        block: &Block,
    ) -> Result<Vec<u8>, ReadError> {
        let read = self.bodies_frame(span, block.writer);
        read.map_err(|cause| self.keep_damage(reel, block, cause))
    }

    fn bodies_frame(&self, span: FrameSpan, writer: u32) -> Result<Vec<u8>, String> {
        self.rows.bodies_frame(span, writer, || {
            self.rows_read.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Finds the blocks of a damaged file whose bodies cannot be read. Only frames in rows that are not whole, and
    /// those that have one of these as their prefix, are decompressed for that.
    pub(crate) fn unreadable_blocks(&self, reel: &Reel) -> Vec<Damage> {
        let mut unreadable = BTreeMap::new();
        if !self.rows.is_salvaged() {
            return Vec::new();
        }
        for block in &reel.loaded.blocks {
            let BlockSource::Sealed(place) = &block.source else {
                continue;
            };
            let is_whole = self.rows.is_whole(place.bodies, block.writer)
                && !unreadable.contains_key(&place.prefix);
            if is_whole {
                continue;
            }
            if let Err(error) = self.bodies(reel, block) {
                unreadable.insert(block.number, (block, error));
            }
        }
        let mut named: BTreeMap<(Seq, Seq), (String, Vec<u32>)> = BTreeMap::new();
        for (block, error) in unreadable.into_values() {
            // What only serves as a prefix has no bodies of its own.
            if block.records == 0 {
                continue;
            }
            let cause = match error {
                ReadError::Block { cause, .. } => cause,
                other => other.to_string(),
            };
            let records = self.records_of(reel, block);
            let (_, blocks) = named.entry(records).or_insert((cause, Vec::new()));
            blocks.push(block.number);
        }
        let named = named.into_iter().map(|((first, last), (cause, blocks))| {
            let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
            let word = if numbers.len() > 1 { "blocks" } else { "block" };
            Damage {
                place: format!("{word} {}", numbers.join(", ")),
                cause,
                loss: Loss::Bodies { first, last },
            }
        });
        named.collect()
    }

    /// Returns the place of an event among the events of its block.
    pub(crate) fn place_in(reel: &Reel, block: &Block, seq: Seq) -> usize {
        let start = block.start.record;
        // A caller's number beyond the block is beyond every place in it.
        let before = usize::try_from(seq.0.saturating_sub(start)).unwrap_or(usize::MAX);
        before.saturating_sub(reel.loaded.heads.notes_between(start, seq.0))
    }

    /// Returns a checkpoint's frame.
    pub(crate) fn stored(&self, span: FrameSpan) -> Result<Arc<CheckpointFrame>, String> {
        let weight = |stored: &CheckpointFrame| stored.bodies.raw().len();
        if let Some(stored) = held(&self.stored).get(span.offset, weight) {
            return Ok(stored);
        }
        if let Some(cause) = held(&self.damage).parts.get(&span.offset) {
            return Err(cause.clone());
        }
        let packed = self.bodies_frame(span, 0)?;
        self.frames.fetch_add(1, Ordering::Relaxed);
        let stored = match CheckpointFrame::decode(&packed) {
            Ok(stored) => Arc::new(stored),
            Err(error) => {
                let cause = error.to_string();
                let mut damage = held(&self.damage);
                damage.parts.insert(span.offset, cause.clone());
                return Err(cause);
            }
        };
        held(&self.stored).put(span.offset, Arc::clone(&stored), weight(&stored));
        Ok(stored)
    }

    /// Returns the body of an object's last version before a checkpoint that holds it.
    ///
    /// Nothing if the frame is damaged: the body stands elsewhere too.
    pub(crate) fn stored_body(
        &self,
        reel: &Reel,
        checkpoint: &Checkpoint,
        seq: Seq,
        object: ObjectId,
    ) -> Option<Arc<[u8]>> {
        let part = checkpoint.part_of(object)?;
        let seed = splice::seed_of(reel.key(object)?);
        let stored = self.stored(part).ok()?;
        let delta = stored.delta(object)?;
        self.splice(reel, seq, &seed, delta).ok()
    }

    /// Returns a body that was put together before.
    pub(crate) fn known(&self, seq: Seq) -> Option<Arc<[u8]>> {
        held(&self.known)
            .get(seq, |body| body.len())
            .map(|body| Arc::clone(&*body))
    }

    /// Returns why a body cannot be read, if that was found before.
    pub(crate) fn loss(&self, seq: Seq) -> Option<Arc<ReadError>> {
        held(&self.damage).events.get(&seq).map(Arc::clone)
    }

    /// Keeps why a body cannot be read.
    pub(crate) fn lose(&self, seq: Seq, error: &Arc<ReadError>) {
        held(&self.damage).events.insert(seq, Arc::clone(error));
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
        delta: Delta<'_>,
    ) -> Result<Arc<[u8]>, ReadError> {
        let ops = delta.hunks(against).map_err(|error| ReadError::Event {
            seq,
            cause: error.to_string(),
        })?;
        let built = splice::apply(against, &ops, delta.text, MAX_BODY, |id, take| {
            let found = self.find_blob(reel, id).map_err(BodyFault::Read)?;
            take(&found);
            Ok::<(), BodyFault>(())
        });
        self.built.fetch_add(1, Ordering::Relaxed);
        match built {
            Ok(body) => Ok(body.into()),
            Err(BodyFault::Read(error)) => Err(error),
            Err(BodyFault::Codec(error)) => Err(ReadError::Event {
                seq,
                cause: error.to_string(),
            }),
        }
    }

    /// Replaces `out` by the body that one event's delta gives, whose texts of the blob log are known; gives nothing if
    /// one is not, or for damage.
    pub(crate) fn splice_known<'t>(
        &self,
        out: &mut Vec<u8>,
        against: &[u8],
        delta: Delta<'_>,
        text_of: impl Fn(BlobId) -> Option<&'t [u8]>,
    ) -> Option<()> {
        let ops = delta.hunks(against).ok()?;
        let built = splice::apply_into(out, against, &ops, delta.text, MAX_BODY, |id, take| {
            take(text_of(id).ok_or_else(|| BodyFault::Read(missing(id)))?);
            Ok::<(), BodyFault>(())
        });
        self.built.fetch_add(1, Ordering::Relaxed);
        built.ok()
    }

    fn find_blob(&self, reel: &Reel, id: BlobId) -> Result<Arc<Box<[u8]>>, ReadError> {
        if let Some(text) = held(&self.texts).get(id.0, |text| text.len()) {
            return Ok(text);
        }
        let missing = || missing(id);
        // Blocks without blobs share their number with the next: the last that starts there has it.
        let block = reel
            .loaded
            .block_with(|start| start.blob <= id.0)
            .and_then(|place| reel.loaded.blocks.get(place))
            .ok_or_else(missing)?;
        let place = place32(id.0 - block.start.blob);
        let bodies = self.bodies(reel, block)?;
        let text: Arc<Box<[u8]>> = Arc::new(bodies.blob(place).ok_or_else(missing)?.into());
        held(&self.texts).put(id.0, Arc::clone(&text), text.len());
        Ok(text)
    }

    pub(crate) fn blob(&self, reel: &Reel, id: BlobId) -> Result<Arc<[u8]>, ReadError> {
        Ok(Arc::from(&**self.find_blob(reel, id)?))
    }
}

const NOT_MODELLED: &str = "its group has a model, and it has none";

fn lost_prefix(number: u32) -> String {
    format!("block {number}, its prefix, is lost")
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bodies::{Base, BodyMark, BodyWriter};
    use crate::codec::{frame, varint};
    use crate::event::{EventType, Evidence, NewBody, NewEvent};
    use crate::file::append::Appender;
    use crate::file::checkpoint::CheckpointPart;
    use crate::file::row::content_of;
    use crate::file::segment::{BlockPlace, rows_of};
    use crate::file::tables;
    use crate::id::{ConnectionId, ResourceId, Stamp};
    use crate::limits::EXTENT;
    use crate::note::{Note, ResourceInfo};
    use redb::{Database, ReadOnlyTable, ReadableDatabase as _, ReadableTable as _};
    use std::path::{Path, PathBuf};

    const OBJECTS: u64 = 300;
    const ROUNDS: u64 = 12;
    const STAMP: Stamp = Stamp::from_micros(0, 0);

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
        let note = Note::Resource(ResourceInfo::new(resource, "v1", "pods", "Pod"));
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
                    body: NewBody::Bytes(body.as_bytes()),
                };
                appender.append_event(&event).unwrap();
            }
        }
        appender.finish().unwrap();
        path
    }

    /// Puts a frame behind the last extent, and gives its place.
    fn add_frame(database: &Database, packed: &[u8]) -> FrameSpan {
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
        FrameSpan {
            offset: first * u64::try_from(EXTENT).unwrap(),
            len: u32::try_from(packed.len()).unwrap(),
        }
    }

    fn read_frame(extents: &ReadOnlyTable<u64, &'static [u8]>, span: FrameSpan) -> Vec<u8> {
        rows_of(span)
            .flat_map(|(row, from, to)| {
                let row = extents.get(row).unwrap().unwrap();
                content_of(row.value())[from..to].to_vec()
            })
            .collect()
    }

    fn place_of(directory: &ReadOnlyTable<u32, &'static [u8]>, block: u32) -> BlockPlace {
        let row = directory.get(block).unwrap().unwrap();
        BlockPlace::decode(content_of(row.value())).unwrap()
    }

    /// Replaces a block's columns by others with the right checksum.
    fn forge_block(path: &Path, number: u32, change: impl Fn([Vec<u8>; 4]) -> [Vec<u8>; 4]) {
        let database = Database::open(path).unwrap();
        let read = database.begin_read().unwrap();
        let row = read.open_table(tables::DIRECTORY).unwrap();
        let mut place = place_of(&row, number);
        assert_eq!(place.prefix, 0, "the group's first block is its prefix");
        let extents = read.open_table(tables::EXTENTS).unwrap();
        let prefix = if number == 0 {
            Vec::new()
        } else {
            let first = place_of(&row, 0);
            let packed = read_frame(&extents, first.bodies);
            frame::unpack(&packed, &[], MAX_BLOCK_RAW).unwrap()
        };
        let packed = read_frame(&extents, place.bodies);
        let raw = frame::unpack(&packed, &prefix, MAX_BLOCK_RAW).unwrap();
        let columns = frame::split_columns::<4>(&raw, "a segment's bodies").unwrap();
        let columns = change(columns.map(<[u8]>::to_vec));
        let raw = frame::join_columns(columns.each_ref().map(Vec::as_slice));
        let packed = frame::pack(&raw, frame::LEVEL_QUICK, &prefix).unwrap();
        drop((row, extents, read));
        place.bodies = add_frame(&database, &packed);
        let transaction = database.begin_write().unwrap();
        {
            let mut table = transaction.open_table(tables::DIRECTORY).unwrap();
            let row = place.encode().unwrap();
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
        for event in reel.scan() {
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
            let mut fields = varint::FieldReader::new(&entries, "an entry");
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
        let mut bodies = BodyWriter::default();
        bodies.end_entry(Base::Whole);
        bodies.text.resize(MAX_BLOCK_RAW - 1_000, b'z');
        let raw = frame::join_columns([&[0][..], &bodies.columns_since(BodyMark::default())]);
        let packed = frame::pack(&raw, frame::LEVEL_QUICK, &[]).unwrap();
        let checkpoint = Checkpoint {
            seq: OBJECTS * ROUNDS,
            parent_seq: 0,
            parts: vec![CheckpointPart {
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
