//! Inputs of every form, imported and read back.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]

mod archives;
mod events;
mod journey;
mod lists;
mod moments;
