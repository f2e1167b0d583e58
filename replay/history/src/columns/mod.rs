//! The columns of objects, as kubectl prints them from a live server.
//!
//! The columns of a custom resource are those of its definition at the moment; those of the most
//! important built-in kinds are defined here; all others have name and age.

mod builtin;
mod cell;
mod part;
mod platform;
mod table;
mod template;

pub use builtin::{PodStatus, node_roles};
pub(crate) use builtin::{access_modes, class_of, desired, roles, selector_text};
pub(crate) use part::{NONE, ObjectPart, time_between};
pub(crate) use table::labels_text;
pub use table::{ColumnRoom, LabelColumns, ResourceColumns};
pub use template::{
    CustomColumns, JsonPathTemplate, SortField, SortKey, TemplateError, sort_by_keys,
};
