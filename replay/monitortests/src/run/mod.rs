//! A run of monitor tests over one recording, from the reel to a verdict for each case.

mod intervals;
mod reel;
mod report;

pub use intervals::run_intervals;
pub use reel::{RunOptions, run_reel, run_reel_while};
pub use report::{OmittedRule, RunReport, RunStats, RunTrust, Selection};
