//! A recorder that a CI job starts beside its cluster: it finds its places by itself, ends inside a grace
//! period, never fails the job, and leaves files that others read: the reel and its digest, JUnit on the
//! recording itself, `metadata.json`, a summary.

mod case;
mod observe;
mod output;
mod report;

pub use observe::{LABELS, Observation, ObserverOutcome, job_labels, observe};
