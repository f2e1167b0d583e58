//! The demo's cluster: an `OpenShift`-like life of some nine minutes as steps in virtual time, played on a real
//! API in the actors' names.
//!
//! The steps are data, one a line. `ClusterVersion` and `ClusterOperators` are written in the order and the words
//! of the genuine operator; everything else is our own. Some values must never be recorded: they begin with
//! `canary-`.
#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

mod player;

pub use player::{ApiPlayer, control_plane};

use crate::kubelet::{Fate, NodeSpec, PodMatcher};
use crate::rest::Target;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// A moment of a scenario: milliseconds from its begin. The player decides which time of the clock it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    const fn since_start(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "+{:.3}s", self.since_start().as_secs_f64())
    }
}

/// What happens when.
#[derive(Debug, Deserialize)]
pub struct Plan {
    /// How many virtual seconds a second of the clock takes.
    pub speed: f64,
    /// When it is over.
    pub end: Moment,
    /// What happens, by time.
    #[serde(skip)]
    pub steps: Vec<Step>,
}

impl Plan {
    /// Reads the demo's steps.
    ///
    /// # Errors
    ///
    /// A line is not a step.
    pub fn demo() -> serde_json::Result<Self> {
        let mut lines = include_str!("../../../testdata/scenarios/demo-steps.jsonl").lines();
        let mut plan: Self = serde_json::from_str(lines.next().unwrap_or_default())?;
        plan.steps = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(plan)
    }
}

/// One thing that somebody does at some time.
#[derive(Debug, Clone, Deserialize)]
pub struct Step {
    /// When, in virtual time.
    pub at: Moment,
    /// Who: the field manager of the writes. The steps of one actor are played in order.
    pub actor: String,
    /// What the cluster must have come to before; virtual time stands still meanwhile.
    pub gate: Option<Gate>,
    /// What is done.
    pub act: Act,
}

/// What is done in a [`Step`].
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub enum Act {
    /// Only waits for its gate: what follows has to come after it.
    Await,
    /// Creates an object; waits for its namespace or definition to be there.
    Create {
        /// The object.
        object: Value,
    },
    /// Changes a part of an object by a JSON merge patch.
    Merge {
        /// The object.
        target: Target,
        /// The patch.
        patch: Value,
    },
    /// Replaces the status of an object, as operators do that keep it all in their own hands.
    UpdateStatus {
        /// The object.
        target: Target,
        /// The whole status.
        status: Value,
    },
    /// Applies an object by server-side apply.
    Apply {
        /// The object's fields that the actor owns.
        object: Value,
    },
    /// Deletes an object.
    Delete {
        /// The object.
        target: Target,
        /// Grace in seconds; 0 deletes by force; the kind's default when absent.
        grace_secs: Option<u32>,
    },
    /// A leader says that it still leads; a new holder takes the Lease over, or makes it.
    Lead {
        /// The Lease.
        lease: Target,
        /// Who leads now.
        leader: Leader,
    },
    /// A leader gives its Lease up.
    Resign {
        /// The Lease.
        lease: Target,
    },
    /// Scripts what Pods to come will meet.
    Script {
        /// Which Pods.
        pods: PodMatcher,
        /// What they meet.
        fate: Fate,
    },
    /// A node joins, and gets ready later.
    Join {
        /// The node.
        node: NodeSpec,
        /// Virtual time from joining to ready.
        not_ready_secs: f64,
    },
    /// Evicts all Pods of a node that no `DaemonSet` owns, again and again while refused.
    Drain {
        /// The node.
        node: String,
    },
    /// A node goes down and comes back.
    Reboot {
        /// The node.
        node: String,
        /// Virtual time until its kubelet is back.
        down_secs: f64,
        /// Virtual time from then on until it is ready.
        not_ready_secs: f64,
    },
    /// An API server ends and starts again.
    RestartApiServer {
        /// Which, from 0.
        server: usize,
    },
}

/// Who holds a Lease: only a player knows which Pod that is.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "leader", rename_all = "kebab-case")]
pub enum Leader {
    /// The running Pod of an app, by its own name.
    PodOf {
        /// The Pod's namespace.
        namespace: String,
        /// The value of its label `app`.
        app: String,
    },
    /// The running Pod of an app, by the name of its node: it is on the host's network.
    NodeOf {
        /// The Pod's namespace.
        namespace: String,
        /// The value of its label `app`.
        app: String,
    },
    /// Somebody outside the cluster.
    Outsider {
        /// Its name.
        name: String,
    },
}

/// What the cluster must have come to before a step.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "gate", rename_all = "kebab-case")]
pub enum Gate {
    /// All that was passed on before is done.
    Settled,
    /// A Deployment or `DaemonSet` runs its newest template, and nothing of the one before.
    RolledOut {
        /// The Deployments and `DaemonSets`.
        targets: Vec<Target>,
    },
    /// The first container of a Pod that is not done waits for this reason.
    PodWaits {
        /// The Pod.
        pod: Target,
        /// The reason.
        reason: String,
    },
    /// A Pod is in this phase.
    PodPhase {
        /// The Pod.
        pod: Target,
        /// The phase.
        phase: String,
    },
    /// A node is ready in this boot.
    NodeReady {
        /// The node.
        node: String,
        /// Its boot id.
        boot_id: String,
    },
    /// No Pod is left on a node but those of `DaemonSets` and those that are over.
    Drained {
        /// The node.
        node: String,
    },
}

#[cfg(test)]
mod demo_tests {
    use super::*;

    #[test]
    fn steps_are_in_order_and_none_is_left_over() {
        let plan = Plan::demo().unwrap();
        assert!(plan.steps.is_sorted_by_key(|step| step.at));
        assert!(plan.steps.last().is_some_and(|step| step.at <= plan.end));
    }
}
