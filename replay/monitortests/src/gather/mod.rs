//! Raw intervals: what the watchers of one pass over a reel note, in the words of the OpenShift monitor.

mod conditions;
mod events;
mod gathering;
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
mod recording;
mod version;

pub use gathering::{Gathered, Gathering};
pub(crate) use kept::Kept;
pub(crate) use ledger::Draft;
pub use mode::Mode;
pub(crate) use mode::moment;
pub(crate) use operators::instant as operator_instant;
pub(crate) use pods::{LastPod, PodName};
pub(crate) use version::instant as version_instant;
