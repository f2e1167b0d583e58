//! The one table of keys: help, footer, manual and the test for conflicts come from it.

mod always;
mod binding;
mod choice;
#[cfg(test)]
mod conflicts;
mod list;
mod lookup;
mod marks;
mod object;
mod problems;
mod text;
mod time;

pub(crate) use binding::{Key, Where};
pub use lookup::keys_help;
pub(crate) use lookup::{act, bindings, grouped, has_meaning};
