//! The questions about a cluster, asked of reels that the tests write.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]

#[expect(dead_code, reason = "the tests of history use the rest")]
#[path = "../../../history/tests/it/script.rs"]
mod script;
mod upgrading;
