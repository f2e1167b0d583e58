//! Owns whether replicas run apart: two on one node, while others have room. Refuses Pods that go, and
//! workloads with more replicas than nodes.

use super::frame::{Check, Follows};
use super::pods::{Controller, Pods};
use super::spells::{Spells, Wrong};
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::verdict::Subject;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A moment of two on one node is not yet a state.
const AT_LEAST_MICROS: i64 = 60 * 1_000_000;

/// Gives the check.
pub(super) fn check() -> Check {
    Check {
        id: "ha-spread",
        junit: "pods in ns/{namespace} should run on different nodes",
        description: "No two Pods of a Deployment or StatefulSet run on one node for a minute or longer, unless there are more of them than nodes of that role.",
        reads: &["pods", "nodes"],
        wants_several_nodes: true,
        at_least_micros: AT_LEAST_MICROS,
        watcher: Box::new(Spread::default()),
    }
}

#[derive(Default)]
struct Spread {
    pods: Pods,
    /// The roles of each node.
    nodes: BTreeMap<String, BTreeSet<String>>,
    /// Where two of a controller's Pods are said to be.
    told: BTreeSet<(Controller, String)>,
    spells: Spells,
}

impl Spread {
    fn judge(&mut self, controller: &Controller, seen: &Seen<'_>) {
        let mut on: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let pods = self.pods.of(controller);
        let mut count = 0;
        for pod in pods.filter(|pod| !pod.is_going && !pod.is_over && !pod.node.is_empty()) {
            on.entry(&pod.node).or_default().push(&pod.name);
            count += 1;
        }
        let crowded: BTreeMap<String, Wrong> = on
            .into_iter()
            .filter(|(node, pods)| pods.len() > 1 && count <= self.nodes_like(node))
            .map(|(node, pods)| {
                let wrong = Wrong {
                    reason: "SameNode",
                    message: format!(
                        "{} of {count} Pods of {} ran on node {node}: {}",
                        pods.len(),
                        controller.name,
                        pods.join(", ")
                    ),
                };
                (node.to_owned(), wrong)
            })
            .collect();
        let before: Vec<(Controller, String)> = self
            .told
            .iter()
            .filter(|(other, node)| other == controller && !crowded.contains_key(node))
            .cloned()
            .collect();
        for place in before {
            self.told.remove(&place);
            self.spells.end(&subject(controller, &place.1), seen.at);
        }
        for (node, wrong) in crowded {
            let subject = subject(controller, &node);
            self.told.insert((controller.clone(), node));
            self.spells.say(&subject, seen.at, seen.seq, Some(wrong));
        }
    }

    /// How many nodes have a role of this one.
    fn nodes_like(&self, node: &str) -> usize {
        let Some(roles) = self.nodes.get(node) else {
            return 0;
        };
        let likes = |other: &&BTreeSet<String>| !other.is_disjoint(roles);
        self.nodes.values().filter(likes).count()
    }
}

fn subject(controller: &Controller, node: &str) -> Subject {
    Subject {
        resource: controller.resource().to_owned(),
        namespace: controller.namespace.clone(),
        name: controller.name.clone(),
        keys: BTreeMap::from([("node".to_owned(), node.to_owned())]),
    }
}

impl Watcher for Spread {
    fn interests(&self) -> Vec<Interest> {
        vec![
            Pods::interest(),
            Interest::new("", "nodes", ["metadata.labels"]),
        ]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        if seen.resource.plural == "nodes" {
            if seen.action == Action::Gone {
                self.nodes.remove(&seen.key.name);
                return;
            }
            let labels = seen
                .now
                .pointer("/metadata/labels")
                .and_then(Value::as_object);
            let roles = labels
                .into_iter()
                .flatten()
                .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
                .map(str::to_owned)
                .collect();
            self.nodes.insert(seen.key.name.clone(), roles);
            return;
        }
        let (before, now) = self.pods.take(seen);
        let controller = now.or(before).and_then(|pod| pod.controller);
        if let Some(controller) = controller.filter(|controller| !controller.resource().is_empty())
        {
            self.judge(&controller, seen);
        }
    }
}

impl Follows for Spread {
    fn spells(&mut self) -> &mut Spells {
        &mut self.spells
    }

    fn watcher(&mut self) -> &mut dyn Watcher {
        self
    }
}
