//! The times in which pods and containers were in a state.

mod bounds;
mod pending;
mod pod;
mod states;

pub(crate) use pending::pending;
use pod::{CONSTRUCTED, locator, pod_of};
pub(crate) use states::states;
