//! A reel returns what was written: whole, resumed, left by a kill, and in any order of reading.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what helps a test may fail it"
)]

mod damage;
mod digest;
mod golden;
mod kept;
mod life;
mod seal;
mod snapshot;
