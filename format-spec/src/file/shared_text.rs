//! The text that blocks of a group share. Each block is compressed with it as the prefix, so that
//! text of several blocks is stored once, and any block can be read with it alone.

use crate::codec::splice::pieces;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Returns text that occurs in more than one block, in the order of its first place, at most `most`
/// bytes.
///
/// Texts are compared in pairs of pieces: a piece includes the one before it, so that long
/// repetitions stay in one part. If not all fits, text of most blocks has precedence.
pub(crate) fn shared_text<'a>(
    blocks: &(impl Iterator<Item = &'a [u8]> + Clone),
    most: usize,
) -> Vec<u8> {
    let mut pairs: HashMap<u64, PairUse> = HashMap::new();
    for (number, text) in (1u32..).zip(blocks.clone()) {
        for (_, _, pair) in pairs_of(text) {
            let used = pairs.entry(pair).or_default();
            if used.last_block != number {
                used.last_block = number;
                used.blocks = used.blocks.saturating_add(1);
            }
        }
    }
    for least in 2.. {
        let shared = text_of(blocks.clone(), &pairs, least);
        if shared.len() <= most {
            return shared;
        }
    }
    Vec::new()
}

#[derive(Clone, Copy, Default)]
struct PairUse {
    last_block: u32,
    blocks: u32,
}

/// Returns the pieces of a text, each with the one before it and the fingerprint of both.
fn pairs_of(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], u64)> {
    let mut before: (&[u8], u64) = (&[], 0);
    pieces(text).map(move |piece| {
        let print = xxh3_64(piece);
        let pair = (before.0, piece, before.1.rotate_left(1) ^ print);
        before = (piece, print);
        pair
    })
}

/// Returns the text of the pairs that at least this many blocks have.
fn text_of<'a>(
    blocks: impl Iterator<Item = &'a [u8]>,
    pairs: &HashMap<u64, PairUse>,
    least: u32,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut taken = HashSet::new();
    for text in blocks {
        let mut is_open = false;
        for (before, piece, pair) in pairs_of(text) {
            let is_shared = pairs.get(&pair).is_some_and(|used| used.blocks >= least);
            if !is_shared || !taken.insert(pair) {
                is_open = false;
                continue;
            }
            if !is_open {
                out.extend_from_slice(before);
            }
            out.extend_from_slice(piece);
            is_open = true;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_blocks_say_is_shared_once_and_nothing_else() {
        let blocks: [&[u8]; 3] = [
            b"one,{two},alone,three,four,",
            b"zero,{two},more,three,four,",
            b"three,four,{two}",
        ];
        let shared = shared_text(&blocks.iter().copied(), 1000);
        let words = String::from_utf8(shared).unwrap();
        assert_eq!(words.matches("two}").count(), 1, "{words}");
        assert_eq!(words.matches("three,four,").count(), 1, "{words}");
        assert!(
            !words.contains("zero") && !words.contains("more"),
            "{words}"
        );
    }

    #[test]
    fn text_of_more_blocks_goes_in_first() {
        let blocks: [&[u8]; 3] = [
            b"{often,said,}rare,word,",
            b"{often,said,}rare,word,",
            b"{often,said,}other",
        ];
        let all = shared_text(&blocks.iter().copied(), 1000);
        let little = shared_text(&blocks.iter().copied(), all.len() - 1);
        let words = String::from_utf8(little).unwrap();
        assert!(
            words.contains("often,said,") && !words.contains("rare"),
            "{words}"
        );
        assert!(shared_text(&blocks.iter().copied(), 1).is_empty());
    }
}
