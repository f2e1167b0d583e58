//! The built-in rule files and monitor tests.

use super::native::{crd_storage, ha, images, node_upgrades, recording, repeats, sandboxes};
use super::native::{slow_operators, static_pods, version_pods};
use crate::rule::RuleSet;
use crate::verdict::MonitorTest;
use std::sync::LazyLock;

macro_rules! rule_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("rules/", $name)))),*]
    };
}

/// Returns the built-in rule files, each its name and its text.
pub fn builtin_rule_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.into_iter()
}

const FILES: [(&str, &str); 14] = rule_files![
    "apiserver-termination.yaml",
    "containers.yaml",
    "events-seen.yaml",
    "flaps.yaml",
    "image-pulls.yaml",
    "invariants.yaml",
    "nodes.yaml",
    "operators.yaml",
    "os-updates.yaml",
    "pods.yaml",
    "repeated-back-off-events.yaml",
    "repeated-component-events.yaml",
    "repeated-node-events.yaml",
    "workloads.yaml",
];

/// The rules of the built-in files: one reading for a process, because it takes longer than to judge a small reel.
static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    // A test of this crate reads the rule files; a program whose own rules are broken has none of them.
    RuleSet::read(builtin_rule_files()).unwrap_or_default()
});

/// Returns every built-in monitor test, new, in the order in which reports show them.
pub fn builtin() -> Vec<Box<dyn MonitorTest>> {
    let mut tests = RULES.tests();
    tests.extend([
        slow_operators::messages_test(),
        slow_operators::operators_test(),
        node_upgrades::test(),
        crd_storage::test(),
        static_pods::test(),
        repeats::test(repeats::NamespaceClass::Known),
        repeats::test(repeats::NamespaceClass::Other),
        repeats::test(repeats::NamespaceClass::E2e),
        sandboxes::test(),
        images::test(),
    ]);
    tests.extend(ha::tests());
    tests.extend([version_pods::test(), recording::test()]);
    tests
}
