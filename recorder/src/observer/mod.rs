//! A recorder that a CI job starts beside its cluster. It finds its inputs and outputs itself, ends
//! inside a grace period, never fails the job, and writes files for other programs: the reel and
//! its digest, JUnit about the recording, `metadata.json`, a summary.

mod case;
mod observe;
mod output;
mod report;

pub use observe::{LABELS, Observation, ObserverOutcome, job_labels, observe};
pub use report::CompletenessSummary;
