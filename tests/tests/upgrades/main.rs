//! Upgrades that others recorded or gathered are told as those say that they went.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unwrap_in_result,
    reason = "what helps a test may fail it"
)]

mod expected;
mod facts;
mod oc_status;
#[path = "../recordings/recording.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of recordings, which use all of it"
)]
mod recording;
#[path = "../recordings/timeline.rs"]
mod timeline;
mod told;
