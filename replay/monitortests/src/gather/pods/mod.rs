//! The instants of pods and their containers, and what each pod looked like when it was last seen.

mod changes;
mod containers;
mod last;
mod shared_ips;
mod watch;

pub(crate) use last::{LastPod, PodName};
pub(crate) use watch::PodsWatcher;
