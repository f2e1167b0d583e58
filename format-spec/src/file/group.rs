//! The blocks of a sealed group: each continues the one before it, so that they are read in their order.

use crate::codec::index::Rv;
use crate::codec::model::{BlockFacts, EventFacts};
use crate::file::load::{Block, BlockSource};
use crate::file::reel::Reel;
use crate::id::{ObjectId, Seq};
use crate::limits::MAX_GROUP;

impl Block {
    /// Returns the number of the block that it continues, or that is its prefix; its own if there is none.
    pub(crate) fn prefix(&self) -> Option<u32> {
        match &self.source {
            BlockSource::Sealed(place) => Some(place.prefix),
            BlockSource::Tail(_) => None,
        }
    }
}

/// Returns the block of a number.
pub(crate) fn block_named(reel: &Reel, number: u32) -> Option<&Block> {
    let blocks = &reel.loaded.blocks;
    let at = blocks.binary_search_by_key(&number, |block| block.number);
    at.ok().and_then(|at| blocks.get(at))
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
