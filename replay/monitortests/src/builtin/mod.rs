//! The built-in monitor tests: rules in YAML, tests in Rust for what the language cannot express, and the
//! table of the JUnit names of the OpenShift monitor that need only API objects and Events.

mod list;
mod native;
mod rows;

pub use list::{builtin, builtin_rule_files};
pub use rows::{UpstreamMethod, UpstreamRow, rows};
