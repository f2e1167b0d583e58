//! Owns whether a workload with several replicas has a budget that guards it. Refuses to judge what the
//! budget allows.

use super::frame::{Check, Follows};
use super::selector::takes;
use super::spells::{Spells, Wrong};
use super::templates::{number, subject};
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::reading;
use crate::verdict::Subject;
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;
use std::collections::BTreeMap;

/// Operators create workload and budget in any order, and not at once.
const GRACE_MICROS: i64 = 300 * 1_000_000;

/// Gives the check.
pub(super) fn check() -> Check {
    Check {
        id: "ha-disruption-budget",
        junit: "pods in ns/{namespace} should be protected by a PodDisruptionBudget",
        description: "A PodDisruptionBudget selects the Pods of each Deployment and StatefulSet with several replicas; it may come five minutes later.",
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
struct Workload {
    replicas: u64,
    labels: Value,
}

#[derive(Default)]
struct Budgets {
    workloads: BTreeMap<Subject, Workload>,
    /// Selectors by namespace and name.
    selectors: BTreeMap<(String, String), Value>,
    spells: Spells,
}

impl Budgets {
    fn judge(&mut self, subject: &Subject, at: RecordedAt, seq: Seq) {
        let Some(workload) = self.workloads.get(subject) else {
            return;
        };
        let guarded = self
            .selectors
            .iter()
            .filter(|((namespace, _), _)| *namespace == subject.namespace)
            .any(|(_, selector)| takes(Some(selector), Some(&workload.labels)));
        let wrong = (workload.replicas > 1 && !guarded).then(|| Wrong {
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
        self.spells.say(subject, at, seq, wrong);
    }
}

impl Watcher for Budgets {
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

    fn seen(&mut self, seen: &Seen<'_>) {
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
            let others: Vec<Subject> = self
                .workloads
                .keys()
                .filter(|other| other.namespace == subject.namespace)
                .cloned()
                .collect();
            for other in others {
                self.judge(&other, seen.at, seen.seq);
            }
            return;
        }
        if seen.action == Action::Gone {
            self.workloads.remove(&subject);
            self.spells.end(&subject, seen.at);
            return;
        }
        let labels = reading::at(seen.now, "/spec/template/metadata/labels");
        let workload = Workload {
            replicas: number(seen.now, "/spec/replicas").unwrap_or(1),
            labels: labels.cloned().unwrap_or_default(),
        };
        self.workloads.insert(subject.clone(), workload);
        self.judge(&subject, seen.at, seen.seq);
    }
}

impl Follows for Budgets {
    fn spells(&mut self) -> &mut Spells {
        &mut self.spells
    }

    fn watcher(&mut self) -> &mut dyn Watcher {
        self
    }
}
