//! Nodes: they join, give signs of life, go down and come back.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::store::As;
use super::world::{Task, World};
use crate::kubelet::{NodeConditions, NodeSpec, Readiness};
use crate::rest::Target;

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
    pub(super) fn to_be_drained(&self, node: &str) -> Vec<super::pod::Facts> {
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
