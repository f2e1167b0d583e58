//! The changes between two versions of an object, field by field, and the requested fields.

mod change;
mod compare;
mod field;
mod matching;
mod words;

#[cfg(test)]
mod tests;

pub use change::{Change, ChangeKind, FieldPath, FieldStep, KeyPart, Leaves};
pub use compare::ComparisonScope;
pub use field::{Field, FieldError};
pub use words::{SegmentKind, WordSegment, words};

pub(crate) use change::count;
pub(crate) use compare::is_same_scalar;
pub(crate) use matching::{keys_of, last_member, matched};
