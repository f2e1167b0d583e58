//! The parts of an object in which an earlier search found nothing: most of an object is as it was in its version
//! before, or as in another object of its kind.
//!
//! Invariants:
//!
//! * A part is an object or a list, known by its bytes, its path, and the type of its resource. All that the search of
//!   a part depends on besides is asked by the search itself, which then takes the part as any other.
//! * A part is remembered only after a search of its whole object that found nothing, and only if it has no effect on
//!   what is beside it.
//! * No text is stored, only 64-bit hashes under a random key, so that the author of an object cannot construct a part
//!   that is taken for another one.

use super::json::JsonText;
use crate::secret_fields::ResourceType;
use serde::de::IgnoredAny;
use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

/// How many levels below an object its parts are.
pub(super) const LEVELS: usize = 3;

/// The step of a path to an item of a list; the name of a field has quotes.
const ITEM: &str = "[]";

/// A smaller part is searched faster than it is known again.
const PART_LEAST: usize = 48;

/// The number of remembered parts; a power of two.
const PLACES: usize = 16 * 1024;

/// The parts of one object.
#[derive(Debug, Default)]
pub(crate) struct KnownParts {
    /// Those that are known, in order; none is within another one.
    known: Vec<Range<usize>>,
    /// The others, with their hashes.
    others: Vec<(Range<usize>, u64)>,
}

struct PartMemory {
    hasher: RandomState,
    kept: Box<[Cell<u64>]>,
}

thread_local! {
    static MEMORY: PartMemory = PartMemory {
        hasher: RandomState::new(),
        kept: (0..PLACES).map(|_| Cell::new(0)).collect(),
    };
}

impl PartMemory {
    fn place(&self, hash: u64) -> Option<&Cell<u64>> {
        let [low, high, ..] = hash.to_le_bytes();
        let place = usize::from(u16::from_le_bytes([low, high]));
        self.kept.get(place % PLACES)
    }

    /// Returns whether a hash was remembered; the one that free places have never is.
    fn has(&self, hash: u64) -> bool {
        hash != 0 && self.place(hash).is_some_and(|kept| kept.get() == hash)
    }

    fn remember(&self, hash: u64) {
        if let Some(kept) = self.place(hash) {
            kept.set(hash);
        }
    }
}

impl KnownParts {
    /// Finds the parts of an object; none in what is not JSON.
    pub(crate) fn of(resource: &ResourceType<'_>, text: &str) -> Self {
        MEMORY.with(|memory| {
            let mut finder = PartFinder {
                memory,
                json: JsonText(text),
                parts: Self::default(),
            };
            let path = memory.hasher.hash_one(resource);
            let whole = finder.members(finder.json.space(0), path, LEVELS);
            whole.map_or_else(Self::default, |_end| finder.parts)
        })
    }

    /// Returns the places of the known parts, in order.
    pub(crate) fn known(&self) -> &[Range<usize>] {
        &self.known
    }

    /// Returns whether a known part begins at a place.
    pub(crate) fn begin_at(&self, at: usize) -> bool {
        let found = self.known.binary_search_by_key(&at, |part| part.start);
        found.is_ok()
    }

    /// Remembers the other parts: of those that begin at `effects`, what is beside them depends on.
    pub(crate) fn remember(&self, mut effects: Vec<usize>) {
        effects.sort_unstable();
        MEMORY.with(|memory| {
            for (place, hash) in &self.others {
                if effects.binary_search(&place.start).is_err() {
                    memory.remember(*hash);
                }
            }
        });
    }

    /// Returns where the other parts begin that are not JSON, of an object that no search has read as such.
    pub(crate) fn broken(&self, text: &str) -> Vec<usize> {
        let mut read = 0..0;
        let mut broken = Vec::new();
        for (place, _) in &self.others {
            // What is within a part was read with it.
            if place.start >= read.end {
                let part = text.get(place.clone()).unwrap_or_default();
                match serde_json::from_str::<IgnoredAny>(part) {
                    Ok(_) => read = place.clone(),
                    Err(_) => broken.push(place.start),
                }
            }
        }
        broken
    }
}

/// Finds the parts of one object.
struct PartFinder<'t> {
    memory: &'t PartMemory,
    json: JsonText<'t>,
    parts: KnownParts,
}

impl PartFinder<'_> {
    /// Finds the parts among the members of an object or list, and returns its end.
    fn members(&mut self, at: usize, path: u64, levels: usize) -> Option<usize> {
        let is_object = match self.json.byte(at)? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        let mut at = self.json.space(at + 1);
        if matches!(self.json.byte(at), Some(b'}' | b']')) {
            return Some(at + 1);
        }
        loop {
            let mut path = path;
            if is_object {
                let end = (self.json.byte(at)? == b'"').then(|| self.json.string(at))??;
                path = self.hash(path, self.json.raw(&(at..end)));
                let colon = self.json.space(end);
                at = (self.json.byte(colon)? == b':').then(|| self.json.space(colon + 1))?;
            } else {
                path = self.hash(path, ITEM);
            }
            let end = match self.json.byte(at)? {
                b'"' => self.json.string(at)?,
                b'{' | b'[' => self.part(at, path, levels)?,
                _ => self.json.literal(at)?,
            };
            at = self.json.space(end);
            match self.json.byte(at)? {
                b',' => at = self.json.space(at + 1),
                b'}' | b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn hash(&self, path: u64, text: &str) -> u64 {
        self.memory.hasher.hash_one((path, text))
    }

    /// Takes an object or list as a part, or its members, and returns its end.
    fn part(&mut self, at: usize, path: u64, levels: usize) -> Option<usize> {
        let end = self.json.nested(at)?;
        if end - at < PART_LEAST {
            return Some(end);
        }
        let hash = self.hash(path, self.json.raw(&(at..end)));
        if self.memory.has(hash) {
            self.parts.known.push(at..end);
            return Some(end);
        }
        self.parts.others.push((at..end, hash));
        match levels.checked_sub(1) {
            None | Some(0) => Some(end),
            Some(levels) => self.members(at, path, levels).filter(|inner| *inner == end),
        }
    }
}
