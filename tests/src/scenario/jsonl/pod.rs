//! Pods: what the controllers need to know of each, their making, their deletion and their node.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::player::{Instant, What};
use super::store::{As, Task, World, owner, text};
use crate::kubelet::{Life, NodeRole, PodView};
use crate::rest::Target;

/// What the controllers need to know of a Pod.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) target: Target,
    pub(super) uid: String,
    pub(super) owner_uid: String,
    pub(super) owner: Option<Target>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) node: String,
    pub(super) ip: String,
    pub(super) phase: String,
    pub(super) is_ready: bool,
    pub(super) is_dying: bool,
    pub(super) is_apart: bool,
    pub(super) started: String,
}

/// A Pod on its node.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) view: PodView,
    pub(super) life: Life,
    pub(super) next: Option<crate::kubelet::Beat>,
    pub(super) node: String,
}

impl Facts {
    fn of(target: &Target, pod: &Value) -> Self {
        let meta = &pod["metadata"];
        let owned_by = &meta["ownerReferences"][0];
        let labels = meta["labels"].as_object().into_iter().flatten();
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let owner = owned_by["name"].as_str().map(|name| {
            Target::namespaced(
                &text(&owned_by["apiVersion"]),
                &text(&owned_by["kind"]),
                &text(&meta["namespace"]),
                name,
            )
        });
        Self {
            target: target.clone(),
            uid: text(&meta["uid"]),
            owner_uid: text(&owned_by["uid"]),
            owner,
            labels: labels
                .map(|(key, value)| (key.clone(), text(value)))
                .collect(),
            node: text(&pod["spec"]["nodeName"]),
            ip: text(&pod["status"]["podIP"]),
            phase: text(&pod["status"]["phase"]),
            is_ready: conditions
                .into_iter()
                .any(|one| one["type"] == "Ready" && one["status"] == "True"),
            is_dying: meta["deletionTimestamp"].is_string(),
            is_apart: pod["spec"]["affinity"].get("podAntiAffinity").is_some(),
            started: text(&pod["status"]["startTime"]),
        }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether a selector's labels are all there.
    pub(super) fn has_labels(&self, selector: &Value) -> bool {
        let mut wanted = selector.as_object().into_iter().flatten();
        wanted.all(|(key, value)| self.labels.get(key).map(String::as_str) == value.as_str())
    }
}

impl World<'_> {
    /// The Pods of a namespace.
    pub(super) fn pods_in(&self, namespace: &str) -> impl Iterator<Item = &Facts> {
        let end = namespace.to_owned();
        self.pods
            .range((namespace.to_owned(), String::new())..)
            .take_while(move |((namespace, _), _)| *namespace == end)
            .map(|(_, facts)| facts)
    }

    /// The Pods of an owner.
    pub(super) fn pods_of(&self, namespace: &str, owner_uid: &str) -> Vec<Facts> {
        self.pods_in(namespace)
            .filter(|pod| pod.owner_uid == owner_uid)
            .cloned()
            .collect()
    }

