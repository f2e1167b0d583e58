//! The rule language: YAML files with predicates in CEL, read and checked with errors that name line and
//! column.

mod checks;
mod compiler;
mod explain;
mod file;
mod mask;
mod model;
mod read;
mod set;
mod source;
mod text;

pub use set::RuleSet;
pub use source::{RuleErrors, RuleMistake};

pub(crate) use explain::explained;
pub(crate) use model::{
    CheckOperator, Component, DuplicateItems, Expectation, FACT_NAMES, INTERVAL_MEMBERS,
    IntervalSelector, ItemSource, ListedValues, MonitorRule, ObjectSelector, RelatedBy,
    RelatedObjects, ResourceName, RuleCheck, Template, TemplatePart, Unlisted, Watch, place,
    seen_for,
};
pub(crate) use text::RuleText;
