//! Reads many bodies: what lies behind them is taken out of each block once, last block first, and the bodies are
//! put together from it afterwards.
//!
//! To read one body after another decodes the same blocks again and again, because a cache holds only a part of
//! a large recording. Each delta and each text of the blob log that lies behind a body stands in the same block or in an
//! earlier one, so one way back through the blocks meets all of them. Where bodies lie by object, a few deltas and some
//! texts stand in a later block of the group: the way goes back to it for deltas, and ends with these texts.
//!
//! Invariants:
//! * What was taken out is bounded in bytes. What is missing, for that reason or because of damage, is read alone:
//!   the answer, and the error, are those of [`Reel::body_at`].

use crate::codec::bodies::{Base, Bodies, BodySlot, Delta, HunkUnit};
use crate::codec::splice;
use crate::error::ReadError;
use crate::file::checkpoint::Checkpoint;
use crate::file::delta_chain::{self, against};
use crate::file::group;
use crate::file::load::Block;
use crate::file::reel::Reel;
use crate::file::segment::FrameSpan;
use crate::id::{BlobId, ObjectId, Seq};
use crate::limits::{GATHERED, MAX_CHAIN, place32};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The bodies of many events, prepared. See [`Reel::gather`].
#[derive(Debug)]
pub struct GatheredBodies<'a> {
    reel: &'a Reel,
    at: Option<Seq>,
    /// What was known before.
    known: HashMap<Seq, Arc<[u8]>>,
    deltas: HashMap<Seq, GatheredDelta>,
    texts: HashMap<BlobId, Arc<[u8]>>,
}

/// A body's delta, and the version against which it is encoded.
#[derive(Debug)]
struct GatheredDelta {
    object: ObjectId,
    base: Base,
    before: Option<Seq>,
    unit: HunkUnit,
    /// The hunks, and the inserted text behind them.
    bytes: Box<[u8]>,
    ops_len: usize,
    /// Whether more than one body is encoded against it, so that it is kept.
    is_shared: bool,
}

impl GatheredDelta {
    fn delta(&self) -> Delta<'_> {
        let (ops, text) = self.bytes.split_at(self.ops_len);
        Delta {
            ops,
            text,
            unit: self.unit,
        }
    }
}

/// How often at most the way goes back to a block that was passed.
const RETURNS: usize = 256;

/// What is wanted of one block.
#[derive(Debug, Default)]
struct BlockWants {
    events: Vec<(Seq, ObjectId, BodySlot)>,
    texts: Vec<BlobId>,
}

/// What is still to be taken out.
struct BodyGatherer<'a> {
    done: GatheredBodies<'a>,
    ladder: Vec<&'a Checkpoint>,
    /// By the block's place.
    blocks: BTreeMap<usize, BlockWants>,
    /// Texts of blocks that were passed, by the block's place.
    late_texts: BTreeMap<usize, Vec<BlobId>>,
    /// How often the way went back to a block that was passed.
    returns: usize,
    /// By the place of the frame, a part of a checkpoint.
    stored: BTreeMap<u64, (FrameSpan, Vec<(Seq, ObjectId)>)>,
    seen: HashSet<Seq>,
    shared: HashSet<Seq>,
    seen_texts: HashSet<BlobId>,
    bytes: usize,
}

/// Takes what lies behind the events out of their blocks. With `at`, each event is its object's last before that.
///
/// `reached` receives how many of the events were met.
pub(crate) fn gather<'a>(
    reel: &'a Reel,
    events: &[Seq],
    at: Option<Seq>,
    reached: &mut dyn FnMut(u64),
) -> GatheredBodies<'a> {
    let mut gatherer = BodyGatherer {
        done: GatheredBodies {
            reel,
            at,
            known: HashMap::new(),
            deltas: HashMap::new(),
            texts: HashMap::new(),
        },
        ladder: at.map_or_else(Vec::new, |at| delta_chain::ladder(reel, at)),
        blocks: BTreeMap::new(),
        late_texts: BTreeMap::new(),
        returns: 0,
        stored: BTreeMap::new(),
        seen: HashSet::new(),
        shared: HashSet::new(),
        seen_texts: HashSet::new(),
        bytes: 0,
    };
    for seq in events {
        if let Some(object) = reel.object_of(*seq) {
            gatherer.want(*seq, object);
        }
    }
    let asked: HashSet<Seq> = events.iter().copied().collect();
    let mut met = 0;
    gatherer.run(&mut |seq| {
        met += u64::from(asked.contains(&seq));
        reached(met);
    });
    gatherer.done
}

