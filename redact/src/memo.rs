//! Recent results of a function of byte strings: the same names of fields and types occur in every
//! object of a kind, and the same certificates in every version of an object.
//!
//! Invariant: no text is stored, only 64-bit hashes under a random key, so that the author of an
//! object cannot construct a text that is taken for another one.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};

/// A longer name is not remembered.
const NAME_MOST: usize = 64;

/// The number of remembered texts; a power of two.
const PLACES: usize = 1024;

/// A hash and its result.
type MemoSlot<V> = Cell<Option<(u64, V)>>;

/// Results of a pure function of a text.
pub(crate) struct Memo<V> {
    hasher: RandomState,
    kept: Box<[MemoSlot<V>]>,
    /// A longer text is not remembered.
    bytes_most: usize,
}

impl<V: Copy> Memo<V> {
    /// Remembers names and other short texts, whose hash takes less than most functions of them.
    pub(crate) fn of_names() -> Self {
        Self::of_texts(NAME_MOST)
    }

    /// Remembers texts of up to this many bytes.
    pub(crate) fn of_texts(bytes_most: usize) -> Self {
        Self {
            hasher: RandomState::new(),
            kept: (0..PLACES).map(|_| Cell::new(None)).collect(),
            bytes_most,
        }
    }

    /// Returns the result of `make` for a text, from memory if it is there.
    pub(crate) fn get(&self, text: &[u8], make: impl FnOnce() -> V) -> V {
        if text.len() > self.bytes_most {
            return make();
        }
        let hash = self.hasher.hash_one(text);
        let [low, high, ..] = hash.to_le_bytes();
        let place = usize::from(u16::from_le_bytes([low, high]));
        let Some(kept) = self.kept.get(place % PLACES) else {
            return make();
        };
        match kept.get() {
            Some((known, value)) if known == hash => value,
            _ => {
                let value = make();
                kept.set(Some((hash, value)));
                value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_asked_about_once_and_a_long_one_each_time() {
        let memo = Memo::of_names();
        let long = [b'x'; NAME_MOST + 1];
        assert!(memo.get(b"name", || true) && memo.get(b"name", || false));
        assert!(memo.get(&long, || true) && !memo.get(&long, || false));
        let memo = Memo::of_names();
        // More texts than slots: each result belongs to its own text.
        for number in 0..10_000_u32 {
            let text = number.to_le_bytes();
            assert_eq!(memo.get(&text, || number), number);
        }
    }
}
