//! What the revisions of the cluster's storage prove: when a change was committed, how many changes
//! there were, and that nothing was lost.
//!
//! One write is one revision, and an etcd counts them without a hole. So a revision at which no event
//! was recorded is either of a key that no API shows or of a missed change; nobody can tell which from
//! outside, and nothing here guesses.

mod fit;
mod probes;
mod revisions;
mod sequence;
mod whole;

pub use fit::{LeftOut, Member};
pub use probes::CommitBounds;
pub use sequence::Sequence;
pub use whole::{Account, AccountError, MAX_RANGES, UnexplainedRange};
