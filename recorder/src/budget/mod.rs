//! The size budget: what is no longer recorded when the reel comes near its size limit, in which order, and
//! how the reel says so. The file itself enforces the limit.
//!
//! The order: Leases; Events; four times the resource that writes most, except cluster-level truth; all else
//! but that truth; pods; nodes; cluster operators; the cluster version; then nothing but what the recorder has
//! to say about the recording; and in the end only how it ended. Each step is a note of its own.
//!
//! The memory budget leaves out by the same gate: always the resource whose objects take most memory.

mod cgroup;
mod gate;
mod plan;

pub use cgroup::default_max_memory;
pub(crate) use gate::{Admission, Exclusions, Gate, RecordingLimits};
pub(crate) use plan::{ROTATE_PERCENT, body_bytes, is_used_up, queue_bytes};

#[cfg(test)]
mod tests;
