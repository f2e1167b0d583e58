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
mod listing;
mod live;
mod output;
mod review;
mod stream;
mod successor;
mod trouble;

pub(crate) use backoff::Backoff;
pub(crate) use listing::Page;
pub(crate) use output::{Output, Step};
pub(crate) use review::{Differing, Review};
pub(crate) use stream::LONG_SECS;
use stream::{Goal, SHORT_WATCHES};
pub(crate) use stream::{Memory, Origin, Position, ReadBefore, Stream, Traits};
pub(crate) use successor::{Handover, SETTLE_MICROS};
pub(crate) use trouble::Refusal;
