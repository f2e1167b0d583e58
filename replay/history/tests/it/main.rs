//! The questions, asked of reels that the tests write.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]

mod accounting;
mod as_of;
mod costs;
mod damaged;
mod following;
mod redacted;
mod script;
mod summary;
mod unobserved;
mod waiting;
mod walking;