impl BodyGatherer<'_> {
    fn run(&mut self, met: &mut dyn FnMut(Seq)) {
        let reel = self.done.reel;
        let top = self.ladder.first().map_or(0, |top| top.seq);
        while self.bytes < GATHERED {
            let next = self.blocks.last_key_value().map(|(place, _)| *place);
            let block = next.and_then(|place| reel.loaded.blocks.get(place));
            // Texts of what a checkpoint holds stand in front of it.
            if block.is_none_or(|block| block.start.record < top) && !self.stored.is_empty() {
                self.take_stored(met);
                continue;
            }
            let (Some((place, wants)), Some(block)) = (self.blocks.pop_last(), block) else {
                break;
            };
            if let Ok(bodies) = reel.reader().bodies(reel, block) {
                self.take_block(place, wants, &bodies, met);
            }
        }
        for (place, ids) in std::mem::take(&mut self.late_texts) {
            if self.bytes < GATHERED
                && let Some(block) = reel.loaded.blocks.get(place)
                && let Ok(bodies) = reel.reader().bodies(reel, block)
            {
                self.take_texts(block, ids, &bodies);
            }
        }
    }

    /// Wants the body of an event, unless it is known.
    fn want(&mut self, seq: Seq, object: ObjectId) {
        let reel = self.done.reel;
        if !self.seen.insert(seq) {
            self.shared.insert(seq);
            if let Some(taken) = self.done.deltas.get_mut(&seq) {
                taken.is_shared = true;
            }
            return;
        }
        if let Some(known) = reel.reader().known(seq) {
            self.bytes = self.bytes.saturating_add(known.len());
            self.done.known.insert(seq, known);
            return;
        }
        let holder = delta_chain::holder(reel, &self.ladder, seq, object);
        if let Some(part) = holder.and_then(|holder| holder.part_of(object)) {
            let (_, wanted) = self.stored.entry(part.offset).or_insert((part, Vec::new()));
            wanted.push((seq, object));
        } else {
            self.want_of_block(seq, object);
        }
    }

    fn want_of_block(&mut self, seq: Seq, object: ObjectId) {
        let reel = self.done.reel;
        let Ok((block, slot)) = reel.reader().slot_of(reel, seq, object) else {
            return;
        };
        // Parts of an open segment share the number of the next block.
        let place = match slot {
            BodySlot::Nth(_) => reel.loaded.block_with(|start| start.record <= seq.0),
            BodySlot::OfObject(..) => group::place_named(reel, block.number),
        };
        if let Some(place) = place {
            let wants = self.blocks.entry(place).or_default();
            wants.events.push((seq, object, slot));
        }
    }

    fn want_text(&mut self, id: BlobId) {
        let loaded = &self.done.reel.loaded;
        if !self.seen_texts.insert(id) {
            return;
        }
        if let Some(place) = loaded.block_with(|start| start.blob <= id.0) {
            self.blocks.entry(place).or_default().texts.push(id);
        }
    }

    /// Takes what is wanted out of a block, and wants what lies behind it: in it, or in earlier ones.
    fn take_block(
        &mut self,
        place: usize,
        mut wants: BlockWants,
        bodies: &Bodies,
        met: &mut dyn FnMut(Seq),
    ) {
        let reel = self.done.reel;
        let Some(block) = reel.loaded.blocks.get(place) else {
            return;
        };
        while !wants.events.is_empty() || !wants.texts.is_empty() {
            for (seq, object, slot) in std::mem::take(&mut wants.events) {
                if let Some((base, delta)) = bodies.delta(slot) {
                    self.take(seq, object, base, delta);
                    met(seq);
                }
            }
            self.take_texts(block, std::mem::take(&mut wants.texts), bodies);
            wants = self.blocks.remove(&place).unwrap_or_default();
        }
        for (later, wants) in self.blocks.split_off(&place) {
            let texts = self.late_texts.entry(later).or_default();
            texts.extend(wants.texts);
            let of_group = reel.loaded.blocks.get(later);
            let of_group = of_group.filter(|later| later.prefix() == block.prefix());
            // Others are read alone, within the bounds for one body: only a forged file has many.
            if of_group.is_some() && !wants.events.is_empty() && self.returns < RETURNS {
                self.returns += 1;
                let again = self.blocks.entry(later).or_default();
                again.events = wants.events;
            }
        }
    }

    fn take_texts(&mut self, block: &Block, ids: Vec<BlobId>, bodies: &Bodies) {
        for id in ids {
            let place = id.0.checked_sub(block.start.blob).map(place32);
            if let Some(text) = place.and_then(|place| bodies.blob(place)) {
                self.bytes = self.bytes.saturating_add(text.len());
                self.done.texts.insert(id, text.into());
            }
        }
    }

    /// Takes what is wanted out of checkpoints. What is not there is in the blocks.
    fn take_stored(&mut self, met: &mut dyn FnMut(Seq)) {
        let reel = self.done.reel;
        for (part, wanted) in std::mem::take(&mut self.stored).into_values() {
            let frame = reel.reader().stored(part).ok();
            for (seq, object) in wanted {
                if let Some(delta) = frame.as_ref().and_then(|frame| frame.delta(object)) {
                    self.take(seq, object, Base::Whole, delta);
                    met(seq);
                } else {
                    self.want_of_block(seq, object);
                }
            }
        }
    }

    fn take(&mut self, seq: Seq, object: ObjectId, base: Base, delta: Delta<'_>) {
        let reel = self.done.reel;
        let against = match base {
            Base::Whole => None,
            Base::Previous => Some(object),
            Base::Other(other) => Some(other),
        };
        let before = against.and_then(|object| {
            let before = delta_chain::before(reel, object, seq).ok()?;
            self.want(before, object);
            Some(before)
        });
        splice::texts_in(delta.ops, |id| self.want_text(id));
        self.bytes = self
            .bytes
            .saturating_add(delta.ops.len())
            .saturating_add(delta.text.len());
        let taken = GatheredDelta {
            object,
            base,
            before,
            unit: delta.unit,
            bytes: [delta.ops, delta.text].concat().into(),
            ops_len: delta.ops.len(),
            is_shared: self.shared.contains(&seq),
        };
        self.done.deltas.insert(seq, taken);
    }
}

