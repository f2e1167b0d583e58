//! The columns in which a custom resource prints, as its definition named them at the moment.

mod cell;
mod definition;
mod path;

pub use definition::Column;
