//! Owns the rule files that the program carries, by name. Refuses to read them: `rule` does.

/// Gives the rule files that the program carries, each its name and its text.
pub fn builtin_rule_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.into_iter()
}

/// One line a file, from A to Z.
const FILES: [(&str, &str); 14] = [
    (
        "apiserver-termination.yaml",
        include_str!("rules/apiserver-termination.yaml"),
    ),
    ("containers.yaml", include_str!("rules/containers.yaml")),
    ("events-seen.yaml", include_str!("rules/events-seen.yaml")),
    ("flaps.yaml", include_str!("rules/flaps.yaml")),
    ("image-pulls.yaml", include_str!("rules/image-pulls.yaml")),
    ("invariants.yaml", include_str!("rules/invariants.yaml")),
    ("nodes.yaml", include_str!("rules/nodes.yaml")),
    ("operators.yaml", include_str!("rules/operators.yaml")),
    ("os-updates.yaml", include_str!("rules/os-updates.yaml")),
    ("pods.yaml", include_str!("rules/pods.yaml")),
    (
        "repeated-back-off-events.yaml",
        include_str!("rules/repeated-back-off-events.yaml"),
    ),
    (
        "repeated-component-events.yaml",
        include_str!("rules/repeated-component-events.yaml"),
    ),
    (
        "repeated-node-events.yaml",
        include_str!("rules/repeated-node-events.yaml"),
    ),
    ("workloads.yaml", include_str!("rules/workloads.yaml")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::{Way, rows};
    use crate::rule::RuleSet;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_in_yaml_has_its_rule() {
        let rules = RuleSet::read(builtin_rule_files());
        let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
        let ids: BTreeSet<&str> = rules.ids().collect();
        for row in rows() {
            assert_eq!(ids.contains(row.id), row.way == Way::Yaml, "{}", row.id);
        }
    }
}
