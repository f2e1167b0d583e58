//! The recorder as users run it, and its reels held against what a scripted cluster committed.
//!
//! Owns the recorder's process and the accounting. Refuses to know how the recorder works inside.

mod account;
mod arrival;
mod kept;
mod observing;
mod page;
mod program;
mod run;
mod settle;

pub use account::Account;
pub use arrival::{Awaited, accounted, arrived};
pub(crate) use kept::recorded_as;
pub use observing::{Observed, Observing};
pub use page::Page;
pub use program::program;
pub use run::{Ended, Recording};
pub use settle::settle;
