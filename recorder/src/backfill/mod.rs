//! Reads a gap back from the server's own history: lists at exact versions of the past, cheapest
//! first, within a budget, and the verdict on what they prove. Events are not read back: they
//! expire in bulk, many in one revision, so a missed expiry has no revision of its own by which it
//! could be found.
//!
//! The proof: every object that differs between the two ends of the gap was followed through all
//! its versions, and at every revision that none of these versions explains the whole list was
//! read. The creation of an object has a revision of its own. An object that was created and
//! deleted inside the gap was therefore created at such a revision, and the list at that revision
//! shows it.

mod ask;
mod plan;

#[cfg(test)]
mod model_tests;

pub(crate) use ask::{Asker, BACKFILL_SECS};
pub(crate) use plan::{
    BackfillEvent, BackfillResult, BackfillTask, BackfillVerdict, GapEndState, GapSuspect,
    read_back,
};
