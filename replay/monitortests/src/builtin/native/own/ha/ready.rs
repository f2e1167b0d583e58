//! Owns when a workload with several replicas had none that was ready. Refuses the time before its
//! first.

use super::frame::{Check, Follows};
use super::spells::{Spells, Wrong};
use super::templates::{number, subject};
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::verdict::Subject;
use std::collections::BTreeSet;

/// Gives the check.
pub(super) fn check() -> Check {
    Check {
        id: "ha-ready",
        junit: "workloads in ns/{namespace} should always have a ready replica",
        description: "A Deployment or StatefulSet with several replicas never has none that is ready, once one was.",
        reads: &["deployments.apps", "statefulsets.apps"],
        wants_several_nodes: true,
        at_least_micros: 0,
        watcher: Box::new(Ready::default()),
    }
}

#[derive(Default)]
struct Ready {
    /// Those that had a ready replica once.
    up: BTreeSet<Subject>,
    spells: Spells,
}

impl Watcher for Ready {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| Interest::new("apps", plural, ["spec.replicas", "status.readyReplicas"]);
        vec![of("deployments"), of("statefulsets")]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        let subject = subject(seen);
        if seen.action == Action::Gone {
            self.up.remove(&subject);
            self.spells.end(&subject, seen.at);
            return;
        }
        let wanted = number(seen.now, "/spec/replicas").unwrap_or(1);
        let ready = number(seen.now, "/status/readyReplicas").unwrap_or(0);
        if ready > 0 {
            self.up.insert(subject.clone());
        }
        let wrong = (wanted > 1 && ready == 0 && self.up.contains(&subject)).then(|| Wrong {
            reason: "NoReadyReplica",
            message: format!("{} had none of {wanted} replicas ready", subject.name),
        });
        self.spells.say(&subject, seen.at, seen.seq, wrong);
    }
}

impl Follows for Ready {
    fn spells(&mut self) -> &mut Spells {
        &mut self.spells
    }

    fn watcher(&mut self) -> &mut dyn Watcher {
        self
    }
}
