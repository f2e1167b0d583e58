//! A column of numbers in memory, each in as many bits as its neighbours need. Any place is read
//! directly, without decoding the numbers around it.
//!
//! Invariants:
//! * A full group never changes.
//! * The number at a place is the one that was pushed there, for any numbers: unusual ones only use
//!   more room.

/// How many numbers share a base and a width.
pub(crate) const GROUP: usize = 1024;

/// Numbers by place.
#[derive(Debug, Default)]
pub(crate) struct PackedColumn {
    full: Vec<PackedGroup>,
    /// The numbers behind the last full group.
    open: Vec<u64>,
}

/// [`GROUP`] numbers, each as its distance to the smallest of them.
#[derive(Debug)]
struct PackedGroup {
    least: u64,
    /// The bits of a distance, at most 64.
    width: u32,
    words: Box<[u64]>,
}

impl PackedColumn {
    pub(crate) fn push(&mut self, number: u64) {
        self.open.push(number);
        if self.open.len() == GROUP {
            self.full.push(PackedGroup::of(&self.open));
            self.open.clear();
        }
    }

    pub(crate) fn len(&self) -> usize {
        // A vector has at most as many elements as a usize counts, so the numbers in memory do too.
        self.full
            .len()
            .saturating_mul(GROUP)
            .saturating_add(self.open.len())
    }

    /// Returns all numbers in order, at less cost than each by its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let full = self.full.iter().flat_map(PackedGroup::iter);
        full.chain(self.open.iter().copied())
    }

    /// Returns the numbers of a group of [`GROUP`] places in order, fewer of the last one.
    pub(crate) fn group(&self, group: usize) -> impl Iterator<Item = u64> {
        let full = self.full.get(group).into_iter();
        let open = (group == self.full.len()).then_some(&self.open);
        let open = open.into_iter().flatten().copied();
        full.flat_map(PackedGroup::iter).chain(open)
    }

    pub(crate) fn get(&self, place: usize) -> Option<u64> {
        let (group, within) = (place / GROUP, place % GROUP);
        match self.full.get(group) {
            Some(group) => group.get(within),
            None if group == self.full.len() => self.open.get(within).copied(),
            None => None,
        }
    }
}

const WORD: usize = 64;

/// Splits the place of a number into its word and the bit in the word.
fn bit_place(place: usize, width: u32) -> Option<(usize, u32)> {
    let bit = place.checked_mul(usize::try_from(width).ok()?)?;
    Some((bit / WORD, u32::try_from(bit % WORD).ok()?))
}

impl PackedGroup {
    fn of(numbers: &[u64]) -> Self {
        let first = numbers.first().copied().unwrap_or_default();
        let (mut least, mut most) = (first, first);
        for number in numbers {
            least = least.min(*number);
            most = most.max(*number);
        }
        let width = u64::BITS - (most - least).leading_zeros();
        if width == 0 {
            let words = Box::default();
            return Self {
                least,
                width,
                words,
            };
        }
        let mut words =
            Vec::with_capacity(usize::try_from(width).map_or(0, |bits| bits * GROUP / WORD));
        let (mut word, mut used) = (0_u64, 0_u32);
        for number in numbers {
            let distance = number - least;
            word |= distance << used;
            used += width;
            if used >= u64::BITS {
                words.push(word);
                used -= u64::BITS;
                // The rest of the distance; zero bits if it ended with the word.
                word = distance.checked_shr(width - used).unwrap_or_default();
            }
        }
        if used > 0 {
            words.push(word);
        }
        Self {
            least,
            width,
            words: words.into_boxed_slice(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        let kept = u64::MAX.checked_shr(u64::BITS - self.width);
        let kept = kept.unwrap_or_default();
        let mut words = self.words.iter().copied();
        let (mut word, mut unread) = (0_u64, 0_u32);
        (0..GROUP).map(move |_| {
            let mut distance = word;
            if unread < self.width {
                // A group has as many words as its numbers need.
                let next = words.next().unwrap_or_default();
                distance |= next.checked_shl(unread).unwrap_or_default();
                word = next.checked_shr(self.width - unread).unwrap_or_default();
                unread += u64::BITS - self.width;
            } else {
                word = word.checked_shr(self.width).unwrap_or_default();
                unread -= self.width;
            }
            self.least + (distance & kept)
        })
    }

    fn get(&self, place: usize) -> Option<u64> {
        if self.width == 0 {
            return Some(self.least);
        }
        let (word, bit) = bit_place(place, self.width)?;
        let low = self.words.get(word)? >> bit;
        let high = if bit + self.width > u64::BITS {
            self.words.get(word + 1)? << (u64::BITS - bit)
        } else {
            0
        };
        let kept = u64::MAX >> (u64::BITS - self.width);
        Some(self.least + ((low | high) & kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_back(
            base in any::<u64>(),
            width in 0_u32..=64,
            seeds in prop::collection::vec(any::<u64>(), 0..2_500),
        ) {
            let mask = u64::MAX.checked_shr(u64::BITS - width).unwrap_or_default();
            let numbers: Vec<u64> = seeds
                .iter()
                .map(|seed| base.saturating_add(seed & mask))
                .collect();
            let mut column = PackedColumn::default();
            for (place, number) in numbers.iter().enumerate() {
                prop_assert_eq!(column.len(), place);
                column.push(*number);
            }
            for (place, number) in numbers.iter().enumerate() {
                prop_assert_eq!(column.get(place), Some(*number), "place {}", place);
            }
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), numbers.clone());
            let groups = 0..=numbers.len() / GROUP;
            let grouped = groups.flat_map(|group| column.group(group));
            prop_assert_eq!(grouped.collect::<Vec<_>>(), numbers.clone());
            prop_assert_eq!(column.get(numbers.len()), None);
            prop_assert_eq!(column.get(usize::MAX), None);
        }
    }

    #[test]
    fn numbers_that_lie_close_together_take_few_bits() {
        let mut column = PackedColumn::default();
        for number in 0..u64::try_from(GROUP).unwrap() {
            column.push(1_700_000_000_000_000 + number % 8);
        }
        let words: usize = column.full.iter().map(|group| group.words.len()).sum();
        assert_eq!(words, 3 * GROUP / WORD);
        assert!(column.open.is_empty());
    }
}
