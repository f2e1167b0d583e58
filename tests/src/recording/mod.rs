//! The recorder as users run it, and its reels compared with what a scripted cluster committed.
//!
//! The recorder's process and the accounting. It does not know how the recorder works inside.

mod account;
mod run;

pub(crate) use account::recorded_as;
pub use account::{Account, Awaited, accounted, arrived, settle};
pub use run::{Observed, Observing, Page, RecorderExit, Recording, program};
