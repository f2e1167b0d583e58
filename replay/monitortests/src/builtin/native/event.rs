//! Owns what tests of Events have in common: how often one happened, what it is about and
//! whether the cluster was installed then. Refuses verdicts.

use crate::interval::{Interval, IntervalMessage, Locator};
use crate::verdict::{Phase, Scene, Subject};

/// The keys of locators that name an object, and the resource of that object.
const RESOURCES: [(&str, &str); 12] = [
    ("pod", "pods"),
    ("clusteroperator", "clusteroperators.config.openshift.io"),
    ("clusterversion", "clusterversions.config.openshift.io"),
    ("deployment", "deployments.apps"),
    ("daemonset", "daemonsets.apps"),
    ("statefulset", "statefulsets.apps"),
    ("replicaset", "replicasets.apps"),
    ("job", "jobs.batch"),
    ("machine", "machines.machine.openshift.io"),
    ("service", "services"),
    ("node", "nodes"),
    ("namespace", "namespaces"),
];

/// Gives how often an Event happened, as it says itself; 0 if what it says is no number.
pub(crate) fn times(message: &IntervalMessage) -> u64 {
    message
        .annotation("count")
        .map_or(1, |count| count.parse().unwrap_or(0))
}

/// Gives what a locator is about.
///
/// The object is the first that its keys name; the keys that say more, such as `container`, are kept.
pub(crate) fn subject_of(locator: &Locator) -> Subject {
    let named = RESOURCES
        .iter()
        .find_map(|(key, resource)| Some((*key, *resource, locator.get(key)?)));
    let (of, resource, name) = named.unwrap_or_default();
    let namespace = if matches!(of, "namespace" | "node") {
        ""
    } else {
        locator.get("namespace").unwrap_or_default()
    };
    let more = locator
        .keys
        .iter()
        .filter(|(key, _)| key.as_ref() != of && !matches!(key.as_ref(), "namespace" | "hmsg"));
    Subject {
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        keys: more
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
    }
}

/// Tells whether an Event is of the installation, which upstream's monitor does not see.
pub(crate) fn is_installing(scene: &Scene<'_>, event: &Interval) -> bool {
    scene.facts.phase(event.from) == Some(Phase::Install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_itself_how_often_it_happened() {
        let said = |count: &str| times(&IntervalMessage::new("x").with("count", count));
        assert_eq!(times(&IntervalMessage::new("x")), 1);
        assert_eq!((said("42"), said("often"), said("-3")), (42, 0, 0));
    }

    #[test]
    fn the_object_of_a_locator_is_found_by_its_keys() {
        let keys = [
            ("namespace", "n"),
            ("pod", "p"),
            ("node", "m0"),
            ("hmsg", "0a"),
        ];
        let subject = subject_of(&Locator::new("Kind", keys));
        assert_eq!(
            (subject.resource.as_str(), subject.namespace.as_str()),
            ("pods", "n")
        );
        assert_eq!(subject.name, "p");
        assert_eq!(subject.keys.get("node").map(String::as_str), Some("m0"));
        assert_eq!(subject.keys.len(), 1);
        let node = subject_of(&Locator::new("Node", [("node", "m0"), ("namespace", "x")]));
        assert_eq!(
            (node.resource.as_str(), node.namespace.as_str()),
            ("nodes", "")
        );
        let unknown = subject_of(&Locator::new("Kind", [("widget", "w")]));
        assert_eq!(unknown.resource, "");
        assert_eq!(unknown.keys.get("widget").map(String::as_str), Some("w"));
    }
}
