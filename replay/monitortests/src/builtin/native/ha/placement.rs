//! Checks of how the Pods of a workload run: apart from each other, not evicted at the same time, and
//! not in the way of a drain.

use super::frame::{HaCheck, HaProblems, HaViolation, HaWatcher};
use super::pods::{HaPods, PodController};
use super::templates::{number, subject, takes};
use crate::applies::RuleClass;
use crate::feed::{Action, Interest, WatchedEvent};
use crate::reading;
use crate::verdict::FindingSubject;
use kubereel_format::RecordedAt;
use kubereel_history::node_roles;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A moment of two on one node is not yet a state.
const CROWDED_LEAST_MICROS: i64 = 60 * 1_000_000;

/// Returns the check.
pub(super) fn spread_check() -> HaCheck {
    HaCheck {
        id: "ha-spread",
        junit: "pods in ns/{namespace} should run on different nodes",
        description: "No two Pods of a Deployment or StatefulSet run on one node for a minute or longer, unless there are more of them than nodes of that role.",
        class: RuleClass::Policy,
        reads: &["pods", "nodes"],
        wants_several_nodes: true,
        at_least_micros: CROWDED_LEAST_MICROS,
        watcher: Box::new(HaPlacement::default()),
    }
}

#[derive(Default)]
struct HaPlacement {
    pods: HaPods,
    /// The roles of each node.
    nodes: BTreeMap<String, BTreeSet<String>>,
    /// The nodes that were reported for a controller.
    told: BTreeSet<(PodController, String)>,
}

