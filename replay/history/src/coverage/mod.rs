//! What a reel covers of each resource, what it missed, and how far an answer about a moment can be trusted.

mod certainty;
mod chain;
mod damaged;
mod gap;
mod lost;
mod unobserved;
mod unparsed;

pub use certainty::Certainty;
pub use chain::{Coverage, CoveredFrom, ImportedFrom};
pub use damaged::DamagedSpan;
pub use gap::{GapJudgement, GapOutcome, RecordedGap};
pub use lost::LostChange;
pub use unobserved::{UnobservedEffect, UnobservedReason, UnobservedSpan};

pub(crate) use unobserved::first_complete;
