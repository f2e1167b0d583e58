//! The only code that knows the terminal, threads, time and panics.

mod cache;
mod event;
mod follow;
#[doc(hidden)]
pub mod headless;
mod judge;
mod looping;
mod output;
mod program;
mod reader;

pub use event::TuiError;
pub use judge::Executable;
#[cfg(test)]
pub(crate) use output::save;
pub use program::run;
