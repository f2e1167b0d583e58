//! Reads events one after another and decodes each block once. Damage is returned as an error, and
//! reading continues after it.

use super::reel::Reel;
use crate::codec::bodies::{Base, Bodies, BodySlot};
use crate::codec::frame::{PackedBody, Packer};
use crate::codec::splice;
use crate::error::ReadError;
use crate::event::{EventHead, EventType, NewBody, NewEvent, ObjectKeyRef};
use crate::file::body::BodyReader;
use crate::file::delta_chain;
use crate::file::gather::BodyBuffer;
use crate::file::group::ObjectGroup;
use crate::file::unreadable::NOT_DESCRIBED;
use crate::id::{ObjectId, Seq};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of last bodies that are kept as they are; the others are compressed.
const RECENT_BYTES: usize = 48 * 1024 * 1024;
/// The bytes of compressed last bodies that are kept; others are decoded again when needed.
const OLDER_BYTES: usize = 96 * 1024 * 1024;

/// An event with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The head.
    pub head: EventHead,
    /// The body, as the server sent it.
    pub body: Arc<[u8]>,
    /// The body of its object's version before; nothing if there is none, or if it is no longer kept.
    pub before: Option<Arc<[u8]>>,
}

impl Event {
    /// Returns the event as one to append to another reel. `uid` is the uid of `key` as text.
    pub fn copy<'a>(&'a self, key: ObjectKeyRef<'a>, uid: &'a str) -> NewEvent<'a> {
        NewEvent {
            stamp: self.head.stamp,
            connection: self.head.connection,
            kind: self.head.kind,
            evidence: self.head.evidence,
            resource: key.resource,
            namespace: key.namespace,
            name: key.name,
            uid,
            resource_version: &self.head.resource_version,
            body: NewBody::Bytes(&self.body),
        }
    }
}

/// Reads events in their order. See [`Reel::scan`] and [`Reel::scan_objects`].
#[derive(Debug)]
pub struct Scan<'a> {
    reel: &'a Reel,
    next: Seq,
    end: Seq,
    /// The objects whose events are read; `None` for all.
    objects: Option<HashSet<ObjectId>>,
    /// The current block: its end, and the bodies of its events.
    block: Option<(u64, BlockBodies)>,
    /// The group of the current block, if its bodies lie by object.
    group: Option<ScannedGroup>,
    lasts: LastBodies,
}

/// The bodies of the events of a block.
#[derive(Debug)]
enum BlockBodies {
    /// They are in their order, if they can be read; the place is that of the next event.
    InOrder(Option<Arc<Bodies>>, usize),
    /// They lie by object, in the blocks of its group.
    ByObject,
}

/// A group whose bodies lie by object, and those of its blocks that were read.
#[derive(Debug)]
struct ScannedGroup {
    order: Arc<ObjectGroup>,
    /// By the number of the block; nothing if it cannot be read.
    blocks: HashMap<u32, Option<Arc<Bodies>>>,
}

/// The last body of each object, against which its next one is encoded. To decode one again can take seconds, where a
/// model codes the blocks.
struct LastBodies {
    recent: HashMap<ObjectId, Arc<[u8]>>,
    recent_bytes: usize,
    older: HashMap<ObjectId, PackedBody>,
    older_bytes: usize,
    /// How many bytes each of the two may hold.
    most: (usize, usize),
    packer: Packer,
}

impl std::fmt::Debug for LastBodies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LastBodies")
            .field("recent", &self.recent.len())
            .field("older", &self.older.len())
            .finish_non_exhaustive()
    }
}

impl LastBodies {
    fn new(most: (usize, usize)) -> Self {
        Self {
            recent: HashMap::new(),
            recent_bytes: 0,
            older: HashMap::new(),
            older_bytes: 0,
            most,
            packer: Packer::new(),
        }
    }

    fn clear(&mut self) {
        *self = Self::new(self.most);
    }

    fn get(&mut self, object: ObjectId) -> Option<Arc<[u8]>> {
        if let Some(body) = self.recent.get(&object) {
            return Some(Arc::clone(body));
        }
        let body = self.packer.unpack(self.older.get(&object)?);
        body.ok().map(Arc::from)
    }

    fn remove(&mut self, object: ObjectId) {
        if let Some(old) = self.recent.remove(&object) {
            self.recent_bytes -= old.len();
        }
        if let Some(old) = self.older.remove(&object) {
            self.older_bytes -= old.len();
        }
    }

