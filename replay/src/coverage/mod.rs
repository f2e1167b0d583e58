//! What a reel covers of each resource, and how far an answer about a moment can be trusted.

mod certainty;
mod chain;

pub use certainty::Certainty;
pub use chain::{Blind, Coverage, CoveredFrom, Hole, ImportedFrom};
