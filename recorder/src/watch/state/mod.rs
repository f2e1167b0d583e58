//! The protocol state machine of one resource: which request comes next, what of a response is
//! stored, when a gap opens and what it spans. It is pure: it has no sockets, clocks or tasks.
//! Events come in with their times, and requests and entries come out.
//!
//! `machine` has the transitions. What has invariants of its own is a type beside it: the `chain`
//! and its end, the two `connections`, the `listing`, the `review` of the list after a gap, lost
//! histories (`expiry`), `unreadable` lines, delays (`backoff`) and refusals (`availability`).
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
//! * There is no second connection while a list is read.

mod availability;
mod backoff;
mod chain;
mod connections;
mod expiry;
mod listing;
mod machine;
mod output;
mod review;
mod unreadable;

pub(crate) use availability::ServerRefusal;
pub(crate) use chain::WatchPosition;
pub(crate) use connections::{LONG_SECS, SETTLE_MICROS, SuccessorVerdict};
pub(crate) use listing::ListPage;
pub(crate) use machine::{ReadBefore, ResumeState, ServerTraits, WatchOrigin, WatchState};
pub(crate) use output::{WatchOutput, WatchStep};
pub(crate) use review::{GapDifference, GapReview};
