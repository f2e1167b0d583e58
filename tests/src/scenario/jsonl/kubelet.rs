//! What kubelets do with Pods: the beats of their lives, written as their kubelet would.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::pod::{Facts, Running, field_path};
use super::store::{As, Task, World};
use crate::kubelet::{
    Beat, Change, Fate, Life, NodeConditions, NodeSpec, Note, PodView, Readiness,
};
use crate::rest::Target;

impl World<'_> {
    /// A Pod has come to a node.
    pub(super) fn take_on(&mut self, target: &Target, pod: &Value, facts: &Facts) {
        let Some(machine) = self.machines.get_mut(&facts.node) else {
            return;
        };
        let own_ip = machine.next_pod_ip();
        let mut view = PodView::of(pod, &machine.spec.host_ip(), &own_ip);
        let fate = self.fates.take(pod);
        if matches!(fate, Fate::StartsSlowly { .. }) {
            view.containers
                .iter_mut()
                .for_each(|container| container.has_readiness_probe = true);
        }
        if let Some(secs) = pod["spec"]["activeDeadlineSeconds"].as_f64() {
            self.later(secs, Task::Deadline(target.clone(), facts.uid.clone()));
        }
        let running = Running {
            view,
            life: Life::new(fate),
            next: None,
            node: facts.node.clone(),
        };
        self.running.insert(target.clone(), running);
        self.count_pods(&facts.node);
        self.plan_beat(target);
    }

    /// Puts the next beat of a Pod on the list.
    pub(super) fn plan_beat(&mut self, target: &Target) {
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        let machine = self.machines.get(&running.node);
        let images = machine.map(|machine| &machine.images);
        let has_image = |image: &str| images.is_some_and(|images| images.contains(image));
        running.next = running.life.next(&running.view, has_image);
        if let Some(beat) = &running.next {
            let secs = beat.after.as_secs_f64() + self.store.random.millis(2, 180);
            let uid = running.view.uid.clone();
            self.later(secs, Task::Beat(target.clone(), uid));
        }
    }

    fn is_on_duty(&self, target: &Target, uid: &str) -> bool {
        self.running.get(target).is_some_and(|running| {
            running.view.uid == uid
                && self
                    .machines
                    .get(&running.node)
                    .is_some_and(|machine| machine.is_up)
        })
    }

    /// The next thing that happens to a Pod.
    pub(super) fn beat(&mut self, target: &Target, uid: &str) {
        let is_dying = self
            .pods
            .get(&(
                target.namespace.clone().unwrap_or_default(),
                target.name.clone(),
            ))
            .is_none_or(|facts| facts.is_dying);
        if is_dying || !self.is_on_duty(target, uid) {
            return;
        }
        let Some(beat) = self
            .running
            .get_mut(target)
            .and_then(|running| running.next.take())
        else {
            return;
        };
        self.play(target, &beat);
        self.plan_beat(target);
    }

    fn play(&mut self, target: &Target, beat: &Beat) {
        let now = self.store.now.seconds();
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        for change in &beat.changes {
            running.view.apply(change, &now);
            if let Change::Starts { container } = change
                && let Some(container) = running.view.containers.get(*container)
                && let Some(machine) = self.machines.get_mut(&running.node)
            {
                machine.keep_image(&container.image);
            }
        }
        if !beat.changes.is_empty() {
            self.write_pod_status(target);
        }
        for note in &beat.notes {
            self.tell(target, note);
        }
    }

    fn tell(&mut self, target: &Target, note: &Note) {
        let (Some(running), Some(pod)) = (self.running.get(target), self.store.get(target)) else {
            return;
        };
        let path = note
            .container
            .and_then(|index| field_path(&running.view, index));
        let host = running.node.clone();
        self.say_of_kubelet(
            &pod,
            &host,
            path,
            (note.reason, note.is_warning),
            &note.message,
        );
    }

    pub(super) fn write_pod_status(&mut self, target: &Target) {
        let Some(running) = self.running.get(target) else {
            return;
        };
        let status = running.view.to_status();
        self.store.update("kubelet", target, As::Status, |pod| {
            merge_status(&mut pod["status"], &status);
        });
    }

    /// A Pod that is being deleted has stopped: its last status is told, and the object goes.
    pub(super) fn finish(&mut self, target: &Target, uid: &str) {
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        if running.view.uid != uid {
            return;
        }
        if !self
            .machines
            .get(&running.node)
            .is_some_and(|machine| machine.is_up)
        {
            // The node is off: its kubelet ends the Pod when it is back.
            self.later(2.0, Task::Finish(target.clone(), uid.to_owned()));
            return;
        }
        let node = running.node.clone();
        if !running.view.is_over() {
            running
                .view
                .apply(&Change::Stopped, &self.store.now.seconds());
            self.write_pod_status(target);
        }
        self.store.remove(target);
        self.running.remove(target);
        self.count_pods(&node);
    }

    /// A Pod has run for longer than it may.
    pub(super) fn pass_deadline(&mut self, target: &Target, uid: &str) {
        let is_late = self
            .running
            .get(target)
            .is_some_and(|running| running.view.uid == uid && !running.view.is_over());
        if !is_late {
            return;
        }
        let message = "Pod was active on the node longer than the specified deadline".to_owned();
        let beat = Beat::after(
            0.0,
            vec![Change::Fails {
                reason: "DeadlineExceeded",
                message: message.clone(),
            }],
            vec![Note {
                container: None,
                is_warning: false,
                reason: "DeadlineExceeded",
                message,
            }],
        );
        self.play(target, &beat);
    }

    /// A node is back: what was on it starts again.
    pub(super) fn restart_pods(&mut self, node: &str) {
        let now = self.store.now.seconds();
        let targets: Vec<Target> = self
            .running
            .iter()
            .filter(|(_, running)| running.node == node && !running.view.is_over())
            .map(|(target, _)| target.clone())
            .collect();
        for target in targets {
            if let Some(running) = self.running.get_mut(&target) {
                running.view.apply(&Change::Rebooted, &now);
                running.life.restart();
            }
            self.write_pod_status(&target);
            self.plan_beat(&target);
        }
    }
}

