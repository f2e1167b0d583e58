//! The protocol state machine of one resource: which request comes next, what of a response is
//! stored, when a gap opens and what it spans. It is pure: it has no sockets, clocks or tasks.
//! Events come in with their times, and requests and entries come out.
//!
//! Invariants:
//! * The position is the end of an unbroken chain: a complete list, then every event after it. It
//!   never moves while a list is being read, and never backwards on a watch. The API server
//!   guarantees the rest: after a list at version L, a watch from L delivers every change in order,
//!   or fails with 410.
//! * A list that does not continue from the position is followed by a gap record.
//! * Every received version of an object is written, except one that is already recorded.
//! * There is always a next request: no refusal, silence or lost history ends the machine.
//! * A lost history (410) is requested again on new connections before a gap is declared: another
//!   server behind the address may still have it.
//! * Bookmarks and events prove the chain up to their version. An order that the versions do not
//!   show is not assumed, and is recorded as an anomaly.
//! * Each of two connections begins at or before the position and delivers everything after its
//!   begin in order. The events of either are therefore one unbroken chain, and the position may
//!   follow the one that is ahead. The end of a connection loses nothing: the other one, or the
//!   next watch from the position, delivers the rest. An event that arrives twice is recognized by
//!   uid, version and whether it is a deletion, and written once.
//! * There is no second connection where versions are not numbers or while a list is read:
//!   duplicates could not be recognized.

mod backoff;
mod machine;
mod output;

pub(crate) use machine::{
    LONG_SECS, ListPage, ReadBefore, ResumeState, SETTLE_MICROS, ServerRefusal, ServerTraits,
    SuccessorVerdict, WatchOrigin, WatchPosition, WatchState,
};
pub(crate) use output::{GapDifference, GapReview, WatchOutput, WatchStep};
