//! Intervals computed from intervals: instants become spans of a state.

mod lease_state;
mod machine_phase;
mod node_state;
mod operator_state;
pub(crate) mod pods;
mod pool_state;
mod run;
mod shutdown;
mod states;
mod static_pods;
mod version_state;

pub use run::computed_from;
pub(crate) use run::{SpanScope, is_computed_from, of_others, of_pods};
