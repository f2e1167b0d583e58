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
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
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

/// The known parts along a walk over their object.
#[derive(Debug, Default)]
pub(super) struct KnownCursor<'w> {
    /// Those that are ahead of the walk, in order.
    ahead: &'w [Range<usize>],
}

impl<'w> KnownCursor<'w> {
    pub(super) const fn new(known: &'w [Range<usize>]) -> Self {
        Self { ahead: known }
    }

    /// Returns the end of the part that begins at a place. Places must come in their order.
    pub(super) fn end_of(&mut self, at: usize) -> Option<usize> {
        while let Some((part, behind)) = self.ahead.split_first() {
            if part.start >= at {
                return (part.start == at).then_some(part.end);
            }
            self.ahead = behind;
        }
        None
    }
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
            let begin = finder.json.space(0);
            let mut whole = finder.begin(path, begin);
            let whole = finder.members(begin, path, LEVELS, &mut whole);
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

/// The hash of an object or list in the making: of its path, and of its bytes, with the hashes of parts in it in place
/// of their bytes, so that each byte is hashed once. Lengths keep what is hashed apart.
struct PartHash {
    hasher: DefaultHasher,
    /// Where the bytes begin that are not hashed yet.
    from: usize,
}

impl PartHash {
    fn text(&mut self, json: JsonText<'_>, to: usize) {
        let text = json.raw(&(self.from..to));
        self.hasher.write(text.as_bytes());
        self.hasher.write_usize(text.len());
        self.from = to;
    }

    fn part(&mut self, json: JsonText<'_>, place: &Range<usize>, hash: u64) {
        self.text(json, place.start);
        self.hasher.write_u64(hash);
        self.from = place.end;
    }
}

impl PartFinder<'_> {
    /// Finds the parts among the members of an object or list, and returns its end.
    fn members(
        &mut self,
        at: usize,
        path: u64,
        levels: usize,
        outer: &mut PartHash,
    ) -> Option<usize> {
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
            let mut key = ITEM;
            if is_object {
                let end = (self.json.byte(at)? == b'"').then(|| self.json.string(at))??;
                key = self.json.raw(&(at..end));
                let colon = self.json.space(end);
                at = (self.json.byte(colon)? == b':').then(|| self.json.space(colon + 1))?;
            }
            let end = match self.json.byte(at)? {
                b'"' => self.json.string(at)?,
                b'{' | b'[' => self.part(at, (path, key), levels, outer)?,
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

    fn begin(&self, path: u64, from: usize) -> PartHash {
        let mut hasher = self.memory.hasher.build_hasher();
        hasher.write_u64(path);
        PartHash { hasher, from }
    }

    /// Takes an object or list as a part, or its members, and returns its end.
    fn part(
        &mut self,
        at: usize,
        (above, key): (u64, &str),
        levels: usize,
        outer: &mut PartHash,
    ) -> Option<usize> {
        if matches!(self.json.byte(at + 1), Some(b'}' | b']')) {
            return Some(at + 2);
        }
        let path = self.memory.hasher.hash_one((above, key));
        let mut whole = self.begin(path, at);
        let (known, others) = (self.parts.known.len(), self.parts.others.len());
        // It stands before the parts in it.
        self.parts.others.push((at..at, 0));
        let end = if levels > 1 {
            self.members(at, path, levels - 1, &mut whole)?
        } else {
            self.json.nested(at)?
        };
        let place = at..end;
        if place.len() < PART_LEAST {
            self.parts.others.truncate(others);
            return Some(end);
        }
        whole.text(self.json, end);
        let hash = whole.hasher.finish();
        outer.part(self.json, &place, hash);
        if self.memory.has(hash) {
            self.parts.known.truncate(known);
            self.parts.others.truncate(others);
            self.parts.known.push(place);
        } else if let Some(other) = self.parts.others.get_mut(others) {
            *other = (place, hash);
        }
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_known_by_all_of_its_bytes_and_its_path() {
        let item =
            |name| format!(r#"{{"name":"{name}","image":"registry.example.org/app:1.2.3"}}"#);
        let object = |middle, last| {
            let (first, last) = (item("a"), item(last));
            format!(r#"{{"spec":{{"first":{first},"middle":{middle},"last":{last}}}}}"#)
        };
        let resource = ResourceType::new("example.org", "parts");
        let known = |text: &str| -> Vec<String> {
            let parts = KnownParts::of(&resource, text);
            let known = parts.known().iter();
            known.map(|part| text[part.clone()].to_owned()).collect()
        };
        let text = object(1, "b");
        assert!(known(&text).is_empty());
        KnownParts::of(&resource, &text).remember(Vec::new());
        assert_eq!(known(&text), [&text[8..text.len() - 1]]);
        assert_eq!(known(&object(2, "b")), [item("a"), item("b")]);
        assert_eq!(known(&object(1, "c")), [item("a")]);
        assert_eq!(known(&text.replace("first", "other")), [item("b")]);
        assert!(known(&text.replace("spec", "status")).is_empty());
    }
}
