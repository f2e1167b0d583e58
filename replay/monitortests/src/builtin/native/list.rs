//! Owns the list of the monitortests in Rust that need objects alone. Refuses rules: those are read from
//! files.

use super::crd_storage::CrdStorage;
use super::node_upgrades::NodeUpgrades;
use super::slow_operators::{SlowMessages, SlowOperators};
use crate::verdict::MonitorTest;

/// Gives the monitortests in Rust that need objects alone.
pub fn objects() -> Vec<Box<dyn MonitorTest>> {
    vec![
        Box::new(SlowMessages::default()),
        Box::new(SlowOperators::default()),
        Box::new(NodeUpgrades::default()),
        Box::new(CrdStorage::default()),
    ]
}
