//! Who wrote a version: what `metadata.managedFields` say, read between two versions.

mod authors;
mod managed;
mod owned;

pub use authors::Authors;
pub use managed::Writer;

pub(crate) use authors::between;
pub(crate) use managed::{Managed, at_creation};
pub(crate) use owned::Owned;
