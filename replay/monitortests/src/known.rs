//! Operators and namespaces of the platform, and the Jira component of each; the tables are data, in
//! `known.yaml`. A name outside of the tables has no component.

use crate::table::read_table;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Namespaces whose names vary from run to run, although they begin as those of the platform do.
const VARYING: [&str; 3] = [
    "openshift-must-gather-",
    "openshift-debug-",
    "openshift-copy-to-node-",
];

/// The components by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTables {
    operators: BTreeMap<String, String>,
    namespaces: BTreeMap<String, Option<String>>,
}

static TABLES: LazyLock<KnownTables> = LazyLock::new(|| read_table(include_str!("known.yaml")));

/// Returns the names of the platform's operators, from A to Z.
pub fn known_operators() -> impl Iterator<Item = &'static str> {
    TABLES.operators.keys().map(String::as_str)
}

/// Returns the Jira component of an operator; `None` if the table does not name it.
pub fn component_of_operator(operator: &str) -> Option<&'static str> {
    TABLES.operators.get(operator).map(String::as_str)
}

/// Returns the namespaces that have `JUnit` cases of their own, from A to Z.
pub fn known_namespaces() -> impl Iterator<Item = &'static str> {
    TABLES.namespaces.keys().map(String::as_str)
}

/// Returns whether a namespace has `JUnit` cases of its own.
pub fn is_known_namespace(namespace: &str) -> bool {
    TABLES.namespaces.contains_key(namespace)
}

/// Returns the Jira component of a namespace; `None` if it has none.
pub fn component_of_namespace(namespace: &str) -> Option<&'static str> {
    TABLES.namespaces.get(namespace)?.as_deref()
}

/// Returns whether a namespace belongs to the platform: known or not, by its name.
pub fn is_platform_namespace(namespace: &str) -> bool {
    matches!(namespace, "default" | "kubernetes" | "openshift")
        || namespace.starts_with("kube-")
        || (namespace.starts_with("openshift-")
            && !VARYING.iter().any(|start| namespace.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_by_name() {
        assert_eq!(
            (known_operators().count(), known_namespaces().count()),
            (34, 62)
        );
        assert_eq!(component_of_operator("etcd"), Some("Etcd"));
        assert_eq!(component_of_operator("cert-manager"), None);
        assert_eq!(component_of_namespace("openshift-dns"), Some("DNS"));
        assert!(is_known_namespace("openshift-infra"));
        assert_eq!(component_of_namespace("openshift-infra"), None);
        assert_eq!(component_of_namespace("team-a"), None);
        assert!(!is_known_namespace("openshift-e2e-loki"));
    }

    #[test]
    fn every_component_of_an_operator_namespace_is_one_that_an_operator_has_too() {
        let of_operators: Vec<_> = known_operators()
            .filter_map(component_of_operator)
            .collect();
        let own = ["Cluster Version Operator", "oauth-apiserver"];
        for component in known_namespaces().filter_map(component_of_namespace) {
            assert!(
                of_operators.contains(&component) || own.contains(&component),
                "{component}"
            );
        }
    }

    #[test]
    fn namespaces_of_the_platform_are_told_by_name() {
        for name in ["default", "openshift", "openshift-new", "kube-system"] {
            assert!(is_platform_namespace(name), "{name}");
        }
        for name in [
            "openshift-must-gather-x7k2p",
            "openshift-debug-2",
            "e2e-1",
            "openshifty",
        ] {
            assert!(!is_platform_namespace(name), "{name}");
        }
    }
}
