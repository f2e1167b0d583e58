//! Searches objects and texts for secrets. It is one module, because each contains the other: a
//! string of an object is a text, and a text may be an object.

mod flag;
pub(crate) mod json;
pub(crate) mod known_parts;
pub(crate) mod object;
pub(crate) mod text;
