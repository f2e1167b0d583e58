//! The size and memory budgets: what is no longer recorded when the reel comes near its size limit,
//! in which order, and how the reel notes it. The file itself enforces the limit.
//!
//! The order: Leases; Events; four times the resource that writes most, except cluster-level
//! resources; everything but those; pods; nodes; cluster operators; the cluster version; then
//! everything but notes about the recording; and in the end everything but how it ended. Each step
//! is a note of its own.
//!
//! The memory budget uses the same gate: it leaves out the resource whose objects use most memory.

mod cgroup;
mod gate;
mod plan;

pub use cgroup::default_max_memory;
pub(crate) use gate::{Admission, Exclusions, Gate, RecordingLimits};
pub(crate) use plan::{ROTATE_PERCENT, body_bytes, is_used_up, queue_bytes};

#[cfg(test)]
mod tests;
