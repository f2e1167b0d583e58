//! The rule language: files of YAML with predicates in CEL, read and checked with errors that point at
//! line and column.

mod check;
mod explain;
mod mistake;
mod model;
mod read;
mod scope;
mod seen;
mod set;
mod source;
mod span;
mod template;
mod written;
mod yaml;

pub use mistake::{RuleErrors, RuleMistake};
pub use set::RuleSet;

pub(crate) use explain::explained;
pub(crate) use model::{
    Check, Choice, Component, Each, Expected, Found, Objects, Related, ResourceName, Rule,
    Unlisted, Watch,
};
pub(crate) use scope::place;
pub(crate) use seen::seen_for;
pub(crate) use span::Micros;
pub(crate) use template::{Part as TemplatePart, Template};
