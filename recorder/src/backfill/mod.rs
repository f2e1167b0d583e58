//! Reads a gap back from the server's own history: lists at exact versions of the past, cheapest first,
//! within a budget, and the verdict on what they prove. Not for Events: they expire in bulk, many in one
//! revision, so that a missed expiry has no revision of its own by which it could be found.
//!
//! What is proven: every object that differs between the two ends of the gap was followed through all its
//! versions, and at every revision that none of these explains the whole list was read. An object that came
//! and went in between would have been created at such a revision, because a creation shares its revision
//! with nothing else, and the list at that revision would have shown it.

mod ask;
mod plan;

#[cfg(test)]
mod model_tests;

pub(crate) use ask::{Asker, BACKFILL_SECS};
pub(crate) use plan::{
    BackfillEvent, BackfillResult, BackfillTask, BackfillVerdict, GapEndState, GapSuspect,
    read_back,
};
