//! Known failures: findings that do not fail a run, as data with a reason, a link and an end.

mod entry;
mod read;
mod release;
mod set;

pub(crate) use entry::Circumstances;
pub(crate) use entry::SubjectNames;
pub use entry::{Exception, ExceptionState, RunKind};
pub use read::ExceptionError;
pub use set::{ExceptionSet, Excuse, Uses};
