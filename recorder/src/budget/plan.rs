//! The order of the budget's steps, when each is due, which resource uses too much memory, and how
//! a memory limit is divided.
//!
//! The appender counts the memory of the objects that it keeps; a watcher keeps about as much again
//! for each live object. Bodies move to a temporary file first, by the appender itself, when they
//! reach [`body_bytes`]. The rest grows with the number of objects, so the resource with most of it
//! is left out when all together reach [`object_bytes`].

use kubereel_format::{ObjectMemory, ResourceId, Usage};
use std::collections::BTreeMap;

/// One step: from here on less is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BudgetStep {
    /// No Leases.
    Leases,
    /// No Events.
    Events,
    /// Without the resource that writes most, except cluster-level resources.
    Largest,
    /// Only cluster-level resources.
    AllButTruth,
    /// No pods.
    Pods,
    /// No nodes.
    Nodes,
    /// No cluster operators.
    Operators,
    /// No cluster version.
    Version,
    /// Only notes about the recording.
    Notes,
    /// Only how the recording ended.
    End,
}

/// The share of the reachable size, in percent, at which each step is taken. A file is full at
/// about 90 percent of it: free space is fragmented.
pub(super) const STEPS: [(u64, BudgetStep); 13] = [
    (50, BudgetStep::Leases),
    (60, BudgetStep::Events),
    (68, BudgetStep::Largest),
    (70, BudgetStep::Largest),
    (72, BudgetStep::Largest),
    (74, BudgetStep::Largest),
    (76, BudgetStep::AllButTruth),
    (78, BudgetStep::Pods),
    (79, BudgetStep::Nodes),
    (80, BudgetStep::Operators),
    (81, BudgetStep::Version),
    (82, BudgetStep::Notes),
    (86, BudgetStep::End),
];

/// The share, in percent, at which a series begins its next reel: early enough for the next reel to
/// be complete before the first step. It is a share of the reachable size, as those of the steps;
/// docs/rotation.md gives both as shares of the limit.
pub(crate) const ROTATE_PERCENT: u64 = 35;

/// The part of the free room that may wait for a commit, and that a single object may use.
const WAITING_PART: u64 = 8;
const OBJECT_PART: u64 = 2;

/// The bytes that may always wait for a commit.
const WAITING_BYTES: u64 = 64 * 1024;

/// The position of a recording in the order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BudgetPlan {
    taken: usize,
}

impl BudgetPlan {
    /// Takes the next step if it is due.
    pub(super) fn due(&mut self, usage: &Usage) -> Option<BudgetStep> {
        let (percent, step) = *STEPS.get(self.taken)?;
        if !is_beyond(usage, percent) {
            return None;
        }
        self.taken += 1;
        Some(step)
    }

    /// Takes every step up to one, due or not: the file would not accept more.
    pub(super) fn skip_to(&mut self, wanted: BudgetStep) -> Vec<BudgetStep> {
        let rest = STEPS.get(self.taken..).unwrap_or_default();
        let steps: Vec<BudgetStep> = rest
            .iter()
            .map(|(_, step)| *step)
            .take_while(|step| *step <= wanted)
            .collect();
        self.taken += steps.len();
        steps
    }
}

fn is_beyond(usage: &Usage, percent: u64) -> bool {
    let used = u128::from(usage.used_bytes) * 100;
    used >= u128::from(usage.reach_bytes) * u128::from(percent)
}

/// Returns the used share of the reachable size, in percent.
pub(super) const fn used_percent(usage: &Usage) -> u64 {
    match usage
        .used_bytes
        .saturating_mul(100)
        .checked_div(usage.reach_bytes)
    {
        Some(percent) => percent,
        None => 0,
    }
}

/// Returns whether a reel has no room for another run, whatever is left out.
pub(crate) fn is_used_up(usage: &Usage) -> bool {
    STEPS.last().is_some_and(|(end, _)| is_beyond(usage, *end))
}

/// Returns whether a reel has enough room to record again what an earlier run left out.
pub(super) fn is_roomy(usage: &Usage) -> bool {
    STEPS
        .first()
        .is_some_and(|(first, _)| !is_beyond(usage, *first))
}

/// Returns how many bytes may wait for a commit.
pub(super) fn waiting_bytes(usage: &Usage) -> u64 {
    (free(usage) / WAITING_PART).max(WAITING_BYTES)
}

/// Returns whether an object of `bytes` bytes is too large for the free room.
pub(super) fn is_too_large(usage: &Usage, bytes: u64) -> bool {
    bytes > (free(usage) / OBJECT_PART).max(WAITING_BYTES)
}

const fn free(usage: &Usage) -> u64 {
    usage.reach_bytes.saturating_sub(usage.used_bytes)
}

/// The memory of the program without objects, in bytes: code, threads, connections, the pages of
/// the database, one body in transit, and fragmentation of the allocator.
const RESERVE_BYTES: u64 = 96_000_000;

/// The parts of a limit for queued entries, and of the object memory for bodies.
const QUEUE_PART: u64 = 8;
const BODY_PART: u64 = 4;

/// The memory of a live object in a watcher, besides its name, in bytes.
const WATCHED_BYTES: u64 = 160;