/// Merges a kubelet's status into a Pod's: nulls go, conditions of others stay behind its own.
fn merge_status(status: &mut Value, patch: &Value) {
    for (key, value) in patch.as_object().into_iter().flatten() {
        match value {
            Value::Null => {
                if let Some(fields) = status.as_object_mut() {
                    fields.remove(key);
                }
            }
            Value::Array(conditions) if key == "conditions" => {
                let mut merged: Vec<Value> = conditions.iter().map(without_nulls).collect();
                let others = status["conditions"].as_array().cloned().unwrap_or_default();
                for other in others {
                    if !merged.iter().any(|one| one["type"] == other["type"]) {
                        merged.push(other);
                    }
                }
                status["conditions"] = Value::Array(merged);
            }
            value => status[key] = value.clone(),
        }
    }
}

/// A condition without what a patch takes away; the time of a probe that never was stays null.
fn without_nulls(condition: &Value) -> Value {
    let fields = condition.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !value.is_null() || *key == "lastProbeTime")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Node names and reasons are JSON texts here and there.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// A rounded share of a number, as `maxSurge` and `maxUnavailable` have it.
pub(super) fn share(value: &Value, of: i64, rounds_up: bool) -> i64 {
    match value {
        Value::String(percent) => {
            let percent: i64 = percent.trim_end_matches('%').parse().unwrap_or(0);
            let hundredfold = percent * of;
            if rounds_up {
                (hundredfold + 99) / 100
            } else {
                hundredfold / 100
            }
        }
        other => other.as_i64().unwrap_or(0),
    }
}

/// A condition by its type, from a status that keeps the time of its last flip.
pub(super) fn set_condition(conditions: &mut Value, condition: Value, with_update_time: bool) {
    let list = match conditions {
        Value::Array(list) => list,
        other => {
            *other = json!([]);
            match other {
                Value::Array(list) => list,
                _ => return,
            }
        }
    };
    let mut condition = condition;
    match list.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(known) => {
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
                let is_same = ["reason", "message"]
                    .iter()
                    .all(|key| known[*key] == condition[*key]);
                if is_same && with_update_time {
                    condition["lastUpdateTime"] = known["lastUpdateTime"].clone();
                }
            }
            *known = condition;
        }
        None => list.push(condition),
    }
}

