//! The rule language: files of YAML with predicates in CEL, read and checked with errors that point at
//! line and column.

mod check;
mod mistake;
mod model;
mod read;
mod scope;
mod set;
mod source;
mod span;
mod template;
mod written;
mod yaml;

pub use mistake::{RuleErrors, RuleMistake};
pub use set::RuleSet;
