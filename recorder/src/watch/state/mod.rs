//! Owns every decision about one resource: what to ask next, what of an answer to keep, when a gap
//! has opened and what it spans. Refuses sockets, clocks and tasks: what happened comes in with its
//! time, what is to be done comes out.
//!
//! Invariants:
//! * The position is the end of an unbroken chain: a complete list, then every event after it.
//!   It never moves while a list is under way.
//! * A list that does not continue from the position is followed by a gap record.
//! * Nothing received is dropped, except a version of an object that is already recorded.
//! * Of two connections each begins at or before the position.

mod backoff;
mod output;
mod stream;

pub(crate) use output::{Differing, Output, Review, Step};
pub(crate) use stream::{
    Handover, LONG_SECS, Memory, Origin, Page, Position, ReadBefore, Refusal, SETTLE_MICROS,
    Stream, Traits,
};
