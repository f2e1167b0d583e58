//! The body of one object: the fields that queries need, and the formats in which kubectl prints
//! it.

mod form;
mod json;
mod list;
pub(crate) mod number;
mod yaml;
mod yaml_scalar;

pub use form::{ObjectForm, ObjectMeta, name_of};
pub(crate) use json::{compact, in_go};
pub use json::{write_json, write_json_line};
pub use list::{ListForm, ListWriter};
pub use yaml::{YamlLine, write_folded_yaml, write_yaml, yaml_lines};
