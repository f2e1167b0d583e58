//! What the revisions of the cluster's storage prove: when a change was committed, how many changes
//! there were, and that none was lost.
//!
//! One write is one revision, and an etcd counts revisions without a hole. A revision without a
//! recorded event therefore belongs to a key that no API serves, or to a missed change. The two
//! cannot be distinguished from outside, and nothing here estimates.

mod probes;
mod sequence;
mod whole;

pub use probes::{AccountExclusion, CommitBounds, SequenceMember};
pub use sequence::RevisionSequence;
pub use whole::{AccountError, MAX_RANGES, RevisionAccount, UnexplainedRange};
