//! The coverage of each resource: what a reel observed, what it missed, and the certainty of an
//! answer about a moment.

mod certainty;
mod chain;
mod damage;
mod damaged;
mod gap;
mod lost;
mod unobserved;
mod unparsed;

pub use certainty::Certainty;
pub use chain::{Coverage, CoveredFrom, ImportedFrom, RecorderEnd};
pub use damaged::DamagedSpan;
pub use gap::{GapJudgement, GapOutcome, RecordedGap};
pub use lost::LostChange;
pub use unobserved::{UnobservedEffect, UnobservedReason, UnobservedSpan};

pub(crate) use damage::{DamageBound, ReelDamage};
pub(crate) use unobserved::first_complete;
