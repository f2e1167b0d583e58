//! Problems and their causes, found in reels that the tests write.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test whose surroundings fail has failed"
)]

mod causes;
mod effects;
mod episodes;
mod life;
mod messages;
mod operators;
mod planned;
mod rollouts;
#[expect(dead_code, reason = "the tests of history use the rest")]
#[path = "../../../history/tests/it/script.rs"]
mod script;
mod signs;
mod small_changes;
mod workloads;
