//! The blocks of a sealed group. Of a small recording, each continues the one before it, so that they are read in their
//! order. Of a large one, the bodies of a group lie by object: all versions of an object, and of those like it, are in
//! one block of the group, so that they are small, and that one block is read for any of them.

use crate::codec::bodies::{BodySlot, NthBody};
use crate::codec::index::Rv;
use crate::codec::model::{BlockFacts, EventFacts};
use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, varint};
use crate::file::delta_chain;
use crate::file::load::{Block, BlockSource};
use crate::file::reel::Reel;
use crate::id::{ObjectId, ResourceId, Seq};
use crate::limits::{MAX_GROUP, MAX_ITEMS, SEALED_GROUP, len64};
use std::ops::Range;

/// The blobs of the block in front of a group whose bodies lie by object: the shared text, and where the objects are.
pub(crate) const OBJECT_GROUP_BLOBS: u32 = 2;

/// Where the bodies of a group lie that has them by object: in the order of resource and object.
#[derive(Debug)]
pub(crate) struct ObjectGroup {
    /// The number of the block in front of it.
    head: u32,
    /// Its records.
    pub(crate) records: Range<u64>,
    /// The first object of each of its blocks that has bodies.
    firsts: Vec<(ResourceId, ObjectId)>,
}

impl ObjectGroup {
    /// Returns the block in front of a block's group, if the group's bodies lie by object.
    pub(crate) fn head<'a>(reel: &'a Reel, block: &Block) -> Option<&'a Block> {
        let prefix = block.prefix().filter(|prefix| *prefix != block.number)?;
        let head = block_named(reel, prefix)?;
        (head.records == 0 && head.blobs == OBJECT_GROUP_BLOBS).then_some(head)
    }

    /// Writes the second blob of the block in front of a group.
    pub(crate) fn encode(records: u64, firsts: &[(ResourceId, ObjectId)]) -> Vec<u8> {
        let mut out = Vec::new();
        varint::put(&mut out, u128::from(records));
        for (resource, object) in firsts {
            varint::put(&mut out, u128::from(resource.0));
            varint::put(&mut out, u128::from(object.0));
        }
        out
    }

    /// Reads the second blob of the block in front of a group.
    pub(crate) fn decode(head: &Block, blob: &[u8]) -> Result<Self, CodecError> {
        let mut fields = FieldReader::new(blob, "the order of a group");
        let start = head.start.record;
        let records = start..start.saturating_add(fields.at_most(MAX_ITEMS)?);
        let mut firsts = Vec::new();
        while !fields.is_empty() {
            if firsts.len() >= SEALED_GROUP {
                return Err(CodecError::Bound {
                    what: "the blocks of a group",
                    found: u128::from(len64(firsts.len())).saturating_add(1),
                    bound: u128::from(len64(SEALED_GROUP)),
                });
            }
            firsts.push((ResourceId(fields.number32()?), ObjectId(fields.number32()?)));
        }
        Ok(Self {
            head: head.number,
            records,
            firsts,
        })
    }

    /// Returns the number of the block with the body of an event of the group, and which one that is.
    pub(crate) fn slot_of(
        &self,
        reel: &Reel,
        seq: Seq,
        object: ObjectId,
    ) -> Option<(u32, BodySlot)> {
        let resource = reel.key(object)?.resource;
        let count = self
            .firsts
            .partition_point(|first| *first <= (resource, object));
        let place = u32::try_from(count).ok().filter(|count| *count > 0)?;
        let versions = reel.versions(object);
        let before = |end: u64| versions.partition_point(|version| version.0 < end);
        let first = before(self.records.start);
        let nth = before(seq.0).checked_sub(first)?;
        let all = before(self.records.end).checked_sub(first)?;
        let is_lost_between =
            |from: u64, to: u64| to > reel.end().0 || delta_chain::hidden(reel, Seq(from), Seq(to));
        let nth = if !is_lost_between(self.records.start, seq.0) {
            NthBody::First(nth)
        } else if !is_lost_between(seq.0, self.records.end) {
            NthBody::Last(all.checked_sub(nth)?.checked_sub(1)?)
        } else {
            NthBody::Of(nth, all)
        };
        let slot = BodySlot::OfObject(object, nth);
        Some((self.head.checked_add(place)?, slot))
    }
}

impl Block {
    /// Returns the number of the block that it continues, or that is its prefix; its own if there is none.
    pub(crate) fn prefix(&self) -> Option<u32> {
        match &self.source {
            BlockSource::Sealed(place) => Some(place.prefix),
            BlockSource::Tail(_) => None,
        }
    }
}

/// Returns the place of the block of a number.
pub(crate) fn place_named(reel: &Reel, number: u32) -> Option<usize> {
    let blocks = &reel.loaded.blocks;
    blocks
        .binary_search_by_key(&number, |block| block.number)
        .ok()
}

/// Returns the block of a number.
pub(crate) fn block_named(reel: &Reel, number: u32) -> Option<&Block> {
    reel.loaded.blocks.get(place_named(reel, number)?)
}

/// Returns the blocks from the first of a group to the given one.
///
/// # Errors
///
/// The number of one that is lost; nothing if there are too many.
pub(crate) fn blocks_to<'a>(
    reel: &'a Reel,
    block: &'a Block,
) -> Result<Vec<&'a Block>, Option<u32>> {
    let mut chain = vec![block];
    let mut here = block;
    while let Some(prefix) = here.prefix().filter(|prefix| *prefix != here.number) {
        if chain.len() >= MAX_GROUP {
            return Err(None);
        }
        // Earlier ones only, so that a forged file has an end as well.
        here = block_named(reel, prefix)
            .filter(|first| first.number < here.number)
            .ok_or(Some(prefix))?;
        chain.push(here);
    }
    chain.reverse();
    Ok(chain)
}

/// Returns the part of a block's index that its bodies are coded with.
pub(crate) fn facts_of(reel: &Reel, block: &Block) -> BlockFacts {
    let first_object = block.start.object;
    let new = first_object..first_object.saturating_add(block.objects);
    let objects = new.filter_map(|object| reel.key(ObjectId(object)));
    let events = (block.start.record..block.end()).filter_map(|seq| {
        let head = reel.head(Seq(seq))?;
        Some(EventFacts {
            object: head.object.0,
            resource: reel.key(head.object)?.resource.0,
            version: match Rv::new(&head.resource_version) {
                Rv::Number(number) => Some(number),
                Rv::Text(_) => None,
            },
            wall: head.stamp.wall.micros,
        })
    });
    BlockFacts {
        first_object,
        objects: objects
            .map(|key| (key.resource.0, key.uid.number()))
            .collect(),
        events: events.collect(),
    }
}
