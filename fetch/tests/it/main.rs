//! Downloads from a server on the loopback interface.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]

mod downloads;
mod object_store;
