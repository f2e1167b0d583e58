//! The one table of keys: help, footer, manual and the test for conflicts come from it.

mod binding;
mod table;

pub use binding::keys_help;
pub(crate) use binding::{KeyContext, KeyPress, act, bindings, grouped, has_meaning};
