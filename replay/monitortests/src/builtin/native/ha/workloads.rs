//! Checks of workloads with several replicas: a disruption budget guards them, and one replica is always
//! ready.

use super::frame::{HaCheck, HaProblems, HaViolation, HaWatcher};
use super::templates::{number, subject, takes};
use crate::applies::RuleClass;
use crate::feed::{Action, Interest, WatchedEvent};
use crate::reading;
use crate::verdict::FindingSubject;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Operators create workload and budget in any order, and not at once.
const GRACE_MICROS: i64 = 300 * 1_000_000;

/// Returns the check.
pub(super) fn budget_check() -> HaCheck {
    HaCheck {
        id: "ha-disruption-budget",
        junit: "pods in ns/{namespace} should be protected by a PodDisruptionBudget",
        description: "A PodDisruptionBudget selects the Pods of each Deployment and StatefulSet with several replicas; it may come five minutes later.",
        class: RuleClass::Policy,
        reads: &[
            "deployments.apps",
            "statefulsets.apps",
            "poddisruptionbudgets.policy",
        ],
        wants_several_nodes: true,
        at_least_micros: GRACE_MICROS,
        watcher: Box::new(Budgets::default()),
    }
}

/// What is known of a workload.
struct GuardedWorkload {
    replicas: u64,
    labels: Value,
}

#[derive(Default)]
struct Budgets {
    workloads: BTreeMap<FindingSubject, GuardedWorkload>,
    /// Selectors by namespace and name.
    selectors: BTreeMap<(String, String), Value>,
}

impl Budgets {
    fn judge(&self, subject: &FindingSubject, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let Some(workload) = self.workloads.get(subject) else {
            return;
        };
        let guarded = self
            .selectors
            .iter()
            .filter(|((namespace, _), _)| *namespace == subject.namespace)
            .any(|(_, selector)| takes(Some(selector), Some(&workload.labels)) != Some(false));
        let wrong = (workload.replicas > 1 && !guarded).then(|| HaViolation {
            reason: "MissingBudget",
            message: format!(
                "{} {} has {} replicas and no PodDisruptionBudget",
                if subject.resource.starts_with("deployments") {
                    "Deployment"
                } else {
                    "StatefulSet"
                },
                subject.name,
                workload.replicas
            ),
        });
        spells.say(subject, seen.at, seen.seq, wrong);
    }
}

impl HaWatcher for Budgets {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| {
            Interest::new(
                "apps",
                plural,
                ["spec.replicas", "spec.template.metadata.labels"],
            )
        };
        vec![
            of("deployments"),
            of("statefulsets"),
            Interest::new("policy", "poddisruptionbudgets", ["spec.selector"]),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let subject = subject(seen);
        if seen.resource.plural == "poddisruptionbudgets" {
            let key = (subject.namespace.clone(), subject.name.clone());
            match reading::at(seen.now, "/spec/selector") {
                Some(selector) if seen.action != Action::Gone => {
                    self.selectors.insert(key, selector.clone());
                }
                _ => {
                    self.selectors.remove(&key);
                }
            }
            let others: Vec<FindingSubject> = self
                .workloads
                .keys()
                .filter(|other| other.namespace == subject.namespace)
                .cloned()
                .collect();
            for other in others {
                self.judge(&other, seen, spells);
            }
            return;
        }
        if seen.action == Action::Gone {
            self.workloads.remove(&subject);
            spells.end(&subject, seen.at);
            return;
        }
        let labels = reading::at(seen.now, "/spec/template/metadata/labels");
        let workload = GuardedWorkload {
            replicas: number(seen.now, "/spec/replicas").unwrap_or(1),
            labels: labels.cloned().unwrap_or_default(),
        };
        self.workloads.insert(subject.clone(), workload);
        self.judge(&subject, seen, spells);
    }
}

/// Returns the check.
pub(super) fn ready_check() -> HaCheck {
    HaCheck {
        id: "ha-ready",
        junit: "workloads in ns/{namespace} should always have a ready replica",
        description: "A Deployment or StatefulSet with several replicas never has none that is ready, once one was.",
        class: RuleClass::Disruption,
        reads: &["deployments.apps", "statefulsets.apps"],
        wants_several_nodes: true,
        at_least_micros: 0,
        watcher: Box::new(Ready::default()),
    }
}

#[derive(Default)]
struct Ready {
    /// Those that had a ready replica once.
    up: BTreeSet<FindingSubject>,
}

impl HaWatcher for Ready {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| Interest::new("apps", plural, ["spec.replicas", "status.readyReplicas"]);
        vec![of("deployments"), of("statefulsets")]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let subject = subject(seen);
        if seen.action == Action::Gone {
            self.up.remove(&subject);
            spells.end(&subject, seen.at);
            return;
        }
        let wanted = number(seen.now, "/spec/replicas").unwrap_or(1);
        let ready = number(seen.now, "/status/readyReplicas").unwrap_or(0);
        if ready > 0 {
            self.up.insert(subject.clone());
        }
        let wrong = (wanted > 1 && ready == 0 && self.up.contains(&subject)).then(|| HaViolation {
            reason: "NoReadyReplica",
            message: format!("{} had none of {wanted} replicas ready", subject.name),
        });
        spells.say(&subject, seen.at, seen.seq, wrong);
    }
}
