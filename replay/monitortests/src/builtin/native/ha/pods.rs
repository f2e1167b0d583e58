//! The Pods that exist, each with its controller and its node.

use crate::feed::{Action, Interest, WatchedEvent};
use crate::reading;
use kubereel_history::field::{self, is_being_deleted};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Who controls Pods: by uid, since names come again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PodController {
    pub(super) namespace: String,
    /// `ReplicaSet`, `StatefulSet` and others.
    pub(super) kind: String,
    /// The name that people know: of a Deployment, not of its `ReplicaSet`.
    pub(super) name: String,
    pub(super) uid: String,
}

/// A Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HaPod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) controller: Option<PodController>,
    pub(super) labels: Value,
    pub(super) node: String,
    pub(super) is_going: bool,
    pub(super) is_over: bool,
}

/// The Pods that live.
#[derive(Debug, Default)]
pub(super) struct HaPods {
    by_uid: BTreeMap<String, HaPod>,
    /// The uids of each controller's Pods.
    by_controller: BTreeMap<String, BTreeSet<String>>,
}

impl HaPods {
    /// What is read of Pods.
    pub(super) fn interest() -> Interest {
        Interest::new(
            "",
            "pods",
            [
                "metadata.ownerReferences",
                "metadata.labels",
                "metadata.deletionTimestamp",
                "spec.nodeName",
                "status.phase",
            ],
        )
    }

    /// Takes what happened to a Pod; gives it as it was and as it is.
    pub(super) fn take(&mut self, seen: &WatchedEvent<'_>) -> (Option<HaPod>, Option<HaPod>) {
        let uid = seen.key.uid.text().into_owned();
        if seen.action == Action::Gone {
            let before = self.by_uid.remove(&uid);
            let controller = before.as_ref().and_then(|pod| pod.controller.as_ref());
            if let Some(controller) = controller.map(|controller| &controller.uid)
                && let Some(uids) = self.by_controller.get_mut(controller)
            {
                uids.remove(&uid);
                if uids.is_empty() {
                    self.by_controller.remove(controller);
                }
            }
            return (before, None);
        }
        let pod = pod(seen);
        if let Some(controller) = &pod.controller {
            self.by_controller
                .entry(controller.uid.clone())
                .or_default()
                .insert(uid.clone());
        }
        (self.by_uid.insert(uid, pod.clone()), Some(pod))
    }

    /// Returns all Pods.
    pub(super) fn all(&self) -> impl Iterator<Item = &HaPod> {
        self.by_uid.values()
    }

    /// Returns the Pods of a controller.
    pub(super) fn of(&self, controller: &PodController) -> impl Iterator<Item = &HaPod> {
        let uids = self.by_controller.get(&controller.uid);
        uids.into_iter()
            .flatten()
            .filter_map(|uid| self.by_uid.get(uid))
    }
}

fn pod(seen: &WatchedEvent<'_>) -> HaPod {
    let text = |path: &str| {
        let value = reading::at(seen.now, path).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let labels = reading::at(seen.now, "/metadata/labels");
    let phase = text("/status/phase");
    HaPod {
        namespace: seen.key.namespace.to_owned(),
        name: seen.key.name.to_owned(),
        controller: controller(seen, labels),
        labels: labels.cloned().unwrap_or_default(),
        node: text("/spec/nodeName"),
        is_going: is_being_deleted(seen.now),
        is_over: phase == "Succeeded" || phase == "Failed",
    }
}

fn controller(seen: &WatchedEvent<'_>, labels: Option<&Value>) -> Option<PodController> {
    let owner = field::controller(seen.now)?;
    let text = |key: &str| Some(owner.get(key)?.as_str()?.to_owned());
    let (kind, mut name) = (text("kind")?, text("name")?);
    let hash = labels.and_then(|labels| labels.get("pod-template-hash"));
    let start = hash
        .and_then(Value::as_str)
        .and_then(|hash| Some(name.strip_suffix(hash)?.strip_suffix('-')?.len()));
    if let Some(length) = start.filter(|_| kind == "ReplicaSet") {
        name.truncate(length);
    }
    Some(PodController {
        namespace: seen.key.namespace.to_owned(),
        kind,
        name,
        uid: text("uid")?,
    })
}

impl PodController {
    /// The resource of what people know by this name.
    pub(super) fn resource(&self) -> &'static str {
        match self.kind.as_str() {
            "ReplicaSet" => "deployments.apps",
            "StatefulSet" => "statefulsets.apps",
            _ => "",
        }
    }
}
