//! The search for secrets, in objects and in texts. One module, as each contains the other: a string of an object
//! is a text, and a text may be an object.

mod json;
pub(crate) mod object;
pub(crate) mod text;
