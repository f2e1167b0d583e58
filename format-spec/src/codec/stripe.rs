//! Reed-Solomon shards over the bytes of a sealed file: a stripe of some megabytes is cut into shards of equal length,
//! and any damaged ones are put together from the others, as long as they are not more than there are recovery shards.
//!
//! Invariants, because a description may be forged:
//! * Lengths are bounded before anything is allocated.
//! * What is put together is compared with the checksum of the whole stripe. The shards' own checks are short: they
//!   only tell which shards to replace.

use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, varint};
use crate::limits::{LEAST_RECOVERY, MAX_STRIPE, SHARDS_PER_RECOVERY, len64};
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// How many shards a stripe is cut into, if that makes none longer or shorter than the bounds.
const SHARDS: usize = 1024;
const LEAST_SHARD: usize = 256;
const MOST_SHARD: usize = 8192;
/// The most shards of either kind that a description may name.
const MAX_SHARDS: usize = 1 << 15;
/// How many bytes are put together for shards with right checks that are taken as damaged, one after the other.
const DOUBTED_BYTES: usize = 1 << 28;

/// A stripe and its recovery shards.
pub(crate) type ProtectedStripe = (Stripe, Vec<Vec<u8>>);

/// A recovery shard and its place among them.
pub(crate) type RecoveryShard = (usize, Vec<u8>);

/// The description of a stripe, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stripe {
    len: usize,
    shard_len: usize,
    recovery: usize,
    sum: u64,
    /// The beginning of each shard's checksum.
    checks: Vec<[u8; 2]>,
}

fn check_of(shard: &[u8]) -> [u8; 2] {
    let [a, b, ..] = xxh3_64(shard).to_le_bytes();
    [a, b]
}

/// Returns a shard as the code takes it: the last one is filled up with zeros.
fn padded(shard: &[u8], len: usize) -> Vec<u8> {
    let mut whole = shard.to_vec();
    whole.resize(len, 0);
    whole
}

