//! What the recorder says of itself while it runs: counters, how far each resource has come, and what
//! the run's notes add up to. The pages and files that show it are made elsewhere.

mod account;
mod counters;
mod interruption;
mod reach;

pub(crate) use account::{AccountGap, RunAccount};
pub use counters::RecorderStatus;
pub(crate) use counters::{Health, RecordingProgress, ResourceCoverage};

#[cfg(test)]
pub(crate) use {counters::ResourceProgress, reach::ResourceReach};
