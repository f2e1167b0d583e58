//! Owns budgets that allow nothing while a node that holds their Pods is drained. Refuses to know who
//! drains: a node that takes no new Pods counts.

use super::frame::{Check, Follows};
use super::pods::Pods;
use super::selector::takes;
use super::spells::{Spells, Wrong};
use super::templates::{number, subject};
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::reading;
use crate::verdict::Subject;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A budget allows nothing for as long as the Pod that was evicted last needs to come back.
const AT_LEAST_MICROS: i64 = 60 * 1_000_000;

/// Gives the check.
pub(super) fn check() -> Check {
    Check {
        id: "ha-drain",
        junit: "disruption budgets in ns/{namespace} should let nodes be drained",
        description: "No PodDisruptionBudget allows nothing for a minute or longer while a cordoned node still holds Pods of it.",
        reads: &["poddisruptionbudgets.policy", "nodes", "pods"],
        wants_several_nodes: true,
        at_least_micros: AT_LEAST_MICROS,
        watcher: Box::new(Drains::default()),
    }
}

struct Budget {
    selector: Value,
    allowed: u64,
    expected: u64,
}

#[derive(Default)]
struct Drains {
    pods: Pods,
    budgets: BTreeMap<Subject, Budget>,
    cordoned: BTreeSet<String>,
    spells: Spells,
}

impl Drains {
    /// Judges the budgets of a namespace, or all.
    fn judge(&mut self, namespace: Option<&str>, seen: &Seen<'_>) {
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
                        && takes(Some(&budget.selector), Some(&pod.labels))
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
                Wrong {
                    reason: "DisruptionNotAllowed",
                    message: format!(
                        "PodDisruptionBudget {} allowed no disruption during a drain, which left {}",
                        subject.name,
                        held.join("; ")
                    ),
                }
            });
            self.spells.say(subject, seen.at, seen.seq, wrong);
        }
    }
}

impl Watcher for Drains {
    fn interests(&self) -> Vec<Interest> {
        vec![
            Pods::interest(),
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

    fn seen(&mut self, seen: &Seen<'_>) {
        let is_gone = seen.action == Action::Gone;
        match seen.resource.plural.as_str() {
            "nodes" => {
                let is_cordoned =
                    reading::at(seen.now, "/spec/unschedulable") == Some(&Value::Bool(true));
                let is_news = if is_cordoned && !is_gone {
                    self.cordoned.insert(seen.key.name.clone())
                } else {
                    self.cordoned.remove(&seen.key.name)
                };
                if is_news {
                    self.judge(None, seen);
                }
            }
            "pods" => {
                let (before, now) = self.pods.take(seen);
                let mut both = before.iter().chain(&now);
                if both.any(|pod| self.cordoned.contains(&pod.node)) {
                    self.judge(Some(&seen.key.namespace), seen);
                }
            }
            _ => {
                let subject = subject(seen);
                if is_gone {
                    self.budgets.remove(&subject);
                    self.spells.end(&subject, seen.at);
                    return;
                }
                let budget = Budget {
                    selector: seen
                        .now
                        .pointer("/spec/selector")
                        .cloned()
                        .unwrap_or_default(),
                    allowed: number(seen.now, "/status/disruptionsAllowed").unwrap_or(0),
                    expected: number(seen.now, "/status/expectedPods").unwrap_or(0),
                };
                self.budgets.insert(subject, budget);
                self.judge(Some(&seen.key.namespace), seen);
            }
        }
    }
}

impl Follows for Drains {
    fn spells(&mut self) -> &mut Spells {
        &mut self.spells
    }

    fn watcher(&mut self) -> &mut dyn Watcher {
        self
    }
}
