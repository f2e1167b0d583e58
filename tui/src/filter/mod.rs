//! The filter: one grammar for the prompt and for `--filter`, read once and asked often.

mod error;
mod field;
mod parse;
mod query;
mod words;

pub use error::FilterError;
pub use parse::check_filter;
pub(crate) use query::{Query, Seen};
