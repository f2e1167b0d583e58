//! The only place that knows the terminal, threads, time and panics.

mod clipboard;
mod error;
mod keys;
mod looping;
mod reader;
mod searcher;
mod terminal;

pub use error::TuiError;
pub use looping::run;
