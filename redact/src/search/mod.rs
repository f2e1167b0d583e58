//! Searches objects and texts for secrets. It is one module, because each contains the other: a
//! string of an object is a text, and a text may be an object.

mod announcement;
mod command_line;
pub(crate) mod field_rules;
mod flag;
pub(crate) mod json;
pub(crate) mod known_parts;
mod managed_fields;
pub(crate) mod object;
mod paired_fields;
pub(crate) mod scope;
pub(crate) mod text;