    /// Makes a Pod from a template.
    pub(super) fn make_pod(
        &mut self,
        by_owner: &Value,
        template: &Value,
        name: Option<&str>,
        more: &[(&str, &str)],
    ) -> Option<String> {
        let mut meta = template["metadata"].clone();
        for (key, value) in more {
            meta["labels"][*key] = json!(value);
        }
        meta["namespace"] = by_owner["metadata"]["namespace"].clone();
        meta["ownerReferences"] = owner(by_owner);
        let start = text(&by_owner["metadata"]["name"]);
        let name = name.map_or_else(
            || format!("{start}-{}", self.store.random.suffix(5)),
            ToOwned::to_owned,
        );
        if by_owner["kind"] != "StatefulSet" {
            meta["generateName"] = json!(format!("{start}-"));
        }
        meta["name"] = json!(name);
        let pod =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]});
        self.store
            .create("kube-controller-manager", pod)
            .map(|_uid| name)
    }

    pub(super) fn see_pod(&mut self, target: &Target, what: What, pod: &Value) {
        let key = (
            target.namespace.clone().unwrap_or_default(),
            target.name.clone(),
        );
        let facts = Facts::of(target, pod);
        let before = if what == What::Deleted {
            self.running.remove(target);
            self.pods.remove(&key)
        } else {
            self.pods.insert(key, facts.clone())
        };
        if what != What::Deleted && facts.node.is_empty() && !facts.is_dying {
            let secs = self.store.random.millis(5, 60);
            self.later(secs, Task::Schedule(target.clone()));
        }
        let is_bound = before.as_ref().is_none_or(|before| before.node.is_empty());
        if what != What::Deleted && is_bound && !facts.node.is_empty() {
            self.take_on(target, pod, &facts);
        }
        if let Some(owner) = facts.owner.clone() {
            self.look(owner);
        }
        let is_other = before.as_ref().is_none_or(|before| {
            (before.is_ready, before.is_dying, &before.ip)
                != (facts.is_ready, facts.is_dying, &facts.ip)
        });
        if is_other || what == What::Deleted {
            self.look_around(&facts);
        }
    }

    /// Those who count a Pod look again: Services and budgets.
    fn look_around(&mut self, pod: &Facts) {
        let namespace = pod.target.namespace.clone().unwrap_or_default();
        let app = pod.labels.get("app").cloned().unwrap_or_default();
        for (api_version, kind) in [("v1", "Service"), ("policy/v1", "PodDisruptionBudget")] {
            // By name: both are named for the app that they stand before.
            let target = Target::namespaced(api_version, kind, &namespace, &app);
            if self.store.has(&target) {
                self.look(target);
            }
        }
    }

    /// The scheduler finds a node, or says why not and tries again.
    pub(super) fn schedule(&mut self, target: &Target) {
        let Some(pod) = self.store.get(target) else {
            return;
        };
        if pod["spec"]["nodeName"].is_string() || pod["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        let Some(node) = self.find_node(target, &pod) else {
            self.refuse_to_schedule(target, &pod);
            return;
        };
        let now = self.store.now.seconds();
        self.store.update("kube-scheduler", target, As::Update, |pod| {
            pod["spec"]["nodeName"] = json!(node);
            let conditions = &mut pod["status"]["conditions"];
            *conditions = json!([{
                "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
            }]);
        });
        let name = format!(
            "{}/{}",
            target.namespace.as_deref().unwrap_or_default(),
            target.name
        );
        let message = format!("Successfully assigned {name} to {node}");
        self.say_about(
            &pod,
            "default-scheduler",
            "default-scheduler",
            ("Scheduled", false),
            &message,
        );
    }

    fn refuse_to_schedule(&mut self, target: &Target, pod: &Value) {
        let nodes = self.machines.len();
        let message = format!(
            "0/{nodes} nodes are available: {nodes} node(s) didn't match Pod's node affinity/selector. preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling."
        );
        let now = self.store.now.seconds();
        let told = message.clone();
        let is_first = self
            .store
            .update("kube-scheduler", target, As::Update, |pod| {
                if pod["status"]["conditions"].is_null() {
                    pod["status"]["conditions"] = json!([{
                        "type": "PodScheduled", "status": "False", "lastProbeTime": null,
                        "lastTransitionTime": now, "reason": "Unschedulable", "message": told,
                    }]);
                }
            });
        if is_first {
            self.say_about(
                pod,
                "default-scheduler",
                "default-scheduler",
                ("FailedScheduling", true),
                &message,
            );
        }
        self.later(1.0, Task::Schedule(target.clone()));
    }

    fn find_node(&self, target: &Target, pod: &Value) -> Option<String> {
        let spec = &pod["spec"];
        let bound = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"][0]["matchFields"][0]["values"][0];
        if let Some(node) = bound.as_str() {
            return self.machines.contains_key(node).then(|| node.to_owned());
        }
        let role = |role: NodeRole| format!("node-role.kubernetes.io/{}", role.name());
        let tolerates = spec["tolerations"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|one| one["key"] == role(NodeRole::Master).as_str() || one["key"].is_null());
        let is_apart = spec["affinity"].get("podAntiAffinity").is_some();
        let namespace = target.namespace.as_deref().unwrap_or_default();
        let app = &pod["metadata"]["labels"]["app"];
        let taken: Vec<&str> = self
            .pods_in(namespace)
            .filter(|other| is_apart && other.target != *target)
            .filter(|other| other.is_apart && !other.is_over())
            .filter(|other| other.labels.get("app").map(String::as_str) == app.as_str())
            .map(|other| other.node.as_str())
            .collect();
        self.machines
            .iter()
            .filter(|(_, machine)| machine.takes_pods())
            .filter(|(_, machine)| {
                spec["nodeSelector"].get(role(machine.spec.role)).is_some()
                    || spec.get("nodeSelector").is_none() && machine.spec.role == NodeRole::Worker
            })
            .filter(|(_, machine)| machine.spec.role == NodeRole::Worker || tolerates)
            .filter(|(name, _)| !taken.contains(&name.as_str()))
            .min_by_key(|(name, machine)| (machine.pods, (*name).clone()))
            .map(|(name, _)| name.clone())
    }

    /// Deletes a Pod as a client does: its kubelet ends it, unless it has none or it is by force.
    pub(super) fn delete_pod(&mut self, pod: &Facts, grace_secs: Option<u32>, by: &str) {
        let grace = grace_secs.unwrap_or(30);
        let target = pod.target.clone();
        if grace == 0 || pod.node.is_empty() || pod.is_over() {
            // The server writes what it does at once as it writes what takes a while.
            let at = self.store.now.seconds();
            self.store.update(by, &target, As::Update, |pod| {
                pod["metadata"]["deletionTimestamp"] = json!(at);
                pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            });
            self.store.remove(&target);
            return;
        }
        if pod.is_dying {
            return;
        }
        let at = self.store.now.after_secs(f64::from(grace)).seconds();
        self.store.update(by, &target, As::Update, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!(at);
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        });
        if let Some(running) = self.running.get(&target) {
            let names: Vec<String> = running
                .view
                .containers
                .iter()
                .filter(|container| container.is_running())
                .map(|container| container.name.clone())
                .collect();
            let node = running.node.clone();
            if let Some(pod) = self.store.get(&target) {
                for name in names {
                    let path = format!("spec.containers{{{name}}}");
                    let message = format!("Stopping container {name}");
                    self.say_of_kubelet(&pod, &node, Some(path), ("Killing", false), &message);
                }
            }
        }
        self.later(1.5, Task::Finish(target, pod.uid.clone()));
    }
}

