//! Raw intervals: what the watchers of one pass over a reel note, in the words of the OpenShift monitor.

pub(crate) mod conditions;
mod events;
mod generations;
mod kept;
mod leases;
mod ledger;
mod machines;
mod mode;
mod nodes;
mod operators;
mod pods;
mod pools;
pub(crate) mod recording;
mod version;

pub(crate) use events::Events;
pub(crate) use generations::Generations;
pub(crate) use kept::WantedIntervals;
pub(crate) use leases::{LEASE_DELETED, Leases};
pub(crate) use ledger::Draft;
pub(crate) use machines::Machines;
pub use mode::Mode;
pub(crate) use mode::moment;
pub(crate) use nodes::Nodes;
pub(crate) use operators::Operators;
pub(crate) use operators::instant as operator_instant;
pub(crate) use pods::PodsWatcher;
pub(crate) use pods::{LastPod, PodName};
pub(crate) use pools::Pools;
pub(crate) use version::VersionWatcher;
pub(crate) use version::instant as version_instant;
