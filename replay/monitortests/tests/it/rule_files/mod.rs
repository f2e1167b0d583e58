//! Rule files as people write them: the examples of the reference, and every kind of mistake.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test whose surroundings fail has failed"
)]

mod builtin;
mod explain;
mod misfits;
mod mistakes;
mod reference;
mod schema;