/// How often a kubelet renews its Lease.
const LEASE_EVERY_SECS: f64 = 10.0;
/// A kubelet reports its status every so many renewals even when nothing changed.
const STATUS_EVERY_RENEWALS: u64 = 30;
/// A node tells of so many images at most.
const IMAGES_TOLD: usize = 50;
/// What keeps Pods off a node that is not ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// A node, as its kubelet knows it.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) spec: NodeSpec,
    conditions: NodeConditions,
    boot: u32,
    pub(super) is_up: bool,
    pub(super) is_cordoned: bool,
    pub(super) images: BTreeSet<String>,
    told: Vec<String>,
    pub(super) pods: usize,
    addresses: u32,
    renewals: u64,
}

impl Machine {
    pub(super) fn next_pod_ip(&mut self) -> String {
        self.addresses += 1;
        self.spec.pod_ip(self.addresses)
    }

    pub(super) fn keep_image(&mut self, image: &str) {
        if self.images.insert(image.to_owned()) {
            self.told.push(image.to_owned());
            if self.told.len() > IMAGES_TOLD {
                // The oldest is collected: a later Pod pulls it again.
                let oldest = self.told.remove(0);
                self.images.remove(&oldest);
            }
        }
    }

    /// Whether the scheduler may put Pods here.
    pub(super) fn takes_pods(&self) -> bool {
        self.is_up && !self.is_cordoned && self.conditions.is_ready()
    }

    pub(super) fn is_ready_in(&self, boot_id: &str) -> bool {
        self.conditions.is_ready() && self.spec.boot_id(self.boot) == boot_id
    }
}

fn target(node: &str) -> Target {
    Target::cluster_wide("v1", "Node", node)
}

fn lease(node: &str) -> Target {
    Target::namespaced("coordination.k8s.io/v1", "Lease", "kube-node-lease", node)
}

