//! What `kubereel verify` says: is every byte of a reel as it was written, and is every change of the
//! cluster in it.
//!
//! The structs are the documented schema of `verify -o json`: names are stable, times are RFC 3339,
//! durations are in seconds. Completeness is claimed only where the recording proves it.

mod accounted;
mod integrity;
mod resource;
mod whole;

pub use accounted::{AccountSummary, LeftOutSummary, RangeSummary};
pub use integrity::Integrity;
pub use resource::{ResourceProof, ResourceState, UnseenSummary};
pub use whole::{OutageSum, Proof, Verdict};
