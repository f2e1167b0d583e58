//! The state of a running recorder: counters, how far each resource is recorded, and a summary of
//! the run's notes. Other modules make the pages and files that show it.

mod account;
mod counters;
mod interruption;
mod reach;

pub(crate) use account::RunAccount;
pub use counters::RecorderStatus;
pub(crate) use counters::{Health, RecordingProgress, ResourceCoverage};

#[cfg(test)]
pub(crate) use {counters::ResourceProgress, reach::ResourceReach};