impl World<'_> {
    pub(super) fn join(&mut self, spec: &NodeSpec, not_ready_secs: f64) {
        let name = spec.name.clone();
        let machine = Machine {
            spec: spec.clone(),
            conditions: NodeConditions::new(Readiness::NetworkMissing, &self.store.now.seconds()),
            boot: 1,
            is_up: true,
            is_cordoned: false,
            images: BTreeSet::new(),
            told: Vec::new(),
            pods: 0,
            addresses: 0,
            renewals: 0,
        };
        self.machines.insert(name.clone(), machine);
        self.store.create("kubelet", spec.to_object());
        self.write_node_status(&name);
        self.note_readiness(&name);
        self.say_about_node(&name, ("Starting", false), "Starting kubelet.");
        self.later(0.2, Task::Heartbeat(name.clone()));
        self.later(not_ready_secs, Task::Ready(name));
    }

    /// The controllers' side of a node's readiness: taints and what goes with them.
    fn note_readiness(&mut self, node: &str) {
        let Some(machine) = self.machines.get(node) else {
            return;
        };
        let is_ready = machine.conditions.is_ready();
        let at = self.store.now.seconds();
        self.store.update(
            "kube-controller-manager",
            &target(node),
            As::Update,
            |node| {
                node["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] = json!("0");
                let mut taints: Vec<Value> = node["spec"]
                    .get("taints")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                taints.retain(|taint| taint["key"] != NOT_READY);
                if !is_ready {
                    taints.push(json!({"key": NOT_READY, "effect": "NoSchedule", "timeAdded": at}));
                }
                set_taints(node, taints);
            },
        );
    }

    fn write_node_status(&mut self, node: &str) {
        let Some(machine) = self.machines.get(node) else {
            return;
        };
        let mut status = machine.spec.fixed_status(machine.boot);
        status["conditions"] = machine.conditions.to_status(&self.store.now.seconds());
        if machine.conditions.is_ready() {
            status["images"] = machine
                .told
                .iter()
                .map(|image| json!({"names": [image], "sizeBytes": 412_316_860}))
                .collect();
        }
        self.store
            .update("kubelet", &target(node), As::Status, |node| {
                node["status"] = status;
            });
    }

    /// Renews the node's Lease, and reports its status now and then.
    pub(super) fn heartbeat(&mut self, node: &str) {
        self.later(LEASE_EVERY_SECS, Task::Heartbeat(node.to_owned()));
        let Some(machine) = self.machines.get_mut(node) else {
            return;
        };
        if !machine.is_up {
            return;
        }
        machine.renewals += 1;
        let reports = machine.renewals.is_multiple_of(STATUS_EVERY_RENEWALS);
        let now = self.store.now.micros();
        if self.store.has(&lease(node)) {
            self.store
                .update("kubelet", &lease(node), As::Update, |lease| {
                    lease["spec"]["renewTime"] = json!(now);
                });
        } else {
            let uid = self
                .store
                .get(&target(node))
                .map(|node| node["metadata"]["uid"].clone());
            self.store.create("kubelet", json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {
                    "name": node,
                    "namespace": "kube-node-lease",
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}],
                },
                "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": now},
            }));
        }
        if reports {
            self.write_node_status(node);
        }
    }

    fn set_readiness(&mut self, node: &str, readiness: Readiness) {
        let now = self.store.now.seconds();
        if let Some(machine) = self.machines.get_mut(node) {
            machine.conditions.set(readiness, &now);
        }
        self.write_node_status(node);
        self.note_readiness(node);
    }

    pub(super) fn become_ready(&mut self, node: &str) {
        self.set_readiness(node, Readiness::Ready);
        let message = format!("Node {node} status is now: NodeReady");
        self.say_about_node(node, ("NodeReady", false), &message);
        // DaemonSets come to a new node.
        for set in self.store.all("apps/v1", "DaemonSet") {
            self.look(set);
        }
    }

    pub(super) fn reboot(&mut self, node: &str, down_secs: f64, not_ready_secs: f64) {
        self.set_readiness(node, Readiness::ShuttingDown);
        let message = format!("Node {node} status is now: NodeNotReady");
        self.say_about_node(node, ("NodeNotReady", false), &message);
        if let Some(machine) = self.machines.get_mut(node) {
            machine.is_up = false;
        }
        let not_ready = std::time::Duration::from_secs_f64(not_ready_secs.max(0.0));
        let millis = u32::try_from(not_ready.as_millis()).unwrap_or(u32::MAX);
        self.later(down_secs, Task::Return(node.to_owned(), millis));
    }

    pub(super) fn come_back(&mut self, node: &str, not_ready_millis: u32) {
        let Some(machine) = self.machines.get_mut(node) else {
            return;
        };
        machine.boot += 1;
        machine.is_up = true;
        let id = machine.spec.boot_id(machine.boot);
        self.say_about_node(node, ("Starting", false), "Starting kubelet.");
        self.set_readiness(node, Readiness::NetworkMissing);
        let message = format!("Node {node} has been rebooted, boot id: {id}");
        self.say_about_node(node, ("Rebooted", true), &message);
        self.restart_pods(node);
        self.later(
            f64::from(not_ready_millis) / 1000.0,
            Task::Ready(node.to_owned()),
        );
    }

    /// Counts the Pods of a node, for the scheduler.
    pub(super) fn count_pods(&mut self, node: &str) {
        let pods = self
            .running
            .values()
            .filter(|running| running.node == node)
            .count();
        if let Some(machine) = self.machines.get_mut(node) {
            machine.pods = pods;
        }
    }

    /// Evicts what may go, and comes again as long as something is left; nobody drains a node that
    /// takes Pods again.
    pub(super) fn drain(&mut self, node: &str) {
        let left: Vec<_> = self.to_be_drained(node);
        let machine = self.machines.get(node);
        if left.is_empty() || machine.is_none_or(|machine| !machine.is_cordoned) {
            return;
        }
        for pod in left.into_iter().filter(|pod| !pod.is_dying) {
            if self.may_evict(&pod) {
                self.delete_pod(&pod, None, "machine-config-controller");
                self.react();
            }
        }
        self.later(5.0, Task::Drain(node.to_owned()));
    }

    /// The Pods of a node that a drain takes away.
    pub(super) fn to_be_drained(&self, node: &str) -> Vec<Facts> {
        self.pods
            .values()
            .filter(|pod| pod.node == node)
            .filter(|pod| {
                pod.owner
                    .as_ref()
                    .is_none_or(|owner| owner.kind != "DaemonSet")
            })
            .cloned()
            .collect()
    }

    /// Follows what others write to a node.
    pub(super) fn note_cordon(&mut self, node: &str) {
        let is_cordoned = self
            .store
            .get(&target(node))
            .is_some_and(|node| node["spec"]["unschedulable"] == true);
        if let Some(machine) = self.machines.get_mut(node) {
            machine.is_cordoned = is_cordoned;
        }
    }
}

fn set_taints(node: &mut Value, taints: Vec<Value>) {
    if taints.is_empty() {
        if let Some(spec) = node["spec"].as_object_mut() {
            spec.remove("taints");
        }
    } else {
        node["spec"]["taints"] = Value::Array(taints);
    }
}