    fn put(&mut self, object: ObjectId, body: &Arc<[u8]>) {
        self.remove(object);
        self.recent_bytes += body.len();
        self.recent.insert(object, Arc::clone(body));
        if self.recent_bytes <= self.most.0 {
            return;
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "the order in which they are compressed means nothing"
        )]
        for (object, body) in std::mem::take(&mut self.recent) {
            let packed = self.packer.pack(&body);
            self.older_bytes += packed.len();
            self.older.insert(object, packed);
        }
        self.recent_bytes = 0;
        if self.older_bytes > self.most.1 {
            self.older.clear();
            self.older_bytes = 0;
        }
    }
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        reel: &'a Reel,
        records: Range<Seq>,
        objects: Option<HashSet<ObjectId>>,
    ) -> Self {
        let mut scan = Self {
            reel,
            next: records.start,
            end: records.end.min(reel.end()),
            objects,
            block: None,
            group: None,
            lasts: LastBodies::new((RECENT_BYTES, OLDER_BYTES)),
        };
        scan.begin_with_versions_before();
        scan
    }

    /// Reads the versions against which the first events of the objects are encoded.
    fn begin_with_versions_before(&mut self) {
        let (reel, from) = (self.reel, self.next);
        if from == Seq(0) {
            return;
        }
        let last_before = |object: ObjectId| {
            let versions = reel.versions(object);
            let place = versions.partition_point(|seq| *seq < from);
            let is_read = versions.get(place).is_some_and(|next| *next < self.end);
            let last = versions.get(place.checked_sub(1)?).copied()?;
            let is_deleted = reel.kind_of(last) == Some(EventType::Deleted);
            // The version before an event may be a lost one.
            let may_be_other = delta_chain::hidden(reel, last, from);
            (is_read && !is_deleted && !may_be_other).then_some((object, last))
        };
        let all = reel.objects().map(|object| object.id);
        let lasts: Vec<(ObjectId, Seq)> = all
            .filter(|object| self.is_read(*object))
            .filter_map(last_before)
            .collect();
        let seqs: Vec<Seq> = lasts.iter().map(|(_, seq)| *seq).collect();
        let gathered = reel.gather(&seqs, Some(from), &mut |_| {});
        let mut buffer = BodyBuffer::default();
        for (object, seq) in lasts {
            if let Some(body) = gathered.put_together(seq, &mut buffer) {
                self.lasts.put(object, &Arc::from(body));
            }
        }
    }

    fn is_read(&self, object: ObjectId) -> bool {
        self.objects
            .as_ref()
            .is_none_or(|objects| objects.contains(&object))
    }

    /// Goes to the block of the next record, and decodes it if an event of it is read.
    fn enter(&mut self) -> Result<(), ReadError> {
        let blocks = &self.reel.loaded.blocks;
        let count = blocks.partition_point(|block| block.start.record <= self.next.0);
        let block = count
            .checked_sub(1)
            .and_then(|place| blocks.get(place))
            .filter(|block| self.next.0 < block.end());
        let Some(block) = block else {
            // A hole: records that damage lost.
            let end = blocks
                .get(count)
                .map_or(self.reel.end().0, |next| next.start.record);
            let first = self.next;
            self.next = Seq(end.max(first.0.saturating_add(1)));
            self.lasts.clear();
            return Err(ReadError::Event {
                seq: first,
                cause: format!(
                    "records up to {} lie where the reel is damaged",
                    self.next.0.saturating_sub(1)
                ),
            });
        };
        let last = block.end().min(self.end.0);
        let mut left = (self.next.0..last).filter_map(|seq| self.reel.object_of(Seq(seq)));
        if self.objects.is_some() && !left.any(|object| self.is_read(object)) {
            self.next = Seq(block.end());
            return Ok(());
        }
        let reader = self.reel.reader();
        // Without its bodies, each event has an error of its own: a checkpoint may hold its object.
        let bodies = if let Ok(Some(order)) = reader.object_group(self.reel, block) {
            let is_current = |group: &ScannedGroup| group.order.records == order.records;
            if !self.group.as_ref().is_some_and(is_current) {
                let blocks = HashMap::new();
                self.group = Some(ScannedGroup { order, blocks });
            }
            BlockBodies::ByObject
        } else {
            self.group = None;
            let place = (block.start.record..self.next.0)
                .filter(|seq| self.reel.object_of(Seq(*seq)).is_some())
                .count();
            BlockBodies::InOrder(reader.bodies(self.reel, block).ok(), place)
        };
        self.block = Some((block.end(), bodies));
        Ok(())
    }

    /// Returns the bodies with that of an event of the current group, and which one that is.
    fn of_group(&mut self, seq: Seq, object: ObjectId) -> Option<(Arc<Bodies>, BodySlot)> {
        let reel = self.reel;
        let ScannedGroup { order, blocks } = self.group.as_mut()?;
        let (block, slot) = BodyReader::slot_in(reel, order, seq, object).ok()?;
        let read = || reel.reader().bodies(reel, block).ok();
        let bodies = blocks.entry(block.number).or_insert_with(read);
        Some((Arc::clone(bodies.as_ref()?), slot))
    }

    fn read(
        &mut self,
        head: EventHead,
        stored: Option<&(Arc<Bodies>, BodySlot)>,
    ) -> Result<Event, ReadError> {
        let before = self.lasts.get(head.object);
        let body = self.put_together(&head, before.as_ref(), stored);
        let body = body.and_then(|body| {
            if self.reel.is_described(head.object) {
                return Ok(body);
            }
            let (seq, cause) = (head.seq, NOT_DESCRIBED.to_owned());
            Err(ReadError::Event { seq, cause })
        });
        match &body {
            Ok(body) if head.kind != EventType::Deleted => self.lasts.put(head.object, body),
            _ => self.lasts.remove(head.object),
        }
        Ok(Event {
            head,
            body: body?,
            before,
        })
    }

    fn put_together(
        &mut self,
        head: &EventHead,
        before: Option<&Arc<[u8]>>,
        stored: Option<&(Arc<Bodies>, BodySlot)>,
    ) -> Result<Arc<[u8]>, ReadError> {
        let reel = self.reel;
        let behind = Seq(head.seq.0.saturating_add(1));
        let delta = stored
            .as_ref()
            .and_then(|(bodies, slot)| bodies.delta(*slot));
        let Some((base, delta)) = delta else {
            return reel.body_at(head.seq, behind);
        };
        let key = |object: ObjectId| reel.key(object);
        let against = match (base, key(head.object)) {
            (Base::Whole, Some(own)) => Some(Cow::Owned(splice::seed_of(own))),
            (Base::Previous, Some(_)) => before.map(|before| Cow::Borrowed(&**before)),
            (Base::Other(other), Some(own)) => self
                .lasts
                .get(other)
                .zip(key(other))
                .map(|(last, other)| Cow::Owned(splice::seed_from_other(&last, other, own))),
            (_, None) => None,
        };
        match against {
            Some(against) => reel.reader().splice(reel, head.seq, &against, delta),
            None => reel.body_at(head.seq, behind),
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.end {
            let Some((end, mut bodies)) = self.block.take().filter(|(end, _)| self.next.0 < *end)
            else {
                if let Err(error) = self.enter() {
                    return Some(Err(error));
                }
                continue;
            };
            let seq = self.next;
            self.next = Seq(seq.0.saturating_add(1));
            let Some(object) = self.reel.object_of(seq) else {
                self.block = Some((end, bodies));
                continue;
            };
            let head = self.reel.head(seq).filter(|_| self.is_read(object));
            let stored = match &mut bodies {
                BlockBodies::ByObject if head.is_none() => None,
                BlockBodies::ByObject => self.of_group(seq, object),
                BlockBodies::InOrder(bodies, next) => {
                    let slot = BodySlot::Nth(*next);
                    *next = next.saturating_add(1);
                    bodies.clone().map(|bodies| (bodies, slot))
                }
            };
            let event = head.map(|head| self.read(head, stored.as_ref()));
            self.block = Some((end, bodies));
            if event.is_some() {
                return event;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_body_of_an_object_is_given_or_none(
            steps in prop::collection::vec((0u32..9, prop::option::weighted(0.8, 0usize..1_500)), 0..200),
            recent in 0usize..4_000,
            older in prop_oneof![Just(usize::MAX), 0usize..2_000],
        ) {
            let mut kept = LastBodies::new((recent, older));
            let mut all: HashMap<u32, Arc<[u8]>> = HashMap::new();
            for (at, (object, len)) in (0u8..).zip(steps) {
                if let Some(len) = len {
                    let body: Arc<[u8]> = vec![at; len].into();
                    kept.put(ObjectId(object), &body);
                    all.insert(object, body);
                } else {
                    kept.remove(ObjectId(object));
                    all.remove(&object);
                }
                prop_assert!(kept.recent_bytes <= recent && kept.older_bytes <= older);
                for object in 0..9 {
                    let body = kept.get(ObjectId(object));
                    prop_assert!(body.is_none() || body.as_ref() == all.get(&object));
                    prop_assert!(body.is_some() || older < usize::MAX || !all.contains_key(&object));
                }
            }
            let recent: usize = kept.recent.values().map(|body| body.len()).sum();
            let older: usize = kept.older.values().map(PackedBody::len).sum();
            prop_assert_eq!((kept.recent_bytes, kept.older_bytes), (recent, older));
        }
    }
}
