//! One object's body: the few fields that questions need, and the forms in which kubectl prints it.

mod form;
mod json;
mod list;
mod meta;
pub(crate) mod number;
mod yaml;
mod yaml_lines;

pub use form::{Form, name_of};
pub(crate) use json::compact;
pub use json::write_json;
pub use list::{ListForm, ListWriter};
pub use meta::Meta;
pub use yaml::write_yaml;
pub use yaml_lines::{YamlLine, yaml_lines};
