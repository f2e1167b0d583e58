//! What an interval is about: a type and keys. It does not judge: any type and any key is taken.

use super::pairs::Pairs;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The keys that lead the text of a locator, in this order; the others follow from A to Z.
const LEADING: [&str; 8] = [
    "namespace",
    "node",
    "pod",
    "uid",
    "server",
    "container",
    "shutdown",
    "row",
];

/// The types of locators, kubereel's and upstream's.
pub(crate) const LOCATOR_TYPES: [&str; 21] = [
    "APIServer",
    "APIUnreachableFromClient",
    "Alert",
    "CloudMetrics",
    "ClusterOperator",
    "ClusterVersion",
    "Container",
    "DaemonSet",
    "Deployment",
    "Disruption",
    "E2ETest",
    "Kind",
    "Lease",
    "Machine",
    "MachineConfigPool",
    "MetricsEndpoint",
    "Node",
    "Pod",
    "Resource",
    "StatefulSet",
    "StaticPodInstall",
];

/// The usual keys of locators, kubereel's and upstream's. An Event about an object has its kind as a key, of any
/// kind.
pub(crate) const LOCATOR_KEYS: [&str; 29] = [
    "alert",
    "clusteroperator",
    "clusterversion",
    "container",
    "daemonset",
    "deployment",
    "disruption",
    "e2e-test",
    "hmsg",
    "job",
    "kind",
    "lease",
    "machine",
    "metric",
    "metrics-path",
    "mirror-uid",
    "name",
    "namespace",
    "node",
    "pod",
    "podType",
    "pool",
    "replicaset",
    "resource",
    "row",
    "server",
    "shutdown",
    "statefulset",
    "uid",
];

/// What an interval is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// `ClusterOperator`, `Node`, `Pod` and others; empty in files that have none.
    pub kind: Arc<str>,
    /// Its keys, such as `namespace` and `pod`.
    pub keys: Pairs,
}

impl Locator {
    /// Makes a locator of a type and keys; keys without a value are left out.
    pub fn new<'a>(kind: &str, keys: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let keys = keys.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            kind: Arc::from(kind),
            keys: keys
                .map(|(key, value)| (Arc::from(key), Arc::from(value)))
                .collect(),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(AsRef::as_ref)
    }

    /// Compares the texts of two locators, without writing them.
    pub fn cmp_text(&self, other: &Self) -> Ordering {
        if self.keys == other.keys {
            return Ordering::Equal;
        }
        let one: Vec<Cow<'_, str>> = self.pieces().collect();
        let other: Vec<Cow<'_, str>> = other.pieces().collect();
        let one = one.iter().flat_map(|piece| piece.bytes());
        one.cmp(other.iter().flat_map(|piece| piece.bytes()))
    }

    /// Returns the pieces of its text: the leading keys first, then from A to Z.
    fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let leading = LEADING
            .iter()
            .filter_map(|key| Some((*key, self.keys.get(key)?)));
        let others = self.keys.iter().map(|(key, value)| (key.as_ref(), value));
        let others = others.filter(|(key, _)| !LEADING.contains(key));
        let words = leading.chain(others).enumerate();
        words.flat_map(|(place, (key, value))| {
            let gap = if place > 0 { " " } else { "" };
            let value = if key == "e2e-test" {
                Cow::Owned(format!("{value:?}"))
            } else {
                Cow::Borrowed(value.as_ref())
            };
            [
                Cow::Borrowed(gap),
                Cow::Borrowed(key),
                Cow::Borrowed("/"),
                value,
            ]
        })
    }
}

impl fmt::Display for Locator {
    /// Writes `key/value` words: the leading keys first, then from A to Z; the name of an e2e test in
    /// quotes.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| out.write_str(&piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_keys_come_first() {
        let locator = Locator::new(
            "Pod",
            [
                ("hmsg", "0a"),
                ("pod", "a"),
                ("namespace", "n"),
                ("cause", ""),
                ("container", "c"),
            ],
        );
        assert_eq!(locator.to_string(), "namespace/n pod/a container/c hmsg/0a");
    }

    #[test]
    fn texts_are_compared_as_they_are_written() {
        let locators = [
            Locator::new("Pod", [("pod", "a")]),
            Locator::new("Pod", [("pod", "a"), ("namespace", "n")]),
            Locator::new("Node", [("node", "a"), ("row", "r")]),
            Locator::new("Node", [("node", "a b")]),
            Locator::new("E2ETest", [("e2e-test", "a \"quoted\" one")]),
            Locator::default(),
        ];
        for one in &locators {
            for other in &locators {
                let texts = one.to_string().cmp(&other.to_string());
                assert_eq!(one.cmp_text(other), texts, "{one} and {other}");
            }
        }
    }
}