/// Returns the bytes that queued entries may use, at most `usual`.
pub(crate) fn queue_bytes(max_memory: Option<u64>, usual: usize) -> usize {
    let part = max_memory.map_or(u64::MAX, |max| max / QUEUE_PART);
    usize::try_from(part).map_or(usual, |part| part.min(usual))
}

/// Returns the bytes that all kept data of objects may use.
pub(crate) fn object_bytes(max_memory: u64) -> u64 {
    let queue = max_memory / QUEUE_PART;
    let rest = max_memory.saturating_sub(RESERVE_BYTES.saturating_add(queue));
    rest.max(max_memory / 8)
}

/// The bytes of last bodies, compressed, that stay in memory whatever its limit: those of some 50,000 objects of 10 kB.
const BODY_BYTES: u64 = 96_000_000;

/// Returns the bytes that bodies may use before they move to a file.
pub(crate) fn body_bytes(max_memory: Option<u64>) -> u64 {
    max_memory.map_or(BODY_BYTES, |max| {
        (object_bytes(max) / BODY_PART).min(BODY_BYTES)
    })
}

/// The memory of each resource's objects, and the limit of all.
#[derive(Debug, Default)]
pub(super) struct MemoryPlan {
    /// Unlimited if there is no limit.
    max_bytes: Option<u64>,
    used: BTreeMap<ResourceId, u64>,
}

impl MemoryPlan {
    /// Creates one for a limit of the whole program.
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        Self {
            max_bytes: max_memory.map(object_bytes),
            used: BTreeMap::new(),
        }
    }

    /// Takes over the counts of the appender.
    pub(super) fn set(&mut self, memory: &[ObjectMemory]) {
        self.used = memory
            .iter()
            .map(|memory| {
                let watched = memory
                    .live
                    .saturating_mul(WATCHED_BYTES)
                    .saturating_add(memory.name_bytes);
                (memory.resource, memory.bytes.saturating_add(watched))
            })
            .collect();
    }

    /// Takes out the recorded resource whose objects use most memory, if all together exceed the
    /// limit.
    pub(super) fn due(&mut self, is_recorded: impl Fn(ResourceId) -> bool) -> Option<ResourceId> {
        if self.used_bytes() <= self.max_bytes? {
            return None;
        }
        let recorded = self.used.iter().filter(|(id, _)| is_recorded(**id));
        let (largest, _) = recorded.max_by_key(|(_, bytes)| **bytes)?;
        let largest = *largest;
        self.used.remove(&largest);
        Some(largest)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used.values().copied().fold(0, u64::saturating_add)
    }

    pub(super) const fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(resource: u32, live: u64, bytes: u64) -> ObjectMemory {
        ObjectMemory {
            resource: ResourceId(resource),
            live,
            name_bytes: live * 10,
            bytes,
        }
    }

    #[test]
    fn a_limit_is_divided_without_a_rest_that_nobody_counts() {
        for max in [128_000_000, 256_000_000, 1_000_000_000, 16_000_000_000] {
            let queue = u64::try_from(queue_bytes(Some(max), usize::MAX)).expect("64 bits");
            assert!(body_bytes(Some(max)) < object_bytes(max));
            assert!(body_bytes(Some(max)) <= body_bytes(None));
            assert!(
                object_bytes(max) + queue <= max / 4
                    || object_bytes(max) + queue + RESERVE_BYTES <= max
            );
        }
        assert_eq!(queue_bytes(None, 40), 40);
        assert_eq!(queue_bytes(Some(80), 40), 10);
    }

    #[test]
    fn the_resource_with_most_memory_goes_first_and_only_while_there_is_too_little() {
        let mut plan = MemoryPlan::new(Some(1_000_000_000));
        let max = plan.max_bytes().expect("a limit");
        plan.set(&[
            memory(0, 10, 1_000),
            memory(1, 1_000, max),
            memory(2, 1, max / 2),
        ]);
        assert_eq!(plan.due(|_| true), Some(ResourceId(1)));
        assert_eq!(plan.due(|_| true), None);
        assert!(plan.used_bytes() < max);
        plan.set(&[memory(0, 10, max), memory(1, 1, max / 2), memory(2, 1, 5)]);
        assert_eq!(plan.due(|id| id != ResourceId(0)), Some(ResourceId(1)));
        assert_eq!(plan.due(|id| id == ResourceId(2)), Some(ResourceId(2)));
        assert_eq!(plan.due(|_| false), None, "nothing is left to leave out");
    }

    #[test]
    fn a_series_rotates_before_any_reel_leaves_something_out() {
        // The smallest limit can be reached to this share of it, others to more, and at most whole.
        const LEAST_REACH_PERCENT: u64 = 75;
        let (first, _) = STEPS[0];
        assert!(ROTATE_PERCENT * 100 < first * LEAST_REACH_PERCENT);
    }

    #[test]
    fn without_a_limit_nothing_is_due() {
        let mut plan = MemoryPlan::new(None);
        plan.set(&[memory(0, 1 << 40, u64::MAX)]);
        assert_eq!(plan.due(|_| true), None);
    }
}
