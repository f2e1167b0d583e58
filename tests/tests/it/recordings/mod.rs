//! Recordings, our own and real ones of other tools, go in and come out as they were.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_in_result,
    reason = "what helps a test may fail it"
)]

mod bytes;
mod live_set;
mod one_moment;
mod planted;
pub(crate) mod recording;
mod seen;
mod story;
mod transitions;
