//! Owns the choice of what a body is told against, and the last body of every live object. Refuses
//! to read the file.
//!
//! A body is told against its object's previous version while few blocks and versions lie behind that
//! one; a new object against a live one of a like name; all others against nothing.

use super::blobs::{Fingerprints, Known};
use super::segment::Segment;
use crate::codec::bodies::Base;
use crate::codec::frame::{Packed, Packer};
use crate::codec::{CodecError, seed, splice};
use crate::event::{EventType, ObjectKey};
use crate::id::{ObjectId, ResourceId};
use crate::limits::{KEYFRAME_BLOCKS, KEYFRAME_VERSIONS, REFERENCE_BLOCKS, REFERENCE_DEPTH};
use std::collections::{HashMap, HashSet};

/// A live object: its last body, and what a reader needs for that.
#[derive(Debug)]
struct Last {
    key: ObjectKey,
    body: Packed,
    reach: Reach,
    /// The record that brought it.
    seq: u64,
}

/// What a reader needs for one version.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// How many blocks, and the newest of them.
    blocks: u8,
    block: u32,
    /// How many versions behind it.
    versions: u16,
    /// How many changes from one object to another.
    depth: u8,
}

impl Reach {
    /// What is needed for a version in `block` that is told against this one.
    fn next(self, block: u32) -> Self {
        Self {
            blocks: self.blocks.saturating_add(u8::from(self.block != block)),
            block,
            versions: self.versions.saturating_add(1),
            depth: self.depth,
        }
    }

    fn fits(self) -> bool {
        self.blocks <= KEYFRAME_BLOCKS && self.versions <= KEYFRAME_VERSIONS
    }

    fn fits_new_object(self) -> bool {
        self.fits() && self.blocks <= REFERENCE_BLOCKS && self.depth <= REFERENCE_DEPTH
    }
}

/// Codes bodies.
pub(crate) struct Encoder {
    live: HashMap<ObjectId, Last>,
    /// The newest live object of a like name, by fingerprint.
    alike: HashMap<(u64, u64), ObjectId>,
    /// The newest live object of a resource.
    newest: HashMap<ResourceId, ObjectId>,
    prints: Fingerprints,
    pub(crate) blobs: Known,
    packer: Packer,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("live", &self.live.len())
            .finish_non_exhaustive()
    }
}

impl Encoder {
    pub(crate) fn new() -> Self {
        Self {
            live: HashMap::new(),
            alike: HashMap::new(),
            newest: HashMap::new(),
            prints: Fingerprints::default(),
            blobs: Known::default(),
            packer: Packer::new(),
        }
    }

    /// Gives the last body of a live object.
    pub(crate) fn last(&mut self, object: ObjectId) -> Option<Result<Vec<u8>, CodecError>> {
        let last = self.live.get(&object)?;
        Some(self.packer.unpack(&last.body))
    }

    /// Takes an object over from an earlier session. Its next version is told against nothing.
    pub(crate) fn restore(&mut self, object: ObjectId, key: &ObjectKey, body: &[u8], seq: u64) {
        let reach = Reach {
            blocks: KEYFRAME_BLOCKS,
            block: u32::MAX,
            versions: 0,
            depth: 0,
        };
        self.keep(object, key, body, reach, seq);
    }

    /// Counts the bytes of the live objects as they are held, compressed one by one.
    pub(crate) fn live_bytes(&self) -> u64 {
        let lens = self.live.values().map(|last| last.body.len());
        u64::try_from(lens.fold(0, usize::saturating_add)).unwrap_or(u64::MAX)
    }

    /// Gives the live objects that changed in a record from `seq` on, in the order of their numbers.
    pub(crate) fn changed_since(&self, seq: u64, but: &HashSet<ResourceId>) -> Vec<ObjectId> {
        let mut changed: Vec<ObjectId> = self
            .live
            .iter()
            .filter(|(_, last)| last.seq >= seq && !but.contains(&last.key.resource))
            .map(|(object, _)| *object)
            .collect();
        changed.sort_unstable();
        changed
    }

    /// Gives who a live object is, and its last body.
    pub(crate) fn live_body(
        &mut self,
        object: ObjectId,
    ) -> Result<Option<(ObjectKey, Vec<u8>)>, CodecError> {
        let Some(last) = self.live.get(&object) else {
            return Ok(None);
        };
        Ok(Some((last.key.clone(), self.packer.unpack(&last.body)?)))
    }

    /// Codes a body into the segment that will be `block`.
    pub(crate) fn push(
        &mut self,
        segment: &mut Segment,
        block: u32,
        object: ObjectId,
        key: &ObjectKey,
        kind: EventType,
        body: &[u8],
    ) -> Result<(), CodecError> {
        let (base, against, reach) = self.choose(object, key, block)?;
        self.write(segment, &against, body);
        let poor = segment.bodies.open_text() > body.len() / 4 * 3;
        let (base, reach) = if poor && matches!(base, Base::Other(_)) {
            segment.bodies.undo_entry();
            self.write(segment, &seed::of(key), body);
            (Base::Whole, whole(block))
        } else {
            (base, reach)
        };
        segment.bodies.end_entry(base);
        if kind == EventType::Deleted {
            self.live.remove(&object);
        } else {
            self.keep(object, key, body, reach, segment.end());
        }
        Ok(())
    }

