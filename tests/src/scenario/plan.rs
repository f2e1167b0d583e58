//! A scenario laid out in time: what happens when, what is planted, what must be true at the end.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};

use super::Moment;
use super::moment::Dice;
use super::operator::OperatorStatus;
use crate::kubelet::{Fate, NodeSpec, PodMatcher};
use crate::rest::Target;

/// A scenario laid out in time. The same file gives the same plan, to the byte.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// How many virtual seconds a second of the clock takes.
    pub speed: f64,
    /// When it is over.
    pub end: Moment,
    /// What happens, by time.
    pub steps: Vec<Step>,
    /// What is planted for others to find.
    pub faults: Vec<PlantedFault>,
    /// The turns of the story.
    pub landmarks: Vec<Landmark>,
    /// Values that must never be recorded.
    pub canaries: Vec<Canary>,
    /// What is there at the end.
    pub outcome: Outcome,
    /// The operators at the end, for whoever goes on with them.
    #[serde(skip)]
    pub(super) operators: BTreeMap<String, OperatorStatus>,
}

/// Something that goes wrong on purpose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlantedFault {
    /// What it is, in one word: `degraded`, `flap`, `crash-loop`, `failed-pull`, `force-delete`.
    pub kind: String,
    /// The object it shows at.
    pub object: String,
    /// When it begins, in virtual time.
    pub at: Moment,
    /// When it ends; `None` for what stays or is over at once.
    pub until: Option<Moment>,
}

/// A turn of the story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Landmark {
    /// What turns.
    pub what: &'static str,
    /// When.
    pub at: Moment,
}

/// A value of a Secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Canary {
    /// The Secret's namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key.
    pub key: String,
    /// The value.
    pub plain: String,
}

impl Canary {
    /// The texts by which the value can be found: as it is, and as a Secret's data has it.
    pub fn needles(&self) -> [String; 2] {
        [self.plain.clone(), STANDARD.encode(&self.plain)]
    }
}

/// What is there at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The version the cluster came from.
    pub from_version: String,
    /// The version the cluster is at.
    pub version: String,
    /// All operators; each is at that version.
    pub operators: Vec<String>,
    /// All nodes; each was rebooted once.
    pub nodes: Vec<String>,
    /// The version Pods of the update, in order; all but the last failed.
    pub version_pods: Vec<String>,
}

impl Plan {
    /// The planted faults of a kind.
    pub fn faults_of(&self, kind: &str) -> impl Iterator<Item = &PlantedFault> {
        self.faults.iter().filter(move |fault| fault.kind == kind)
    }

    /// When the story takes a turn.
    pub fn landmark(&self, what: &str) -> Option<Moment> {
        self.landmarks
            .iter()
            .find(|landmark| landmark.what == what)
            .map(|landmark| landmark.at)
    }
}

/// One thing that somebody does at some time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// When, in virtual time.
    pub at: Moment,
    /// Who: the field manager of the writes. The steps of one actor are played in order.
    pub actor: String,
    /// What the cluster must have come to before; virtual time stands still meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// What is done.
    pub act: Act,
}

/// What is done in a [`Step`].
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "gate", rename_all = "kebab-case")]
pub enum Gate {
    /// All that was handed out before is done.
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

/// Collects steps, and counts the Events that are said more than once.
#[derive(Debug)]
pub(super) struct Script {
    steps: Vec<Step>,
    said: BTreeMap<String, (Target, u32)>,
    dice: Dice,
}

/// What an operator's Event is about, and who says it.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    /// The field manager.
    pub(super) by: &'a str,
    /// The component that the Event names.
    pub(super) component: &'a str,
    /// The namespace of the Event itself.
    pub(super) namespace: &'a str,
    pub(super) about: Value,
    pub(super) is_warning: bool,
    pub(super) reason: &'a str,
    pub(super) message: String,
}

impl Script {
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            steps: Vec::new(),
            said: BTreeMap::new(),
            dice,
        }
    }

    pub(super) fn act(&mut self, at: Moment, actor: &str, act: Act) {
        self.steps.push(Step {
            at,
            actor: actor.to_owned(),
            gate: None,
            act,
        });
    }

    pub(super) fn act_after(&mut self, at: Moment, actor: &str, gate: Gate, act: Act) {
        self.steps.push(Step {
            at,
            actor: actor.to_owned(),
            gate: Some(gate),
            act,
        });
    }

    pub(super) fn create(&mut self, at: Moment, actor: &str, object: Value) {
        self.act(at, actor, Act::Create { object });
    }

    pub(super) fn merge(&mut self, at: Moment, actor: &str, target: &Target, patch: Value) {
        self.act(
            at,
            actor,
            Act::Merge {
                target: target.clone(),
                patch,
            },
        );
    }

    pub(super) fn update_status(
        &mut self,
        at: Moment,
        actor: &str,
        target: &Target,
        status: Value,
    ) {
        self.act(
            at,
            actor,
            Act::UpdateStatus {
                target: target.clone(),
                status,
            },
        );
    }

    /// Says something as an Event; what was said before only counts up.
    pub(super) fn say(&mut self, at: Moment, said: &Said<'_>) {
        let key = format!(
            "{}\0{}\0{}\0{}\0{}",
            said.by, said.namespace, said.about, said.reason, said.message
        );
        if let Some((target, count)) = self.said.get_mut(&key) {
            *count += 1;
            let patch = json!({"count": *count, "lastTimestamp": at.stamp()});
            let target = target.clone();
            self.merge(at, said.by, &target, patch);
            return;
        }
        let about = said.about["name"].as_str().unwrap_or_default();
        let name = format!("{about}.18{}", self.dice.hex(14, &["event", &key]));
        self.create(
            at,
            said.by,
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": said.namespace},
                "involvedObject": said.about,
                "reason": said.reason,
                "message": said.message,
                "source": {"component": said.component},
                "firstTimestamp": at.stamp(),
                "lastTimestamp": at.stamp(),
                "count": 1,
                "type": if said.is_warning { "Warning" } else { "Normal" },
                "eventTime": null,
                "reportingComponent": said.component,
                "reportingInstance": "",
            }),
        );
        self.said.insert(
            key,
            (Target::namespaced("v1", "Event", said.namespace, &name), 1),
        );
    }

    /// The steps by time; those of one moment stay in the order in which they were written.
    pub(super) fn into_steps(mut self) -> Vec<Step> {
        self.steps.sort_by_key(|step| step.at);
        self.steps
    }
}

#[cfg(test)]
mod script_tests {
    use super::*;

    #[test]
    fn what_is_said_again_counts_up() {
        let mut script = Script::new(Dice::new(1));
        let said = Said {
            by: "a",
            component: "a",
            namespace: "default",
            about: json!({"name": "version"}),
            is_warning: false,
            reason: "Retrieve",
            message: "m".to_owned(),
        };
        script.say(Moment::from_secs(2.0), &said);
        script.say(Moment::from_secs(3.0), &said);
        script.say(
            Moment::from_secs(1.0),
            &Said {
                reason: "Other",
                ..said.clone()
            },
        );
        let steps = script.into_steps();
        assert!(steps.is_sorted_by_key(|step| step.at));
        let Act::Merge { patch, .. } = &steps[2].act else {
            panic!("{:?}", steps[2])
        };
        assert_eq!(patch["count"], 2);
    }
}
