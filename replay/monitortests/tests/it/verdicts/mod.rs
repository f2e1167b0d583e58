//! Monitortests, asked of reels that the tests write.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test whose surroundings fail has failed"
)]

mod events;
mod excepted;
mod fixture;
mod gathered;
mod intervals;
mod judged;
mod object_rows;
mod objects;
mod own;
mod reel;
mod rules;
mod seen;
mod table;
