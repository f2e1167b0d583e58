//! Owns the knowledge of which texts are in the blob log already. Refuses to keep the texts.
//!
//! A text is known by two keyed 64-bit hashes with keys drawn at each start: whoever writes an object
//! cannot aim at a collision.

use crate::codec::bodies::BlobColumn;
use crate::codec::splice::Blobs;
use crate::id::BlobId;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// Beyond so many texts none is taken any more; they go into the blocks instead.
const MOST: usize = 1 << 20;

/// Two independent keyed hashes.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints(RandomState, RandomState);

impl Fingerprints {
    /// Gives the fingerprint of some bytes.
    pub(crate) fn of(&self, bytes: &[u8]) -> (u64, u64) {
        (self.0.hash_one(bytes), self.1.hash_one(bytes))
    }
}

/// The texts of the blob log.
#[derive(Debug, Default)]
pub(crate) struct Known {
    prints: Fingerprints,
    ids: HashMap<(u64, u64), BlobId>,
}

impl Known {
    /// Gives the log's writing end: texts enter it in `column` with numbers from `first + count` on.
    pub(crate) fn log<'a>(
        &'a mut self,
        column: &'a mut BlobColumn,
        first: u32,
        count: &'a mut u32,
    ) -> Log<'a> {
        Log {
            known: self,
            column,
            first,
            count,
        }
    }
}

/// The log as it is: nothing enters it.
pub(crate) struct AsIs<'a>(&'a Known);

impl Known {
    /// Gives the log for looking texts up only.
    pub(crate) fn as_is(&self) -> AsIs<'_> {
        AsIs(self)
    }
}

impl Blobs for AsIs<'_> {
    fn intern(&mut self, text: &[u8]) -> Option<BlobId> {
        self.0.ids.get(&self.0.prints.of(text)).copied()
    }
}

/// The blob log's writing end.
pub(crate) struct Log<'a> {
    known: &'a mut Known,
    column: &'a mut BlobColumn,
    first: u32,
    count: &'a mut u32,
}

impl Log<'_> {
    fn push(&mut self, text: &[u8]) -> Option<BlobId> {
        let id = self.first.checked_add(*self.count)?;
        *self.count = self.count.checked_add(1)?;
        self.column.push(text);
        Some(BlobId(id))
    }

    /// Gives a text its number, new or old, whatever its length and however many there are.
    pub(crate) fn always(&mut self, text: &[u8]) -> Option<BlobId> {
        self.intern(text).or_else(|| self.push(text))
    }
}

impl Blobs for Log<'_> {
    fn intern(&mut self, text: &[u8]) -> Option<BlobId> {
        let print = self.known.prints.of(text);
        if let Some(id) = self.known.ids.get(&print) {
            return Some(*id);
        }
        if self.known.ids.len() >= MOST {
            return None;
        }
        let id = self.push(text)?;
        self.known.ids.insert(print, id);
        Some(id)
    }
}
