//! The cluster while it is written: what is due when, and who reacts to a change.
//!
//! Owns the order of things. Each controller is a file of its own; all of them read the store and
//! write to it, and none of them waits.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::clock::Instant;
use super::lines::{Lines, What};
use super::node::Machine;
use super::pod::{Facts, Running};
use super::said::Said;
use super::set::SetFacts;
use super::store::{Seen, Store};
use crate::kubelet::FateBook;
use crate::rest::Target;

/// Something that is due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// A controller looks at an object.
    Look(Target),
    /// A Pod waits for a node.
    Schedule(Target),
    /// The next beat of a Pod's life; by uid, since names come again.
    Beat(Target, String),
    /// A Pod that is being deleted is gone.
    Finish(Target, String),
    /// A Pod has run for as long as it may.
    Deadline(Target, String),
    /// A node gives a sign of life.
    Heartbeat(String),
    /// A node gets ready.
    Ready(String),
    /// A node is back from its reboot.
    Return(String, u32),
    /// A drain looks again.
    Drain(String),
    /// An Event has lived for as long as it may.
    Expire(Target),
}

pub(super) struct World<'w> {
    pub(super) store: Store<'w>,
    queue: BTreeMap<(Instant, u64), Task>,
    queued: BTreeSet<Task>,
    count: u64,
    pub(super) pods: BTreeMap<(String, String), Facts>,
    pub(super) running: BTreeMap<Target, Running>,
    pub(super) sets: BTreeMap<(String, String), SetFacts>,
    pub(super) machines: BTreeMap<String, Machine>,
    pub(super) fates: FateBook,
    pub(super) said: BTreeMap<String, Said>,
    pub(super) leases: BTreeMap<Target, super::lead::Held>,
    /// How long Events live.
    pub(super) event_ttl_secs: f64,
}

impl<'w> World<'w> {
    pub(super) fn new(lines: Lines<'w>, now: Instant, seed: u64, event_ttl_secs: f64) -> Self {
        Self {
            store: Store::new(lines, now, seed),
            queue: BTreeMap::new(),
            queued: BTreeSet::new(),
            count: 0,
            pods: BTreeMap::new(),
            running: BTreeMap::new(),
            sets: BTreeMap::new(),
            machines: BTreeMap::new(),
            fates: FateBook::default(),
            said: BTreeMap::new(),
            leases: BTreeMap::new(),
            event_ttl_secs,
        }
    }

    /// Puts something on the list; what is there already stays where it is.
    pub(super) fn later(&mut self, secs: f64, task: Task) {
        self.at(self.store.now.after_secs(secs), task);
    }

    pub(super) fn at(&mut self, due: Instant, task: Task) {
        if self.queued.insert(task.clone()) {
            self.count += 1;
            self.queue.insert((due, self.count), task);
        }
    }

    /// A controller looks at an object in a moment.
    pub(super) fn look(&mut self, target: Target) {
        let secs = self.store.random.millis(12, 90);
        self.later(secs, Task::Look(target));
    }

    /// When the next thing is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// Takes what is due next and lets the time come.
    pub(super) fn next(&mut self) -> Option<Task> {
        let ((due, _), task) = self.queue.pop_first()?;
        self.queued.remove(&task);
        self.store.now = self.store.now.max(due);
        Some(task)
    }

    /// Does what is due, and lets everybody react.
    pub(super) fn perform(&mut self, task: Task) {
        match task {
            Task::Look(target) => self.reconcile(&target),
            Task::Schedule(pod) => self.schedule(&pod),
            Task::Beat(pod, uid) => self.beat(&pod, &uid),
            Task::Finish(pod, uid) => self.finish(&pod, &uid),
            Task::Deadline(pod, uid) => self.pass_deadline(&pod, &uid),
            Task::Heartbeat(node) => self.heartbeat(&node),
            Task::Ready(node) => self.become_ready(&node),
            Task::Return(node, not_ready_millis) => self.come_back(&node, not_ready_millis),
            Task::Drain(node) => self.drain(&node),
            Task::Expire(event) => self.expire(&event),
        }
        self.react();
    }

    fn reconcile(&mut self, target: &Target) {
        match target.kind.as_str() {
            "Deployment" => self.look_at_deployment(target),
            "ReplicaSet" => self.look_at_set(target),
            "DaemonSet" => self.look_at_daemon_set(target),
            "StatefulSet" => self.look_at_stateful_set(target),
            "Job" => self.look_at_job(target),
            "Service" => self.look_at_service(target),
            "PodDisruptionBudget" => self.look_at_budget(target),
            "Namespace" => self.furnish(&target.name.clone()),
            "CustomResourceDefinition" => self.establish(target),
            _ => {}
        }
    }

    /// Lets everybody react to what was written since.
    pub(super) fn react(&mut self) {
        while let Some(Seen {
            target,
            what,
            object,
        }) = self.store.seen.pop_front()
        {
            match target.kind.as_str() {
                "Pod" => self.see_pod(&target, what, &object),
                "ReplicaSet" => self.see_set(&target, what, &object),
                "Event" if what == What::Added => {
                    self.later(self.event_ttl_secs, Task::Expire(target));
                }
                "Namespace" | "CustomResourceDefinition" if what == What::Added => {
                    self.look(target);
                }
                "Deployment"
                | "DaemonSet"
                | "StatefulSet"
                | "Job"
                | "Service"
                | "PodDisruptionBudget" => {
                    if what == What::Deleted {
                        self.collect(&object);
                    } else {
                        self.look(target);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes away what a deleted object owned.
    pub(super) fn collect(&mut self, owner: &Value) {
        let uid = text(&owner["metadata"]["uid"]);
        let namespace = text(&owner["metadata"]["namespace"]);
        for (api_version, kind) in [
            ("apps/v1", "ReplicaSet"),
            ("v1", "Endpoints"),
            ("discovery.k8s.io/v1", "EndpointSlice"),
        ] {
            for target in self.store.in_namespace(api_version, kind, &namespace) {
                let Some(object) = self.store.get(&target) else {
                    continue;
                };
                let is_its_endpoints = kind == "Endpoints"
                    && owner["kind"] == "Service"
                    && owner["metadata"]["name"] == target.name.as_str();
                if object["metadata"]["ownerReferences"][0]["uid"] == uid.as_str()
                    || is_its_endpoints
                {
                    self.store.remove(&target);
                }
            }
        }
        for pod in self.pods_of(&namespace, &uid) {
            self.delete_pod(&pod, None, "kube-controller-manager");
        }
    }
}

/// A text of a document, or nothing.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The reference to an owner.
pub(super) fn owner(object: &Value) -> Value {
    serde_json::json!([{
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    }])
}
