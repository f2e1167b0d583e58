//! Owns the gathering of attempts: version Pods, Events about them and about the version, and what
//! `ClusterVersion` says. Refuses to judge.

use super::attempt::{Attempt, End};
use super::containers::{text, told};
use crate::feed::{Action, Interest, Seen, Watcher};
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::collections::BTreeMap;

/// Where the operator of operators and its Pods live.
pub(super) const NAMESPACE: &str = "openshift-cluster-version";
const POD_PREFIX: &str = "version-";
/// Events that tell of an attempt that failed.
const FAILED: [&str; 3] = [
    "RetrievePayloadFailed",
    "LoadPayloadFailed",
    "VerifyPayloadVersionFailed",
];

/// What is known.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// The attempts with a Pod, by its uid.
    by_pod: BTreeMap<String, Attempt>,
    /// Those that failed before there was a Pod.
    without_pod: Vec<Attempt>,
    /// What `ReleaseAccepted` said, from when on.
    pub(super) accepted: Vec<(RecordedAt, String)>,
    /// What `Failing` said, if it was true.
    pub(super) failing: Vec<(RecordedAt, String)>,
}

impl Attempts {
    /// Takes all attempts, by their begin.
    pub(super) fn take(&mut self) -> Vec<Attempt> {
        let mut all: Vec<Attempt> = std::mem::take(&mut self.by_pod).into_values().collect();
        all.append(&mut self.without_pod);
        all.sort_by_key(|attempt| (attempt.from, attempt.seq));
        all
    }

    fn see_pod(&mut self, seen: &Seen<'_>) {
        let name = seen.key.name.as_str();
        if !name.starts_with(POD_PREFIX) {
            return;
        }
        let empty = Value::Null;
        let spec = seen.now.get("spec").unwrap_or(&empty);
        let status = seen.now.get("status").unwrap_or(&empty);
        let attempt = self
            .by_pod
            .entry(seen.key.uid.clone())
            .or_insert_with(|| Attempt {
                pod: name.to_owned(),
                image: image(spec),
                from: seen.at,
                seq: seen.seq,
                ..Attempt::default()
            });
        let node = text(spec, "nodeName");
        if !node.is_empty() {
            node.clone_into(&mut attempt.node);
        }
        for container in told(status) {
            if !container.reason.is_empty() {
                attempt.reason = container.reason;
            }
            attempt.news(seen.at, &container.who, container.text);
        }
        match text(status, "phase") {
            "Succeeded" => attempt.end = End::Succeeded,
            "Failed" => {
                attempt.end = End::Failed;
                let reason = text(status, "reason");
                if !reason.is_empty() {
                    reason.clone_into(&mut attempt.reason);
                }
                let told = format!("failed: {reason}: {}", text(status, "message"));
                attempt.news(seen.at, "the Pod", told);
            }
            _ => {}
        }
        let is_over = attempt.end != End::Unknown || seen.action == Action::Gone;
        if is_over && attempt.to.is_none() {
            attempt.to = Some(seen.at);
        }
        if seen.action == Action::Gone {
            attempt.step(seen.at, "the Pod was deleted".to_owned());
        }
    }

    fn see_event(&mut self, seen: &Seen<'_>) {
        if seen.action == Action::Gone {
            return;
        }
        let about = seen.now.get("involvedObject").unwrap_or(&Value::Null);
        let (reason, message) = (text(seen.now, "reason"), text(seen.now, "message"));
        match text(about, "kind") {
            "Pod" => {
                let name = text(about, "name");
                let known = self.by_pod.values_mut().find(|attempt| attempt.pod == name);
                if let Some(attempt) = known
                    && text(seen.now, "type") == "Warning"
                {
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                }
            }
            "ClusterVersion" if FAILED.contains(&reason) => {
                let named = self
                    .by_pod
                    .values_mut()
                    .find(|attempt| names(message, &attempt.pod));
                if let Some(attempt) = named {
                    attempt.end = End::Failed;
                    attempt.to.get_or_insert(seen.at);
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                } else {
                    let mut attempt = Attempt {
                        from: seen.at,
                        to: Some(seen.at),
                        seq: seen.seq,
                        end: End::Failed,
                        reason: reason.to_owned(),
                        ..Attempt::default()
                    };
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                    self.without_pod.push(attempt);
                }
            }
            _ => {}
        }
    }

    fn see_version(&mut self, seen: &Seen<'_>) {
        let conditions = seen
            .now
            .pointer("/status/conditions")
            .and_then(Value::as_array);
        for condition in conditions.into_iter().flatten() {
            let told = match text(condition, "message") {
                "" => format!("{}={}", text(condition, "type"), text(condition, "status")),
                message => format!(
                    "{}={} ({}): {message}",
                    text(condition, "type"),
                    text(condition, "status"),
                    text(condition, "reason")
                ),
            };
            let list = match text(condition, "type") {
                "ReleaseAccepted" => &mut self.accepted,
                "Failing" => &mut self.failing,
                _ => continue,
            };
            if list.last().map(|(_, last)| last.as_str()) != Some(told.as_str()) {
                list.push((seen.at, told));
            }
        }
    }
}

/// Tells whether a message is about a Pod: its name stands there as a word.
pub(super) fn names(message: &str, pod: &str) -> bool {
    !pod.is_empty() && message.split([' ', '"', ',', ';']).any(|word| word == pod)
}

fn image(spec: &Value) -> String {
    let first = ["initContainers", "containers"]
        .iter()
        .find_map(|list| spec.get(*list)?.as_array()?.first());
    first
        .map_or("", |container| text(container, "image"))
        .to_owned()
}

impl Watcher for Attempts {
    fn interests(&self) -> Vec<Interest> {
        let containers = |list: &str| {
            [
                format!("status.{list}.name"),
                format!("status.{list}.state"),
            ]
        };
        let mut of_pods: Vec<String> = [
            "spec.nodeName",
            "spec.initContainers.image",
            "spec.containers.image",
        ]
        .iter()
        .chain(&["status.phase", "status.reason", "status.message"])
        .map(ToString::to_string)
        .collect();
        of_pods.extend(containers("initContainerStatuses"));
        of_pods.extend(containers("containerStatuses"));
        let of_events = [
            "involvedObject.kind",
            "involvedObject.name",
            "reason",
            "message",
            "count",
            "type",
        ];
        vec![
            Interest::new("", "pods", of_pods.iter().map(String::as_str)),
            Interest::new("", "events", of_events).without_ends(),
            Interest::new(
                "config.openshift.io",
                "clusterversions",
                ["status.conditions"],
            ),
        ]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        match seen.resource.plural.as_str() {
            "clusterversions" => self.see_version(seen),
            _ if seen.key.namespace != NAMESPACE => {}
            "pods" => self.see_pod(seen),
            _ => self.see_event(seen),
        }
    }
}