/// The memory in which bodies are put together one after another.
#[derive(Debug, Default)]
pub struct BodyBuffer {
    built: Vec<u8>,
    /// The version before it, which has been read when a chain of deltas goes on.
    before: Vec<u8>,
    /// A body that was put together elsewhere.
    known: Option<Arc<[u8]>>,
}

impl BodyBuffer {
    fn body(&self) -> &[u8] {
        self.known.as_deref().unwrap_or(&self.built)
    }
}

impl GatheredBodies<'_> {
    /// Returns the body of one of the events.
    ///
    /// # Errors
    ///
    /// As for [`Reel::body`].
    pub fn body<'b>(&self, seq: Seq, buffer: &'b mut BodyBuffer) -> Result<&'b [u8], ReadError> {
        if self.put_together(seq, buffer).is_none() {
            let body = delta_chain::body_of(self.reel, self.reel.reader(), seq, self.at)?;
            buffer.known = Some(body);
        }
        Ok(buffer.body())
    }

    /// Puts a body together of what was taken out, unless something is missing or wrong.
    pub(crate) fn put_together<'b>(
        &self,
        seq: Seq,
        buffer: &'b mut BodyBuffer,
    ) -> Option<&'b [u8]> {
        let reader = self.reel.reader();
        let mut steps = Vec::new();
        let mut here = seq;
        let known = loop {
            let known = self.known.get(&here).cloned();
            if let Some(known) = known.or_else(|| reader.known(here)) {
                break Some(known);
            }
            let step = self.deltas.get(&here)?;
            steps.push((here, step));
            match (step.base, step.before) {
                (Base::Whole, _) => break None,
                (_, Some(before)) if steps.len() < MAX_CHAIN => here = before,
                _ => return None,
            }
        };
        let text_of = |id| self.texts.get(&id).map(|text| &**text);
        buffer.known = known;
        for (here, step) in steps.into_iter().rev() {
            let before = (step.base != Base::Whole).then(|| match &buffer.known {
                Some(known) => &**known,
                None => &*buffer.built,
            });
            let old = against(self.reel, step.object, step.base, before)?;
            reader.splice_known(&mut buffer.before, &old, step.delta(), text_of)?;
            std::mem::swap(&mut buffer.built, &mut buffer.before);
            buffer.known = None;
            if step.is_shared {
                reader.keep(here, &Arc::from(&*buffer.built));
            }
        }
        Some(buffer.body())
    }
}
