//! The monitortests that come along: rules in YAML where the language can say what is meant, Rust where
//! it cannot, and one table of all rows of the OpenShift monitor that need only API objects and Events.

mod files;
mod list;
mod native;
mod row;
mod rows;

pub use files::builtin_rule_files;
pub use list::builtin;
pub use native::objects;
pub(crate) use native::subject_of;
pub use row::{Row, Way};
pub use rows::rows;
