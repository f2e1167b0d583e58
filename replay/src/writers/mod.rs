//! Who wrote a version: what `metadata.managedFields` say, read between two versions.

mod authors;
mod managed;

pub use authors::Authors;
pub use managed::Writer;

pub(crate) use authors::between;
pub(crate) use managed::at_creation;
