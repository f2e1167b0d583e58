//! What is in a reel, in numbers: the whole, each resource, what is missing.
//!
//! The structs are the documented schema of `info -o json`: names are stable, times are RFC 3339,
//! durations are in seconds.

mod cluster;
mod counters;
mod discovery;
mod outside;
mod resource;
mod whole;
mod written;

pub(crate) use written::{rfc3339, rfc3339_or_none};

pub use cluster::ClusterSummary;
pub use counters::CounterMoveSummary;
pub use outside::{LabelSummary, MarkSummary};
pub use resource::{CoveredSummary, GapSummary, ResourceSummary};
pub use whole::{
    DamageSummary, EventCounts, NotCoveredSummary, ObjectCounts, OutageSummary, Parts,
    SessionSummary, Summary,
};
