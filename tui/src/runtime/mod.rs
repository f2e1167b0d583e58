//! The only place that knows the terminal, threads, time and panics.

mod clipboard;
mod error;
#[doc(hidden)]
pub mod headless;
mod heard;
mod keeper;
mod keys;
mod looping;
mod mailbox;
mod program;
mod reader;
mod saving;
mod searcher;
mod terminal;

pub use error::TuiError;
pub use program::run;
#[cfg(test)]
pub(crate) use saving::save;
