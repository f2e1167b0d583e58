//! The recorder as users run it, and its reels held against what a scripted cluster committed.
//!
//! Owns the recorder's process and the accounting. Refuses to know how the recorder works inside.

mod account;
mod run;

pub(crate) use account::recorded_as;
pub use account::{Account, Awaited, accounted, arrived, settle};
pub use run::{Ended, Observed, Observing, Page, Recording, program};
