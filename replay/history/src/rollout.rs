//! The revisions of workloads, from the recorded `ReplicaSet`s and `ControllerRevision`s, and the
//! state of a rollout in the words of `kubectl rollout status`.

use crate::body_reader::QueryError;
use crate::columns::{ObjectPart, desired};
use crate::field::ObservedGeneration;
use crate::moment::Cut;
use crate::object_version::ObjectVersion;
use crate::page::{PageLine, template_page};
use crate::timeline::Timeline;
use kubereel_format::{EventType, ReadError, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;
use std::collections::BTreeMap;

/// The annotation with a Deployment's revision, on its `ReplicaSet`s.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation with the user's reason for a change.
const CAUSE: &str = "kubernetes.io/change-cause";

/// A revision of a workload: a Pod template that was rolled out.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// Its number.
    pub number: i64,
    /// The user's reason.
    pub cause: Option<String>,
    /// The record that first showed it.
    pub seq: Seq,
    /// When that was received.
    pub first_seen: RecordedAt,
    /// Its `ReplicaSet` or `ControllerRevision`.
    pub name: String,
    template: Value,
}

impl Revision {
    /// Finds the revisions of a workload up to a moment, by number, also of objects that were
    /// deleted since; `None` if its kind has none.
    ///
    /// # Errors
    /// When the reel is damaged where they are.
    pub fn all(
        timeline: &Timeline,
        resource: &ResourceInfo,
        held: &ObjectVersion,
        cut: Cut,
    ) -> Result<Option<Vec<Self>>, QueryError> {
        let holders = match resource.qualified().as_str() {
            "deployments.apps" => "replicasets.apps",
            "statefulsets.apps" | "daemonsets.apps" => "controllerrevisions.apps",
            _ => return Ok(None),
        };
        let mut found: BTreeMap<i64, Self> = BTreeMap::new();
        let Ok(named) = timeline.resources().find(holders) else {
            return Ok(Some(Vec::new()));
        };
        let uid = timeline
            .key_of(held.object)
            .map(|key| key.uid.text().into_owned());
        let uid = uid.unwrap_or_default();
        for namesake in timeline.resources().namesakes(named) {
            for &object in timeline.objects_of(namesake.id) {
                let Some(key) = timeline.key_of(object) else {
                    continue;
                };
                if key.namespace != held.namespace {
                    continue;
                }
                let reel = timeline.reel();
                let versions = reel.versions(object).iter().copied().filter(|seq| {
                    reel.kind_of(*seq) != Some(EventType::Deleted) && timeline.is_within(*seq, cut)
                });
                let own = |seq: Seq| {
                    let body = reel.body(seq)?;
                    let is_own = memchr::memmem::find(&body, uid.as_bytes()).is_some();
                    Ok::<_, ReadError>(is_own.then_some(body))
                };
                // Most of these objects belong to other workloads; some are adopted later.
                let ends = [versions.clone().next(), versions.clone().last()];
                let mut is_own = false;
                for seq in ends.into_iter().flatten() {
                    is_own = is_own || own(seq)?.is_some();
                }
                for seq in versions.filter(|_| is_own) {
                    let Some(body) = own(seq)? else {
                        continue;
                    };
                    let body: Value = serde_json::from_slice(&body)
                        .map_err(|source| QueryError::Body { seq, source })?;
                    let Some(revision) = Self::of(timeline, seq, key.name, &body) else {
                        continue;
                    };
                    let known = found.entry(revision.number).or_insert(revision);
                    // The reason may be set later.
                    known.cause = cause(ObjectPart::of(&body)).or(known.cause.take());
                }
            }
        }
        Ok(Some(found.into_values().collect()))
    }

    fn of(timeline: &Timeline, seq: Seq, name: &str, body: &Value) -> Option<Self> {
        let part = ObjectPart::of(body);
        let own = part.at("revision");
        let annotations = part.at("metadata.annotations").texts();
        let number = match annotations.get(REVISION) {
            Some(number) => number.parse().ok()?,
            None if own.is_there() => own.whole(),
            None => return None,
        };
        let template = [part.at("spec.template"), part.at("data.spec.template")];
        let template = template.into_iter().find(|one| one.is_there());
        Some(Self {
            number,
            cause: cause(part),
            seq,
            first_seen: timeline.wall_of(seq),
            name: name.to_owned(),
            template: template.and_then(ObjectPart::value).cloned()?,
        })
    }

    /// Returns the images of its containers.
    pub fn images(&self) -> Vec<String> {
        let containers = ObjectPart::of(&self.template).at("spec.containers");
        let images = containers.items().map(|one| one.at("image").plain());
        images.collect()
    }

