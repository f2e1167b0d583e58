//! An `OpenShift`-like cluster's life as data, and its players.
//!
//! A [`Scenario`] is a file; [`Scenario::plan`] expands it, purely and by its seed, into a [`Plan`]:
//! steps in virtual time, the planted faults and what must be true at the end. How steps are
//! played is another matter: [`ApiPlayer`] plays them on a real API.
//! `ClusterVersion` and `ClusterOperators` are written in the order and the words of the genuine
//! operator; everything else is our own.
#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

mod cluster_version;
mod file;
mod jsonl;
mod load;
mod moment;
mod monitored;
mod operator;
mod plan;
mod play;
mod story;
mod workload;

pub use file::Scenario;
pub use file::{large, small};
pub use jsonl::{WriteError, Writing, Written};
pub use load::LoadSteps;
pub use load::{Growth, Load};
pub(crate) use moment::Dice;
pub use moment::Moment;
pub use moment::ScenarioError;
pub use monitored::{Expected, Fault, Monitored, Verdict};
pub use plan::{Act, Gate, Leader, Step};
pub use plan::{Canary, Landmark, Outcome, Plan, PlantedFault};
pub use play::{ApiPlayer, ApiServers, Entry, Journal, PlayError, control_plane};
