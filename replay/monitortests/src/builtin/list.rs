//! Owns the list of the built-in monitortests, a line for each group. Refuses their definitions.

use super::files::builtin_rule_files;
use super::native::{events, objects, own};
use crate::rule::RuleSet;
use crate::verdict::MonitorTest;

/// Gives every built-in monitortest, new, in the order in which reports show them.
pub fn builtin() -> Vec<Box<dyn MonitorTest>> {
    let groups = [rules(), objects(), events(), own()];
    groups.into_iter().flatten().collect()
}

/// Gives the monitortests of the rule files. That those can be read is tested.
fn rules() -> Vec<Box<dyn MonitorTest>> {
    let rules = RuleSet::read(builtin_rule_files());
    rules.map(|rules| rules.tests()).unwrap_or_default()
}
