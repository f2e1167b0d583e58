//! Predicates: the only room that calls the CEL library.
//!
//! The library reads expressions and lends its functions. Evaluation is our own, straight over the
//! JSON of the reel: the library's evaluator makes `false` of a field of a number, has no bound on
//! steps, and copies every object that it looks at.

mod compile;
mod eval;
mod library;
mod names;
mod node;
mod own;
mod reads;
mod scan;
#[cfg(test)]
mod tests;
mod time;
mod value;

pub(crate) use compile::{CompileError, Compiler, Program, regex};
pub(crate) use eval::{Fault, Slots};
pub(crate) use names::{is_name, nearest};
pub(crate) use own::matches_selector;
pub(crate) use reads::Reads;
pub(crate) use value::{Val, View};
