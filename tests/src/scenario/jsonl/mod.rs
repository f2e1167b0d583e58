//! The second player: writes a scenario as the watch events that a recorder would have seen.
//!
//! Owns an imitation of a cluster, small and exact enough that the lines look like a real one's: the
//! order of keys, who set which fields, one rising resourceVersion, Events that expire. Times are
//! virtual and true: nothing is shortened. The same seed writes the same bytes.
//! Refuses the network, the real clock and everything that a cluster does not tell by its objects.
//! What it keeps in memory is the objects that live.

mod defaults;
mod deployment;
mod kubelet;
mod owned;
mod player;
mod pod;
mod service;
mod shape;
mod store;
#[cfg(test)]
mod tests;

pub use player::{WriteError, Writing, Written};