/// The name of a Pod's container as an Event's field path has it.
pub(super) fn field_path(view: &PodView, index: usize) -> Option<String> {
    let list = if view.is_init(index) {
        "initContainers"
    } else {
        "containers"
    };
    let name = &view.containers.get(index)?.name;
    Some(path(list, name))
}

/// An Event that may be said again.
#[derive(Debug)]
pub(super) struct Said {
    target: Target,
    count: u32,
}

/// The place in a Pod that an Event is about.
pub(super) fn path(list: &str, container: &str) -> String {
    format!("spec.{list}{{{container}}}")
}

impl World<'_> {
    /// A controller says something about an object.
    pub(super) fn say_about(
        &mut self,
        object: &Value,
        by: &str,
        component: &str,
        what: (&str, bool),
        message: &str,
    ) {
        let about = reference(object, None);
        let source = json!({"component": component});
        self.say(by, &about, &source, what, message);
    }

    /// A kubelet says something about a Pod.
    pub(super) fn say_of_kubelet(
        &mut self,
        pod: &Value,
        node: &str,
        path: Option<String>,
        what: (&str, bool),
        message: &str,
    ) {
        let about = reference(pod, path);
        let source = json!({"component": "kubelet", "host": node});
        self.say("kubelet", &about, &source, what, message);
    }

    /// A kubelet says something about its node.
    pub(super) fn say_about_node(&mut self, node: &str, what: (&str, bool), message: &str) {
        // A kubelet gives its node's name as the uid.
        let about = json!({"kind": "Node", "apiVersion": "v1", "name": node, "uid": node});
        let source = json!({"component": "kubelet", "host": node});
        self.say("kubelet", &about, &source, what, message);
    }

    fn say(
        &mut self,
        by: &str,
        about: &Value,
        source: &Value,
        (reason, is_warning): (&str, bool),
        message: &str,
    ) {
        let key = format!(
            "{}\0{}\0{reason}\0{message}",
            text(&about["uid"]),
            text(&about["fieldPath"])
        );
        let now = self.store.now.seconds();
        if let Some(said) = self.said.get_mut(&key) {
            said.count += 1;
            let (target, count) = (said.target.clone(), said.count);
            self.store.update(by, &target, As::Update, |event| {
                event["count"] = json!(count);
                event["lastTimestamp"] = json!(now);
            });
            return;
        }
        let namespace = about["namespace"].as_str().unwrap_or("default").to_owned();
        let name = format!("{}.18{}", text(&about["name"]), self.store.random.hex(14));
        let component = source["component"].clone();
        let instance = source.get("host").cloned().unwrap_or_else(|| json!(""));
        self.store.create(
            by,
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": namespace},
                "involvedObject": about,
                "reason": reason,
                "message": message,
                "source": source,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "type": if is_warning { "Warning" } else { "Normal" },
                "eventTime": null,
                "reportingComponent": component,
                "reportingInstance": instance,
            }),
        );
        let target = Target::namespaced("v1", "Event", &namespace, &name);
        self.said.insert(key, Said { target, count: 1 });
    }

    /// An Event's time is over: the server forgets it, and so do those who said it.
    pub(super) fn expire(&mut self, event: &Target) {
        let Some(object) = self.store.get(event) else {
            return;
        };
        // Saying it again has given it a new time.
        let last: Option<jiff::Timestamp> = text(&object["lastTimestamp"]).parse().ok();
        if let Some(last) = last {
            let over = Instant(last.as_microsecond()).after_secs(self.event_ttl_secs);
            if over > self.store.now {
                self.at(over, Task::Expire(event.clone()));
                return;
            }
        }
        let about = &object["involvedObject"];
        let key = format!(
            "{}\0{}\0{}\0{}",
            text(&about["uid"]),
            text(&about["fieldPath"]),
            text(&object["reason"]),
            text(&object["message"])
        );
        self.said.remove(&key);
        self.store.remove(event);
    }
}

fn reference(object: &Value, path: Option<String>) -> Value {
    let meta = &object["metadata"];
    let mut about = json!({
        "kind": object["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": object["apiVersion"],
        "resourceVersion": meta["resourceVersion"],
    });
    if meta["namespace"].is_string() {
        about["namespace"] = meta["namespace"].clone();
    }
    if let Some(path) = path {
        about["fieldPath"] = json!(path);
    }
    about
}
