//! Owns the revisions at which events were recorded, in order, and the arithmetic on them. Refuses
//! numbers that no etcd gives.

use std::ops::RangeInclusive;

/// The revisions of one sequence at which an event was recorded, each once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Revisions {
    numbers: Vec<u64>,
    /// How many revisions belong to several objects.
    shared: u64,
}

/// An event: its revision, and a number for the object that it is of.
pub(super) type Recorded = (u64, u32);

impl Revisions {
    /// Puts events in order. `are_one` tells whether two objects may share a revision: because they
    /// are the same one, or because they were deleted together.
    pub(super) fn new(mut events: Vec<Recorded>, are_one: impl Fn(u32, u32) -> bool) -> Self {
        events.sort_unstable();
        let mut shared = 0u64;
        let mut last_shared = None;
        for pair in events.windows(2) {
            if let [(one, a), (other, b)] = pair
                && one == other
                && a != b
                && last_shared != Some(*one)
                && !are_one(*a, *b)
            {
                shared = shared.saturating_add(1);
                last_shared = Some(*one);
            }
        }
        let mut numbers: Vec<u64> = events.into_iter().map(|(revision, _)| revision).collect();
        numbers.dedup();
        numbers.shrink_to_fit();
        Self { numbers, shared }
    }

    /// Gives how many revisions belong to several objects, which no etcd does.
    pub(super) const fn shared(&self) -> u64 {
        self.shared
    }

    /// Gives the recorded revisions after `from`, up to and including `to`.
    fn within(&self, from: u64, to: u64) -> &[u64] {
        let begin = self.numbers.partition_point(|number| *number <= from);
        let end = self.numbers.partition_point(|number| *number <= to);
        self.numbers.get(begin..end).unwrap_or_default()
    }

    /// Counts the recorded revisions after `from`, up to and including `to`.
    pub(super) fn explained(&self, from: u64, to: u64) -> u64 {
        u64::try_from(self.within(from, to).len()).unwrap_or(u64::MAX)
    }

    /// Counts the revisions after `from`, up to and including `to`, at which nothing was recorded.
    pub(super) fn unexplained(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from)
            .saturating_sub(self.explained(from, to))
    }

    /// Gives the runs of such revisions, in order.
    pub(super) fn ranges(
        &self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let ends = self.within(from, to).iter().copied().map(Some);
        let mut next = from.checked_add(1);
        ends.chain([None]).filter_map(move |number| {
            let last = number.map_or(to, |number| number.saturating_sub(1));
            let run = next?..=last;
            next = number.and_then(|number| number.checked_add(1));
            (!run.is_empty()).then_some(run)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn counts_as_a_naive_account_does(
            events in vec((0u64..60, 0u32..4), 0..80),
            from in 0u64..60,
            span in 0u64..30,
        ) {
            let to = from + span;
            let revisions = Revisions::new(events.clone(), |_, _| false);
            let known: BTreeSet<u64> = events.iter().map(|(revision, _)| *revision).collect();
            let missing: Vec<u64> =
                (from + 1..=to).filter(|revision| !known.contains(revision)).collect();
            let listed: Vec<u64> = revisions.ranges(from, to).flatten().collect();
            prop_assert_eq!(&listed, &missing);
            let count = u64::try_from(missing.len()).expect("few");
            prop_assert_eq!(revisions.unexplained(from, to), count);
            prop_assert_eq!(revisions.explained(from, to), span - count);
            let runs: Vec<_> = revisions.ranges(from, to).collect();
            let is_apart = runs.windows(2).all(|pair| pair[0].end() + 1 < *pair[1].start());
            prop_assert!(is_apart, "{:?}", runs);
            let shared = known.iter().filter(|revision| {
                let objects: BTreeSet<u32> = events
                    .iter()
                    .filter(|(number, _)| number == *revision)
                    .map(|(_, object)| *object)
                    .collect();
                objects.len() > 1
            });
            prop_assert_eq!(revisions.shared(), u64::try_from(shared.count()).expect("few"));
        }
    }

    #[test]
    fn the_ends_of_the_numbers_do_no_harm() {
        let revisions = Revisions::new(vec![(0, 0), (u64::MAX, 0)], |_, _| false);
        assert_eq!(revisions.unexplained(5, 3), 0);
        assert_eq!(revisions.ranges(5, 3).count(), 0);
        let all: Vec<_> = revisions.ranges(0, u64::MAX).collect();
        assert_eq!(all, [1..=u64::MAX - 1]);
    }
}
