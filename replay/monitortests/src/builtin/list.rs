//! Owns the list of the built-in monitortests, a line for each group. Refuses their definitions.

use super::native::{events, objects, own};
use crate::verdict::MonitorTest;

/// Gives every built-in monitortest, new, in the order in which reports show them.
pub fn builtin() -> Vec<Box<dyn MonitorTest>> {
    let groups = [objects(), events(), own()];
    groups.into_iter().flatten().collect()
}
