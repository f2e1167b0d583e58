//! A run of monitortests over one recording, from the reel to a verdict for each case.

mod dark;
mod from_intervals;
mod in_progress;
mod report;
mod selection;

pub use from_intervals::run_intervals;
pub use in_progress::{Asked, run_reel, run_reel_while, run_reel_with_intervals};
pub use report::{RunReport, RunTrust, Work};
pub use selection::Selection;