    fn write(&mut self, segment: &mut Segment, against: &[u8], body: &[u8]) {
        let bodies = &mut segment.bodies;
        let mut log = self
            .blobs
            .log(&mut bodies.blobs, segment.start.blob, &mut segment.blobs);
        splice::encode(against, body, &mut log, &mut bodies.ops, &mut bodies.text);
    }

    fn choose(
        &mut self,
        object: ObjectId,
        key: &ObjectKey,
        block: u32,
    ) -> Result<(Base, Vec<u8>, Reach), CodecError> {
        if let Some(last) = self.live.get(&object) {
            let reach = last.reach.next(block);
            if reach.fits() {
                return Ok((Base::Previous, self.packer.unpack(&last.body)?, reach));
            }
        } else if let Some(other) = self.like(key)
            && let Some(last) = self.live.get(&other)
        {
            let mut reach = last.reach.next(block);
            reach.depth = reach.depth.saturating_add(1);
            if reach.fits_new_object() {
                let body = self.packer.unpack(&last.body)?;
                let against = seed::from_other(&body, &last.key, key);
                return Ok((Base::Other(other), against, reach));
            }
        }
        Ok((Base::Whole, seed::of(key), whole(block)))
    }

    /// Gives a live object that may look like a new one.
    fn like(&self, key: &ObjectKey) -> Option<ObjectId> {
        let live = |id: &&ObjectId| self.live.contains_key(*id);
        self.alike
            .get(&self.print(key))
            .filter(live)
            .or_else(|| self.newest.get(&key.resource).filter(live))
            .copied()
    }

    fn keep(&mut self, object: ObjectId, key: &ObjectKey, body: &[u8], reach: Reach, seq: u64) {
        let body = self.packer.pack(body);
        if let Some(last) = self.live.get_mut(&object) {
            last.body = body;
            last.reach = reach;
            last.seq = seq;
        } else {
            self.alike.insert(self.print(key), object);
            self.newest.insert(key.resource, object);
            let key = key.clone();
            let last = Last {
                key,
                body,
                reach,
                seq,
            };
            self.live.insert(object, last);
        }
    }

    fn print(&self, key: &ObjectKey) -> (u64, u64) {
        let kind = [
            key.resource.0.to_string().as_str(),
            &key.namespace,
            &stem(&key.name),
        ]
        .join("/");
        self.prints.of(kind.as_bytes())
    }
}

fn whole(block: u32) -> Reach {
    Reach {
        blocks: 1,
        block,
        versions: 0,
        depth: 0,
    }
}

/// Gives a name without what a generator put at its end, and with `#` for each number.
fn stem(name: &str) -> String {
    let parts: Vec<&str> = name.split_inclusive(['-', '.']).collect();
    let kept = parts
        .iter()
        .rposition(|part| !is_generated(part.trim_end_matches(['-', '.'])))
        .map_or(0, |last| last.saturating_add(1));
    let mut stem = String::with_capacity(name.len());
    for character in parts.iter().take(kept).flat_map(|part| part.chars()) {
        if !character.is_ascii_digit() {
            stem.push(character);
        } else if !stem.ends_with('#') {
            stem.push('#');
        }
    }
    stem
}

/// Tells whether a part of a name looks drawn by chance: the five or more letters and digits that
/// Kubernetes appends, which hold no vowel.
fn is_generated(part: &str) -> bool {
    part.len() >= 5
        && part
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"abcdefbcdfghjklmnpqrstvwxz".contains(&byte))
        && (part.bytes().any(|byte| byte.is_ascii_digit())
            || !part.bytes().any(|byte| b"aeiou".contains(&byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_lose_what_was_drawn_by_chance() {
        for (name, expected) in [
            ("etcd-operator-7d9f8b6c5-x2k4p", "etcd-operator-"),
            ("node-12", "node-#"),
            ("web.17a5b3c2d4e6f801", "web."),
            ("kube-apiserver", "kube-apiserver"),
            ("x2k4p", ""),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }

    #[test]
    fn a_chain_ends_after_its_blocks_and_its_versions() {
        let mut reach = whole(0);
        for block in 1..u32::from(KEYFRAME_BLOCKS) {
            reach = reach.next(block);
            assert!(reach.fits(), "{reach:?}");
        }
        assert!(reach.next(reach.block).fits());
        assert!(!reach.next(u32::from(KEYFRAME_BLOCKS)).fits());
        let long = (0..KEYFRAME_VERSIONS).fold(whole(0), |reach, _| reach.next(0));
        assert!(long.fits() && !long.next(0).fits());
    }
}
