//! Raw intervals: what the watchers of one pass over a reel note, in the words of the OpenShift monitor.

pub(crate) mod conditions;
mod events;
mod generations;
mod instants;
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
pub(crate) use instants::{InstantRules, InstantWatcher};
pub(crate) use kept::WantedIntervals;
pub(crate) use leases::LEASE_DELETED;
pub(crate) use ledger::Draft;
pub use mode::Mode;
pub(crate) use mode::moment;
pub(crate) use operators::instant as operator_instant;
pub(crate) use pods::PodsWatcher;
pub(crate) use pods::{LastPod, PodName};
pub(crate) use version::instant as version_instant;