impl HaPlacement {
    fn judge(
        &mut self,
        controller: &PodController,
        seen: &WatchedEvent<'_>,
        spells: &mut HaProblems,
    ) {
        let mut on: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let pods = self.pods.of(controller);
        let mut count = 0;
        for pod in pods.filter(|pod| !pod.is_going && !pod.is_over && !pod.node.is_empty()) {
            on.entry(&pod.node).or_default().push(&pod.name);
            count += 1;
        }
        let crowded: BTreeMap<String, HaViolation> = on
            .into_iter()
            .filter(|(node, pods)| pods.len() > 1 && count <= self.nodes_like(node))
            .map(|(node, pods)| {
                let wrong = HaViolation {
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
        let before: Vec<(PodController, String)> = self
            .told
            .iter()
            .filter(|(other, node)| other == controller && !crowded.contains_key(node))
            .cloned()
            .collect();
        for place in before {
            self.told.remove(&place);
            spells.end(&node_subject(controller, &place.1), seen.at);
        }
        for (node, wrong) in crowded {
            let subject = node_subject(controller, &node);
            self.told.insert((controller.clone(), node));
            spells.say(&subject, seen.at, seen.seq, Some(wrong));
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

fn node_subject(controller: &PodController, node: &str) -> FindingSubject {
    FindingSubject {
        resource: controller.resource().to_owned(),
        namespace: controller.namespace.clone(),
        name: controller.name.clone(),
        keys: BTreeMap::from([("node".to_owned(), node.to_owned())]),
    }
}

impl HaWatcher for HaPlacement {
    fn interests(&self) -> Vec<Interest> {
        vec![
            HaPods::interest(),
            Interest::new("", "nodes", ["metadata.labels"]),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        if seen.resource.plural == "nodes" {
            if seen.action == Action::Gone {
                self.nodes.remove(seen.key.name);
                return;
            }
            let roles = node_roles(seen.now)
                .into_iter()
                .map(str::to_owned)
                .collect();
            self.nodes.insert(seen.key.name.to_owned(), roles);
            return;
        }
        let (before, now) = self.pods.take(seen);
        let controller = now.or(before).and_then(|pod| pod.controller);
        if let Some(controller) = controller.filter(|controller| !controller.resource().is_empty())
        {
            self.judge(&controller, seen, spells);
        }
    }
}

/// For so long Pods may still go because of a scaling down.
const SCALED_MICROS: i64 = 300 * 1_000_000;

/// Returns the check.
pub(super) fn eviction_check() -> HaCheck {
    HaCheck {
        id: "ha-evictions",
        junit: "pods in ns/{namespace} should not be evicted at the same time",
        description: "No two Pods of a Deployment or StatefulSet are deleted or evicted at the same time, unless it was scaled down in the last five minutes.",
        class: RuleClass::Disruption,
        reads: &["pods", "replicasets.apps", "statefulsets.apps"],
        wants_several_nodes: true,
        at_least_micros: 0,
        watcher: Box::new(Evictions::default()),
    }
}

/// How many Pods a controller wants.
struct ReplicaHistory {
    replicas: u64,
    scaled_down: Option<RecordedAt>,
}

#[derive(Default)]
struct Evictions {
    pods: HaPods,
    /// By uid.
    wanted: BTreeMap<String, ReplicaHistory>,
}

impl Evictions {
    fn judge(&self, controller: &PodController, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let Some(wanted) = self.wanted.get(&controller.uid) else {
            return;
        };
        let was_scaled = wanted
            .scaled_down
            .is_some_and(|at| seen.at.micros_since(at) < SCALED_MICROS);
        if wanted.replicas < 2 || was_scaled {
            return;
        }
        let going: Vec<&str> = self
            .pods
            .of(controller)
            .filter(|pod| pod.is_going && !pod.is_over)
            .map(|pod| pod.name.as_str())
            .collect();
        if going.len() < 2 {
            return;
        }
        let wrong = HaViolation {
            reason: "SimultaneousEvictions",
            message: format!(
                "{} of {} Pods of {} went at the same time: {}",
                going.len(),
                wanted.replicas,
                controller.name,
                going.join(", ")
            ),
        };
        let subject = FindingSubject {
            resource: controller.resource().to_owned(),
            namespace: controller.namespace.clone(),
            name: controller.name.clone(),
            keys: BTreeMap::new(),
        };
        spells.instant(subject, seen.at, seen.seq, wrong);
    }
}

impl HaWatcher for Evictions {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| Interest::new("apps", plural, ["spec.replicas"]);
        vec![HaPods::interest(), of("replicasets"), of("statefulsets")]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let uid = seen.key.uid.text();
        if seen.resource.plural != "pods" {
            if seen.action == Action::Gone {
                self.wanted.remove(&*uid);
                return;
            }
            let replicas = number(seen.now, "/spec/replicas").unwrap_or(1);
            let before = self.wanted.get(&*uid);
            let is_less = before.is_some_and(|before| replicas < before.replicas);
            let scaled_down = if is_less {
                Some(seen.at)
            } else {
                before.and_then(|before| before.scaled_down)
            };
            let wanted = ReplicaHistory {
                replicas,
                scaled_down,
            };
            self.wanted.insert(uid.into_owned(), wanted);
            return;
        }
        let (before, now) = self.pods.take(seen);
        let Some(now) = now else { return };
        let begins = now.is_going && before.is_some_and(|before| !before.is_going);
        if let Some(controller) = now.controller.filter(|_| begins) {
            self.judge(&controller, seen, spells);
        }
    }
}

/// A budget allows nothing for as long as the Pod that was evicted last needs to come back.
const SHUT_LEAST_MICROS: i64 = 60 * 1_000_000;

/// Returns the check.
pub(super) fn drain_check() -> HaCheck {
    HaCheck {
        id: "ha-drain",
        junit: "disruption budgets in ns/{namespace} should let nodes be drained",
        description: "No PodDisruptionBudget allows nothing for a minute or longer while a cordoned node still holds Pods of it.",
        class: RuleClass::Disruption,
        reads: &["poddisruptionbudgets.policy", "nodes", "pods"],
        wants_several_nodes: true,
        at_least_micros: SHUT_LEAST_MICROS,
        watcher: Box::new(Drains::default()),
    }
}

struct BudgetAllowance {
    selector: Value,
    allowed: u64,
    expected: u64,
}

#[derive(Default)]
struct Drains {
    pods: HaPods,
    budgets: BTreeMap<FindingSubject, BudgetAllowance>,
    cordoned: BTreeSet<String>,
}

impl Drains {
    /// Judges the budgets of a namespace, or all.
    fn judge(&self, namespace: Option<&str>, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        for (subject, budget) in &self.budgets {
            if namespace.is_some_and(|namespace| subject.namespace != namespace) {
                continue;
            }
            let is_shut = budget.allowed == 0 && budget.expected > 0 && !self.cordoned.is_empty();
            let mut held: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            if is_shut {
                let pods = self.pods.all().filter(|pod| {
                    pod.namespace == subject.namespace
                        && !pod.is_going
                        && !pod.is_over
                        && self.cordoned.contains(&pod.node)
                        && takes(Some(&budget.selector), Some(&pod.labels)) == Some(true)
                });
                for pod in pods {
                    held.entry(&pod.node).or_default().push(&pod.name);
                }
            }
            let wrong = (!held.is_empty()).then(|| {
                let held: Vec<String> = held
                    .iter()
                    .map(|(node, pods)| format!("{} on {node}", pods.join(", ")))
                    .collect();
                HaViolation {
                    reason: "DisruptionNotAllowed",
                    message: format!(
                        "PodDisruptionBudget {} allowed no disruption during a drain, which left {}",
                        subject.name,
                        held.join("; ")
                    ),
                }
            });
            spells.say(subject, seen.at, seen.seq, wrong);
        }
    }
}

impl HaWatcher for Drains {
    fn interests(&self) -> Vec<Interest> {
        vec![
            HaPods::interest(),
            Interest::new("", "nodes", ["spec.unschedulable"]),
            Interest::new(
                "policy",
                "poddisruptionbudgets",
                [
                    "spec.selector",
                    "status.disruptionsAllowed",
                    "status.expectedPods",
                ],
            ),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let is_gone = seen.action == Action::Gone;
        match seen.resource.plural.as_str() {
            "nodes" => {
                let is_cordoned =
                    reading::at(seen.now, "/spec/unschedulable") == Some(&Value::Bool(true));
                let is_news = if is_cordoned && !is_gone {
                    self.cordoned.insert(seen.key.name.to_owned())
                } else {
                    self.cordoned.remove(seen.key.name)
                };
                if is_news {
                    self.judge(None, seen, spells);
                }
            }
            "pods" => {
                let (before, now) = self.pods.take(seen);
                let mut both = before.iter().chain(&now);
                if both.any(|pod| self.cordoned.contains(&pod.node)) {
                    self.judge(Some(seen.key.namespace), seen, spells);
                }
            }
            _ => {
                let subject = subject(seen);
                if is_gone {
                    self.budgets.remove(&subject);
                    spells.end(&subject, seen.at);
                    return;
                }
                let budget = BudgetAllowance {
                    selector: seen
                        .now
                        .pointer("/spec/selector")
                        .cloned()
                        .unwrap_or_default(),
                    allowed: number(seen.now, "/status/disruptionsAllowed").unwrap_or(0),
                    expected: number(seen.now, "/status/expectedPods").unwrap_or(0),
                };
                self.budgets.insert(subject, budget);
                self.judge(Some(seen.key.namespace), seen, spells);
            }
        }
    }
}
