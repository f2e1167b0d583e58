//! The only place that knows the terminal, threads, time and panics.

mod cache;
mod clipboard;
mod error;
mod executable;
#[doc(hidden)]
pub mod headless;
mod heard;
mod judge;
mod keeper;
mod keys;
mod looping;
mod mailbox;
mod panics;
mod priority;
mod program;
mod reader;
mod saving;
mod searcher;
mod terminal;

pub use error::TuiError;
pub use executable::Executable;
pub use program::run;
#[cfg(test)]
pub(crate) use saving::save;
