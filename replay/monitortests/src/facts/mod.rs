//! What cluster it was: facts that rules ask for, as of a moment.

mod history;
mod known;
mod over_time;
mod spans;
mod suite;
mod watch;

pub use known::{Facts, UpgradeWindow};
pub(crate) use known::{NETWORKS, PLATFORMS, TOPOLOGIES, short_words};
pub use over_time::FactsOverTime;
pub(crate) use suite::SuiteUpgrades;
pub(crate) use watch::FactsWatcher;
