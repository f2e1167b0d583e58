//! A run of monitortests over one recording, from the reel to a verdict for each case.

mod dark;
mod in_progress;
mod report;
mod selection;

pub use in_progress::{Asked, run_reel};
pub use report::{RunReport, RunTrust};
pub use selection::Selection;