    /// Returns its Pod template.
    pub const fn template(&self) -> &Value {
        &self.template
    }

    /// Describes its Pod template.
    pub fn page(&self) -> Vec<PageLine> {
        template_page(&self.template)
    }
}

fn cause(object: ObjectPart<'_>) -> Option<String> {
    let annotations = object.at("metadata.annotations").texts();
    annotations.get(CAUSE).map(|&cause| cause.to_owned())
}

/// The progress of a rollout, in the words of kubectl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolloutState {
    /// Every Pod has the last revision and is available.
    Complete(String),
    /// It is in progress.
    Underway(String),
    /// It exceeded its deadline.
    Failed(String),
    /// The workload is not rolled out: its Pods are replaced when a user deletes them.
    Manual(String),
}

/// The fields that the state of a rollout is read from, as paths with dots.
const DEPLOYMENT_PATHS: &[&str] = &[
    "metadata.generation",
    "spec.replicas",
    "status.observedGeneration",
    "status.replicas",
    "status.updatedReplicas",
    "status.availableReplicas",
    "status.conditions.type",
    "status.conditions.reason",
];
const DAEMON_SET_PATHS: &[&str] = &[
    "metadata.generation",
    "spec.updateStrategy.type",
    "status.observedGeneration",
    "status.updatedNumberScheduled",
    "status.desiredNumberScheduled",
    "status.numberAvailable",
];
const STATEFUL_SET_PATHS: &[&str] = &[
    "metadata.generation",
    "spec.replicas",
    "spec.updateStrategy",
    "status.observedGeneration",
    "status.readyReplicas",
    "status.updatedReplicas",
    "status.currentReplicas",
    "status.currentRevision",
    "status.updateRevision",
];

impl RolloutState {
    /// Derives it from a workload; `None` if its kind has no rollouts.
    pub fn of(resource: &ResourceInfo, object: &Value) -> Option<Self> {
        Self::of_named(&resource.qualified(), object)
    }

    /// Derives it from a workload of a resource, such as `deployments.apps`.
    pub fn of_named(resource: &str, object: &Value) -> Option<Self> {
        let part = ObjectPart::of(object);
        match resource {
            "deployments.apps" => Some(deployment(part)),
            "daemonsets.apps" => Some(daemon_set(part)),
            "statefulsets.apps" => Some(stateful_set(part)),
            _ => None,
        }
    }

    /// Returns the fields that it is derived from; none if a resource has no rollouts.
    pub fn paths(resource: &ResourceInfo) -> &'static [&'static str] {
        match resource.qualified().as_str() {
            "deployments.apps" => DEPLOYMENT_PATHS,
            "daemonsets.apps" => DAEMON_SET_PATHS,
            "statefulsets.apps" => STATEFUL_SET_PATHS,
            _ => &[],
        }
    }

    /// Returns the text of kubectl.
    pub fn words(&self) -> &str {
        match self {
            Self::Complete(words)
            | Self::Underway(words)
            | Self::Failed(words)
            | Self::Manual(words) => words,
        }
    }
}

/// Returns whether a controller has observed the last change of the spec.
fn is_observed(object: ObjectPart<'_>) -> bool {
    let generation = object.at("metadata.generation").whole();
    let observed = object.at("status.observedGeneration").whole();
    ObservedGeneration::of(Some(observed), Some(generation)) == ObservedGeneration::Present
}

fn deployment(object: ObjectPart<'_>) -> RolloutState {
    let name = object.name();
    let count = |member: &str| object.at("status").at(member).whole();
    let (all, updated, available) = (
        count("replicas"),
        count("updatedReplicas"),
        count("availableReplicas"),
    );
    let waiting = |what: String| {
        RolloutState::Underway(format!(
            "Waiting for deployment {name:?} rollout to finish: {what}..."
        ))
    };
    if !is_observed(object) {
        let words = "Waiting for deployment spec update to be observed...";
        return RolloutState::Underway(words.to_owned());
    }
    let mut conditions = object.at("status.conditions").items();
    let has_failed = conditions.any(|one| {
        one.at("type").text() == "Progressing"
            && one.at("reason").text() == "ProgressDeadlineExceeded"
    });
    if has_failed {
        return RolloutState::Failed(format!(
            "deployment {name:?} exceeded its progress deadline"
        ));
    }
    let wanted = desired(object);
    if updated < wanted {
        waiting(format!(
            "{updated} out of {wanted} new replicas have been updated"
        ))
    } else if all > updated {
        waiting(format!(
            "{} old replicas are pending termination",
            all - updated
        ))
    } else if available < updated {
        waiting(format!(
            "{available} of {updated} updated replicas are available"
        ))
    } else {
        RolloutState::Complete(format!("deployment {name:?} successfully rolled out"))
    }
}

