//! What the revisions of the cluster's storage prove: when a change was committed, how many changes
//! there were, and that nothing was lost.
//!
//! One write is one revision, and an etcd counts them without a hole. So a revision at which no event
//! was recorded is either of a key that no API shows or of a missed change; from outside it cannot be
//! known which, and nothing here guesses.

mod probes;
mod sequence;
mod whole;

pub use probes::{AccountExclusion, CommitBounds, SequenceMember};
pub use sequence::RevisionSequence;
pub use whole::{AccountError, MAX_RANGES, RevisionAccount, UnexplainedRange};
