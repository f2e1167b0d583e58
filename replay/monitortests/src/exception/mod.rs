//! What is known to go wrong: findings that do not fail a run, as data with a reason, a link and an end.

mod builtin;
mod circumstances;
mod entry;
mod error;
mod known;
mod limits;
mod propose;
mod read;
mod release;
mod set;
mod texts;

pub use circumstances::{Circumstances, RunKind};
pub use entry::{Exception, ExceptionState};
pub use error::ExceptionError;
pub use propose::proposed;
pub use set::{ExceptionSet, Uses};
