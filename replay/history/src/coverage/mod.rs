//! What a reel covers of each resource, and how far an answer about a moment can be trusted.

mod bounded;
mod certainty;
mod chain;
mod judged;
mod lost;
mod unobserved;
mod unparsed;

pub use certainty::Certainty;
pub use chain::{Blind, Coverage, CoveredFrom, Hole, ImportedFrom};
pub use judged::Judged;
pub use lost::LostChange;
pub use unobserved::{UnobservedEffect, UnobservedReason, UnobservedSpan};
pub use unparsed::UnparsedSpan;
