//! What changed between two versions of an object, field by field, and which fields are asked for.

mod change;
mod compare;
mod descend;
mod field;
mod keys;
mod matching;
mod path;
mod scope;
mod words;

#[cfg(test)]
mod tests;

pub use change::{Change, ChangeKind, Leaves};
pub use field::{Field, FieldError};
pub use path::{KeyPart, Path, Step};
pub use scope::Scope;
pub use words::{Segment, SegmentKind, words};

pub(crate) use change::count;
pub(crate) use compare::is_same_scalar;
pub(crate) use matching::matched;