impl Stripe {
    /// Describes some bytes, and computes their recovery shards; too many have none.
    pub(crate) fn protect(bytes: &[u8]) -> Result<Option<ProtectedStripe>, CodecError> {
        if bytes.is_empty() || bytes.len() > MAX_STRIPE {
            return Ok(None);
        }
        let least = bytes.len().div_ceil(SHARDS).next_multiple_of(64);
        let shard_len = least.clamp(LEAST_SHARD, MOST_SHARD);
        let checks: Vec<[u8; 2]> = bytes.chunks(shard_len).map(check_of).collect();
        let recovery = checks.len().div_ceil(SHARDS_PER_RECOVERY);
        let recovery = recovery.max(LEAST_RECOVERY).min(checks.len());
        let mut encoder = ReedSolomonEncoder::new(checks.len(), recovery, shard_len)?;
        for shard in bytes.chunks(shard_len) {
            encoder.add_original_shard(padded(shard, shard_len))?;
        }
        let shards = encoder.encode()?;
        let shards: Vec<Vec<u8>> = shards.recovery_iter().map(<[u8]>::to_vec).collect();
        let stripe = Self {
            len: bytes.len(),
            shard_len,
            recovery,
            sum: xxh3_64(bytes),
            checks,
        };
        Ok(Some((stripe, shards)))
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of its recovery shards.
    pub(crate) fn recovery(&self) -> usize {
        self.recovery
    }

    /// Returns whether some bytes are those of the stripe.
    pub(crate) fn fits(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.len && xxh3_64(bytes) == self.sum
    }

    /// Returns the content of its row; `back` is how many bytes lie between the stripe's first byte and that row.
    pub(crate) fn encode(&self, back: u64) -> Vec<u8> {
        let mut out = Vec::new();
        varint::put(&mut out, u128::from(back));
        for len in [self.len, self.shard_len, self.recovery] {
            varint::put_len(&mut out, len);
        }
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(self.checks.as_flattened());
        out
    }

    /// Reads the content of a stripe's row: how many bytes it begins before that row, and what it is.
    pub(crate) fn decode(content: &[u8]) -> Result<(u64, Self), CodecError> {
        let mut fields = FieldReader::new(content, "a stripe");
        let back = fields.at_most(u64::MAX)?;
        let len = fields.len_at_most(MAX_STRIPE)?;
        let shard_len = fields.len_at_most(MAX_STRIPE)?;
        let recovery = fields.len_at_most(MAX_SHARDS)?;
        let mut sum = [0; 8];
        sum.copy_from_slice(fields.bytes(8)?);
        let (checks, rest) = fields.rest().as_chunks::<2>();
        let is_sane = rest.is_empty()
            && checks.len() <= MAX_SHARDS
            && recovery <= checks.len()
            && len.checked_div(shard_len).is_some()
            && len.div_ceil(shard_len) == checks.len();
        if !is_sane {
            return Err(CodecError::Meaningless {
                what: "a stripe's shards",
                found: len64(checks.len()),
            });
        }
        let stripe = Self {
            len,
            shard_len,
            recovery,
            sum: u64::from_le_bytes(sum),
            checks: checks.to_vec(),
        };
        Ok((back, stripe))
    }

    /// Puts the damaged shards of a stripe together. Gives where each lies in it, and its bytes; nothing if too many
    /// are damaged. `proven` gives the parts of the stripe that have checksums of their own and are whole, in order.
    pub(crate) fn repair(
        &self,
        bytes: &[u8],
        recovery: &[RecoveryShard],
        proven: impl FnOnce() -> Vec<Range<usize>>,
    ) -> Option<Vec<(usize, Vec<u8>)>> {
        let shards = || (0..).zip(bytes.chunks(self.shard_len).zip(&self.checks));
        let damaged: Vec<usize> = shards()
            .filter(|(_, (shard, check))| check_of(shard) != **check)
            .map(|(number, _)| number)
            .collect();
        if damaged.len() > recovery.len() {
            return None;
        }
        let with = |more: &[usize]| {
            let mut all = [damaged.as_slice(), more].concat();
            all.sort_unstable();
            self.repair_shards(&all, bytes, recovery)
        };
        // One damaged shard in 65,536 has the right check.
        with(&[]).or_else(|| {
            let doubtful = self.doubtful_shards(&damaged, &proven());
            doubtful.into_iter().find_map(|one| with(&[one]))
        })
    }

    /// Returns shards whose checks are right although nothing proves all their bytes. Those that have no damaged shard
    /// beside them come first: something is wrong there.
    fn doubtful_shards(&self, damaged: &[usize], proven: &[Range<usize>]) -> Vec<usize> {
        let edges = proven.iter().map(|part| (part.start, part.end));
        let mut from = 0;
        let mut apart: Vec<usize> = Vec::new();
        let mut beside: Vec<usize> = Vec::new();
        for (start, end) in edges.chain([(self.len, self.len)]) {
            if from < start {
                let shards = from / self.shard_len..start.div_ceil(self.shard_len);
                let (bad, good): (Vec<usize>, Vec<usize>) =
                    shards.partition(|shard| damaged.binary_search(shard).is_ok());
                let group = if bad.is_empty() {
                    &mut apart
                } else {
                    &mut beside
                };
                group.extend(good);
            }
            from = end.max(from);
        }
        apart.extend(beside);
        apart.dedup();
        apart.truncate(DOUBTED_BYTES.checked_div(self.len).unwrap_or_default());
        apart
    }

    /// Puts the given shards together, in the order of their numbers.
    fn repair_shards(
        &self,
        damaged: &[usize],
        bytes: &[u8],
        recovery: &[RecoveryShard],
    ) -> Option<Vec<(usize, Vec<u8>)>> {
        let is_enough = !damaged.is_empty() && damaged.len() <= recovery.len();
        if bytes.len() != self.len || !is_enough {
            return None;
        }
        let count = self.checks.len();
        let mut decoder = ReedSolomonDecoder::new(count, self.recovery, self.shard_len).ok()?;
        for (number, shard) in (0..).zip(bytes.chunks(self.shard_len)) {
            if damaged.binary_search(&number).is_err() {
                let shard = padded(shard, self.shard_len);
                decoder.add_original_shard(number, shard).ok()?;
            }
        }
        for (number, shard) in recovery {
            decoder.add_recovery_shard(*number, shard).ok()?;
        }
        let restored = decoder.decode().ok()?;
        let mut whole = bytes.to_vec();
        let mut repaired = Vec::with_capacity(damaged.len());
        for &number in damaged {
            let shard = restored.restored_original(number)?;
            let at = number.checked_mul(self.shard_len)?;
            let end = at.checked_add(self.shard_len)?.min(self.len);
            let shard = shard.get(..end.checked_sub(at)?)?;
            whole.get_mut(at..end)?.copy_from_slice(shard);
            repaired.push((at, shard.to_vec()));
        }
        self.fits(&whole).then_some(repaired)
    }
}

impl From<reed_solomon_simd::Error> for CodecError {
    fn from(error: reed_solomon_simd::Error) -> Self {
        Self::Library {
            what: "cannot compute recovery shards",
            cause: error.to_string(),
        }
    }
}

/// Returns the number of the row of a stripe's recovery shard.
pub(crate) fn shard_row(stripe: u64, shard: usize) -> u64 {
    (stripe << 16) | (len64(shard) & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_shard_whose_check_fits_by_chance_is_found_where_nothing_proves_it() {
        let bytes: Vec<u8> = (0..40_000u32)
            .flat_map(|at| (at * 7).to_le_bytes())
            .collect();
        let (mut stripe, recovery) = Stripe::protect(&bytes).unwrap().unwrap();
        let recovery: Vec<RecoveryShard> = recovery.into_iter().enumerate().collect();
        let len = stripe.shard_len;
        let repaired = |stripe: &Stripe, mut damaged: Vec<u8>, proven: &[Range<usize>]| {
            for (at, shard) in stripe.repair(&damaged, &recovery, || proven.to_vec())? {
                damaged[at..at + shard.len()].copy_from_slice(&shard);
            }
            Some(damaged == bytes)
        };
        let damaged_at = |places: &[usize]| {
            let mut damaged = bytes.clone();
            for place in places {
                damaged[*place] ^= 1;
            }
            damaged
        };
        // As if the check of the damaged shard were that of the whole one.
        let alone = damaged_at(&[10 * len, 100 * len, 300 * len]);
        stripe.checks[100] = check_of(&alone[100 * len..101 * len]);
        let parts = [
            0..10 * len,
            12 * len..99 * len + 7,
            103 * len..299 * len,
            302 * len..bytes.len(),
        ];
        assert_eq!(repaired(&stripe, alone.clone(), &parts), Some(true));
        // In a row of damaged ones.
        let run = damaged_at(&[99 * len, 100 * len, 101 * len]);
        assert_eq!(repaired(&stripe, run, &parts), Some(true));
        // What is proven is not doubted.
        let wrong = [0..10 * len, 12 * len..299 * len];
        assert_eq!(repaired(&stripe, alone, &wrong), None);
    }

    use crate::limits::LEAST_STRIPE;
    use proptest::prelude::*;

    fn bytes_of(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let numbers = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
            state.to_be_bytes()[0]
        });
        numbers.take(len).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn damaged_shards_come_back_as_long_as_enough_are_left(
            len in 1..LEAST_STRIPE * 9,
            hits in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..40),
            lost in 0usize..3,
        ) {
            let whole = bytes_of(len);
            let (stripe, shards) = Stripe::protect(&whole).unwrap().unwrap();
            prop_assert_eq!(Stripe::decode(&stripe.encode(77)), Ok((77, stripe.clone())));
            let mut bytes = whole.clone();
            for (at, flip) in &hits {
                let at = at.index(len);
                bytes[at] ^= flip;
            }
            let damaged = whole
                .chunks(stripe.shard_len)
                .zip(bytes.chunks(stripe.shard_len))
                .filter(|(before, after)| before != after)
                .count();
            let left: Vec<RecoveryShard> = shards.into_iter().enumerate().skip(lost).collect();
            match stripe.repair(&bytes, &left, Vec::new) {
                Some(repaired) => {
                    prop_assert!(damaged <= left.len());
                    for (at, shard) in repaired {
                        bytes[at..at + shard.len()].copy_from_slice(&shard);
                    }
                    prop_assert!(bytes == whole);
                }
                None => prop_assert!(damaged == 0 || damaged > left.len()),
            }
        }

        #[test]
        fn a_forged_description_is_an_error_or_harmless(content: Vec<u8>) {
            if let Ok((_, stripe)) = Stripe::decode(&content) {
                prop_assert!(stripe.repair(&bytes_of(stripe.len().min(1000)), &[], Vec::new).is_none());
            }
        }
    }

    #[test]
    fn a_wrong_recovery_shard_gives_nothing() {
        let whole = bytes_of(100_000);
        let (stripe, shards) = Stripe::protect(&whole).unwrap().unwrap();
        let mut shards: Vec<RecoveryShard> = shards.into_iter().enumerate().collect();
        shards[0].1[5] ^= 1;
        let mut bytes = whole;
        for shard in 0..shards.len() {
            bytes[shard * 2_000] ^= 1;
        }
        assert_eq!(stripe.repair(&bytes, &shards, Vec::new), None);
    }
}
