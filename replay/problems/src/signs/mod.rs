//! What versions of objects say is wrong, a function for each family of kinds.

mod condition;
mod kinds;
mod pod;
mod resource;
mod state;
mod stated;
mod workload;

pub use kinds::is_judged_by_conditions;
pub(crate) use kinds::{Reading, is_over, leaves_status_out, lost, passed, paths, read};
pub(crate) use pod::is_killed_by_signal;
pub(crate) use resource::FULL;
pub(crate) use state::is_loss;
pub(crate) use workload::lacks_more_than_update;
