//! The tests of the crate from outside, as one binary: linking is what a build spends its time on.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test whose surroundings fail has failed"
)]

mod rule_files;
mod running;
mod verdicts;
