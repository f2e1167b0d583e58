//! The protocol state machine of one resource: what to ask next, what of an answer to keep, when a gap has
//! opened and what it spans. It is pure: no sockets, clocks or tasks. What happened comes in with its time,
//! what is to be done comes out.
//!
//! Invariants:
//! * The position is the end of an unbroken chain: a complete list, then every event after it. It never
//!   moves while a list is under way, and never backwards on a watch.
//! * A list that does not continue from the position is followed by a gap record.
//! * Nothing received is dropped, except a version of an object that is already recorded.
//! * There is always a next request: no refusal, silence or lost history ends the machine.
//! * A lost history (410) is requested again on new connections before a gap is declared: another server
//!   behind the address may still have it.
//! * Bookmarks and events prove the chain up to their version; an order that the versions do not show is not
//!   assumed, and is recorded as an anomaly.
//! * Of two connections each begins at or before the position and brings everything behind its begin in
//!   order. So what either has brought is one unbroken chain, and the position may follow whichever is ahead.
//!   A connection that ends loses nothing: the other one, or the next watch from the position, brings the
//!   rest. An event that comes twice is recognised by uid, version and whether it is a deletion, and written
//!   once.
//! * There is no second connection where versions are not numbers or a list is under way: repeated events
//!   could not be recognised.

mod backoff;
mod machine;
mod output;

pub(crate) use machine::{
    LONG_SECS, ListPage, ReadBefore, ResumeState, SETTLE_MICROS, ServerRefusal, ServerTraits,
    SuccessorVerdict, WatchOrigin, WatchPosition, WatchState,
};
pub(crate) use output::{GapDifference, GapReview, WatchOutput, WatchStep};
