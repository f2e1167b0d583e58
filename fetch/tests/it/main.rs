//! Downloads from a server on the loopback interface.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]
#![expect(clippy::panic, reason = "that is how a test fails")]

mod downloads;
mod object_store;
