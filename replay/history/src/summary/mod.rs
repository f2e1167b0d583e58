//! The content of a reel in numbers: the whole, each resource, and what is missing.
//!
//! The structs are the documented schema of `info -o json`: names are stable, times are RFC 3339,
//! durations are in seconds.

mod account;
mod reel;
mod resource;

pub(crate) use reel::{not_covered_summaries, note_texts, outage_summaries};

pub use account::{AccountSummary, LeftOutSummary, RangeSummary};
pub use reel::{
    ClusterSummary, DamageSummary, EventCounts, FileParts, KubeconfigSummary, LabelSummary,
    MarkSummary, NotCoveredSummary, ObjectCounts, OutageSummary, PauseSummary, ReelSummary,
    SessionSummary,
};
pub use resource::{CoveredSummary, GapSummary, ResourceSummary, UnseenSummary};
