//! Owns the order of the steps and when each is due. Refuses to know what is recorded.

use kubereel_format::Usage;

/// One step: less is recorded from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// No Leases.
    Leases,
    /// No Events.
    Events,
    /// Not what writes most, cluster-level truth aside.
    Largest,
    /// Nothing but cluster-level truth.
    AllButTruth,
    /// No pods.
    Pods,
    /// No nodes.
    Nodes,
    /// No cluster operators.
    Operators,
    /// No cluster version.
    Version,
    /// Only what the recorder has to say of the recording.
    Notes,
    /// Only how the recording ended.
    End,
}

/// At which share of the reachable size, in percent, each step is taken. A file is full at some 90
/// percent of it: free space lies scattered.
pub(super) const STEPS: [(u64, Step); 13] = [
    (50, Step::Leases),
    (60, Step::Events),
    (68, Step::Largest),
    (70, Step::Largest),
    (72, Step::Largest),
    (74, Step::Largest),
    (76, Step::AllButTruth),
    (78, Step::Pods),
    (79, Step::Nodes),
    (80, Step::Operators),
    (81, Step::Version),
    (82, Step::Notes),
    (86, Step::End),
];

/// The share, in percent, at which a series of reels goes on with the next: early enough for that to be
/// complete before the first step.
pub(crate) const ROTATE_PERCENT: u64 = 40;

/// The part of the free room that may wait for a commit, and that a single object may take.
const WAITING_PART: u64 = 8;
const OBJECT_PART: u64 = 2;

/// So much may always wait for a commit, in bytes.
const WAITING_BYTES: u64 = 64 * 1024;

/// Where in the order a recording stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan {
    taken: usize,
}

impl Plan {
    /// Takes the next step if it is due.
    pub(super) fn due(&mut self, usage: &Usage) -> Option<Step> {
        let (percent, step) = *STEPS.get(self.taken)?;
        if !is_beyond(usage, percent) {
            return None;
        }
        self.taken += 1;
        Some(step)
    }

    /// Takes every step up to one, due or not: the file would take no more.
    pub(super) fn skip_to(&mut self, wanted: Step) -> Vec<Step> {
        let rest = STEPS.get(self.taken..).unwrap_or_default();
        let steps: Vec<Step> = rest
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

/// Gives how much of the reachable size is used, in percent.
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

/// Tells whether a reel has no room for another recording, whatever that leaves out.
pub(crate) fn is_used_up(usage: &Usage) -> bool {
    STEPS.last().is_some_and(|(end, _)| is_beyond(usage, *end))
}

/// Tells whether a reel is so empty that what an earlier recording left out is recorded again.
pub(super) fn is_roomy(usage: &Usage) -> bool {
    STEPS
        .first()
        .is_some_and(|(first, _)| !is_beyond(usage, *first))
}

/// Gives how many bytes may wait for a commit.
pub(super) fn waiting_bytes(usage: &Usage) -> u64 {
    (free(usage) / WAITING_PART).max(WAITING_BYTES)
}

/// Tells whether an object of so many bytes is too large for what is left.
pub(super) fn is_too_large(usage: &Usage, bytes: u64) -> bool {
    bytes > (free(usage) / OBJECT_PART).max(WAITING_BYTES)
}

const fn free(usage: &Usage) -> u64 {
    usage.reach_bytes.saturating_sub(usage.used_bytes)
}
