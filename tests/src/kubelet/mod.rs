//! A fake kubelet: it owns Nodes, and drives the Pods bound to them as a kubelet would report it.
//!
//! Node objects and their Leases, Pod statuses, kubelet Events and the end of deleted Pods. It does
//! not run anything: no container exists, and what a Pod meets is scripted by a [`Fate`]. What to
//! write is decided by pure parts (`life`, `pod_view`, `node`); `pod_task` and `fleet` only write
//! it.
#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

mod fleet;
mod life;
pub(crate) mod node;
mod pod_task;
mod pod_view;

pub use fleet::{Kubelets, Reboot};
pub use life::{Fate, PodMatcher};
pub use node::{NodeRole, NodeSpec};