fn daemon_set(object: ObjectPart<'_>) -> RolloutState {
    let name = object.name();
    if let Some(words) = manual(object) {
        return words;
    }
    let count = |member: &str| object.at("status").at(member).whole();
    let (updated, wanted, available) = (
        count("updatedNumberScheduled"),
        count("desiredNumberScheduled"),
        count("numberAvailable"),
    );
    let begin = format!("Waiting for daemon set {name:?} rollout to finish:");
    if !is_observed(object) {
        let words = "Waiting for daemon set spec update to be observed...";
        RolloutState::Underway(words.to_owned())
    } else if updated < wanted {
        RolloutState::Underway(format!(
            "{begin} {updated} out of {wanted} new pods have been updated..."
        ))
    } else if available < wanted {
        RolloutState::Underway(format!(
            "{begin} {available} of {wanted} updated pods are available..."
        ))
    } else {
        RolloutState::Complete(format!("daemon set {name:?} successfully rolled out"))
    }
}

/// With the strategy `OnDelete` there is no rollout to wait for.
fn manual(object: ObjectPart<'_>) -> Option<RolloutState> {
    let strategy = object.at("spec.updateStrategy.type").text();
    let is_manual = !matches!(strategy, "" | "RollingUpdate");
    is_manual.then(|| {
        RolloutState::Manual(
            "rollout status is only available for RollingUpdate strategy type".to_owned(),
        )
    })
}

fn stateful_set(object: ObjectPart<'_>) -> RolloutState {
    if let Some(words) = manual(object) {
        return words;
    }
    let status = object.at("status");
    let count = |member: &str| status.at(member).whole();
    let wanted = desired(object);
    let partition = object
        .at("spec.updateStrategy.rollingUpdate.partition")
        .whole();
    let (ready, updated) = (count("readyReplicas"), count("updatedReplicas"));
    let revision = status.at("updateRevision").text();
    if !is_observed(object) {
        let words = "Waiting for statefulset spec update to be observed...";
        return RolloutState::Underway(words.to_owned());
    }
    if ready < wanted {
        let missing = wanted - ready;
        return RolloutState::Underway(format!("Waiting for {missing} pods to be ready..."));
    }
    if partition > 0 {
        let new = wanted - partition;
        return if updated < new {
            RolloutState::Underway(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {new} new pods have been updated..."
            ))
        } else {
            RolloutState::Complete(format!(
                "partitioned roll out complete: {updated} new pods have been updated..."
            ))
        };
    }
    if revision == status.at("currentRevision").text() {
        let current = count("currentReplicas");
        RolloutState::Complete(format!(
            "statefulset rolling update complete {current} pods at revision {revision}..."
        ))
    } else {
        RolloutState::Underway(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {revision}..."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deployment_is_rolled_out_when_all_its_pods_are_new_and_available() {
        let state = |generation: u32, status: Value| {
            deployment(ObjectPart::of(&json!({
                "metadata": {"name": "web", "generation": generation},
                "spec": {"replicas": 3}, "status": status,
            })))
        };
        let status = |replicas: u32, updated: u32, available: u32| {
            json!({"observedGeneration": 2, "replicas": replicas, "updatedReplicas": updated,
                "availableReplicas": available})
        };
        for (found, words) in [
            (
                state(3, status(3, 3, 3)),
                "Waiting for deployment spec update to be observed...",
            ),
            (
                state(2, status(3, 1, 3)),
                "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...",
            ),
            (
                state(2, status(4, 3, 3)),
                "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...",
            ),
            (
                state(2, status(3, 3, 2)),
                "Waiting for deployment \"web\" rollout to finish: 2 of 3 updated replicas are available...",
            ),
            (
                state(2, status(3, 3, 3)),
                "deployment \"web\" successfully rolled out",
            ),
        ] {
            assert_eq!(found.words(), words);
            let is_complete = matches!(found, RolloutState::Complete(_));
            assert_eq!(is_complete, words.contains("successfully"), "{words}");
        }
        let late = json!({"observedGeneration": 2, "conditions": [
            {"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]});
        assert!(matches!(state(2, late), RolloutState::Failed(_)));
    }

    #[test]
    fn a_set_of_other_strategy_has_no_rollout_to_wait_for() {
        let set = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
        assert!(matches!(
            daemon_set(ObjectPart::of(&set)),
            RolloutState::Manual(_)
        ));
        let set = json!({"spec": {"replicas": 2}, "status": {"readyReplicas": 1}});
        let words = stateful_set(ObjectPart::of(&set));
        assert_eq!(words.words(), "Waiting for 1 pods to be ready...");
    }
}
