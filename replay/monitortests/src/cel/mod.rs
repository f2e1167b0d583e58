//! CEL predicates. Only this module calls the CEL library.
//!
//! The library parses expressions and provides functions. Evaluation is our own, straight over the JSON
//! of the reel: the library's evaluator makes `false` of a field of a number, has no bound on steps, and
//! copies every object that it looks at.

mod compile;
mod eval;
mod functions;
mod library;
mod node;
mod reads;
#[cfg(test)]
mod tests;
mod unchanged;
mod value;
mod words;

pub(crate) use compile::{CompileError, Compiler, Program, regex};
pub(crate) use eval::{EvalError, Slots};
pub(crate) use functions::{is_name, matches_selector, nearest};
pub(crate) use reads::Reads;
pub(crate) use unchanged::ChangeVariables;
pub(crate) use value::{Val, View};
