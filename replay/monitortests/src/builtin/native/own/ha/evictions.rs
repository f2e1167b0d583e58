//! Owns Pods of one workload that go at the same time although nobody scaled it down. Refuses to tell
//! an eviction from a deletion: objects do not.

use super::frame::{Check, Follows};
use super::pods::{Controller, Pods};
use super::spells::{Spells, Wrong};
use super::templates::number;
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::verdict::Subject;
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// For so long Pods may still go because of a scaling down.
const SCALED_MICROS: i64 = 300 * 1_000_000;

/// Gives the check.
pub(super) fn check() -> Check {
    Check {
        id: "ha-evictions",
        junit: "pods in ns/{namespace} should not be evicted at the same time",
        description: "No two Pods of a Deployment or StatefulSet are deleted or evicted at the same time, unless it was scaled down in the last five minutes.",
        reads: &["pods", "replicasets.apps", "statefulsets.apps"],
        wants_several_nodes: true,
        at_least_micros: 0,
        watcher: Box::new(Evictions::default()),
    }
}

/// How many Pods a controller wants.
struct Wanted {
    replicas: u64,
    scaled_down: Option<RecordedAt>,
}

#[derive(Default)]
struct Evictions {
    pods: Pods,
    /// By uid.
    wanted: BTreeMap<String, Wanted>,
    spells: Spells,
}

impl Evictions {
    fn judge(&mut self, controller: &Controller, seen: &Seen<'_>) {
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
        let wrong = Wrong {
            reason: "SimultaneousEvictions",
            message: format!(
                "{} of {} Pods of {} went at the same time: {}",
                going.len(),
                wanted.replicas,
                controller.name,
                going.join(", ")
            ),
        };
        let subject = Subject {
            resource: controller.resource().to_owned(),
            namespace: controller.namespace.clone(),
            name: controller.name.clone(),
            keys: BTreeMap::new(),
        };
        self.spells.instant(subject, seen.at, seen.seq, wrong);
    }
}

impl Watcher for Evictions {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| Interest::new("apps", plural, ["spec.replicas"]);
        vec![Pods::interest(), of("replicasets"), of("statefulsets")]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        let uid = &seen.key.uid;
        if seen.resource.plural != "pods" {
            if seen.action == Action::Gone {
                self.wanted.remove(uid);
                return;
            }
            let replicas = number(seen.now, "/spec/replicas").unwrap_or(1);
            let before = self.wanted.get(uid);
            let is_less = before.is_some_and(|before| replicas < before.replicas);
            let scaled_down = if is_less {
                Some(seen.at)
            } else {
                before.and_then(|before| before.scaled_down)
            };
            let wanted = Wanted {
                replicas,
                scaled_down,
            };
            self.wanted.insert(uid.clone(), wanted);
            return;
        }
        let (before, now) = self.pods.take(seen);
        let Some(now) = now else { return };
        let begins = now.is_going && before.is_some_and(|before| !before.is_going);
        if let Some(controller) = now.controller.filter(|_| begins) {
            self.judge(&controller, seen);
        }
    }
}

impl Follows for Evictions {
    fn spells(&mut self) -> &mut Spells {
        &mut self.spells
    }

    fn watcher(&mut self) -> &mut dyn Watcher {
        self
    }
}
