//! Predicates: the only room that calls the CEL library.
//!
//! The library reads expressions and lends its functions. Evaluation is our own, straight over the
//! JSON of the reel: the library's evaluator makes `false` of a field of a number, has no bound on
//! steps, and copies every object that it looks at.

mod compile;
mod names;
mod node;
mod scan;

pub(crate) use compile::{CompileError, Compiler, Program, regex};
pub(crate) use names::{is_name, nearest};
