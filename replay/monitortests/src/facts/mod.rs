//! What cluster it was: facts that rules ask for, as of a moment.

mod known;
mod over_time;

pub use known::{Facts, UpgradeWindow};
pub use over_time::FactsOverTime;
