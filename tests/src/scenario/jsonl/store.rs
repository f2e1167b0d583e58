//! The objects there are, as the API server keeps them: it gives uids, versions and generations,
//! notes who set which fields, and says every change as a line.
//!
//! Objects are kept as the text that was said last: the memory of a run is that of its live objects.
//! Refuses to know what the changes mean.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::super::plan::Leader;
use super::deployment::SetFacts;
use super::kubelet::Machine;
use super::owned::{self, Fields};
use super::player::{Instant, Lines, Random, What};
use super::pod::Said;
use super::pod::{Facts, Running};
use super::shape::{Served, shape_of};
use super::{defaults, shape};
use crate::kubelet::FateBook;
use crate::kubelet::node::uuid;
use crate::rest::Target;

/// A change, for those who react to it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) target: Target,
    pub(super) what: What,
    pub(super) object: Value,
}

pub(super) struct Store<'w> {
    pub(super) lines: Lines<'w>,
    pub(super) now: Instant,
    pub(super) random: Random,
    objects: BTreeMap<Target, Box<str>>,
    version: u64,
    pub(super) seen: VecDeque<Seen>,
    pub(super) live_most: usize,
    /// The Services' addresses given so far.
    addresses: u64,
}

/// In which way something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Update,
    /// By the subresource of the status.
    Status,
    /// By server-side apply.
    Apply,
}

impl As {
    fn operation(self) -> &'static str {
        if self == Self::Apply {
            "Apply"
        } else {
            "Update"
        }
    }

    fn subresource(self) -> Option<&'static str> {
        (self == Self::Status).then_some("status")
    }
}

/// The resourceVersion that the first object gets.
const FIRST_VERSION: u64 = 5;

impl<'w> Store<'w> {
    pub(super) fn new(lines: Lines<'w>, now: Instant, seed: u64) -> Self {
        Self {
            lines,
            now,
            random: Random::new(seed),
            objects: BTreeMap::new(),
            version: FIRST_VERSION,
            seen: VecDeque::new(),
            live_most: 0,
            addresses: 0,
        }
    }

    pub(super) fn live(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn has(&self, target: &Target) -> bool {
        self.objects.contains_key(target)
    }

    /// An object as it is now.
    pub(super) fn get(&self, target: &Target) -> Option<Value> {
        // What was written here can be read.
        serde_json::from_str(self.objects.get(target)?).ok()
    }

    /// The names of a kind's objects in a namespace.
    pub(super) fn in_namespace(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> Vec<Target> {
        let from = Target::namespaced(api_version, kind, namespace, "");
        self.objects
            .range(from..)
            .map(|(target, _)| target)
            .take_while(|target| {
                target.kind == kind
                    && target.api_version == api_version
                    && target.namespace.as_deref() == Some(namespace)
            })
            .cloned()
            .collect()
    }

    /// All objects of a kind.
    pub(super) fn all(&self, api_version: &str, kind: &str) -> Vec<Target> {
        let from = Target::cluster_wide(api_version, kind, "");
        self.objects
            .range(from..)
            .map(|(target, _)| target)
            .take_while(|target| target.kind == kind && target.api_version == api_version)
            .cloned()
            .collect()
    }

    /// Every write takes the server a moment.
    fn next_version(&mut self) -> String {
        let micros = self.random.between(180, 1_400);
        self.now.0 += i64::try_from(micros).unwrap_or_default();
        self.version += 1;
        self.version.to_string()
    }

    /// Creates an object; gives its uid, `None` if there is one already or nobody serves the kind.
    pub(super) fn create(&mut self, by: &str, object: Value) -> Option<String> {
        self.create_as(by, As::Update, object)
    }

    /// Creates an object by an update or by server-side apply.
    pub(super) fn create_as(&mut self, by: &str, way: As, mut object: Value) -> Option<String> {
        if object["metadata"]["name"].is_null() {
            let start = object["metadata"]["generateName"].as_str()?;
            object["metadata"]["name"] = json!(format!("{start}{}", self.random.suffix(5)));
        }
        let target = Target::of(&object)?;
        let served = Served::of(&target.api_version, &target.kind)?;
        if self.has(&target) {
            return None;
        }
        if target.kind == "Service" {
            self.addresses += 1;
            let address = format!(
                "10.96.{}.{}",
                self.addresses / 250,
                4 + self.addresses % 250
            );
            object["spec"]["clusterIP"] = json!(address);
        }
        defaults::fill(&mut object);
        let uid = self.random.uuid();
        let fields = owned::changed(shape_of(&target.kind), &Value::Null, &object);
        if target.kind == "Pod" {
            let suffix = self.random.suffix(5);
            defaults::admit(&mut object, &suffix);
        }
        let status_of_its_own = !matches!(target.kind.as_str(), "Event" | "Lease" | "Endpoints");
        object["metadata"]["uid"] = json!(uid);
        object["metadata"]["creationTimestamp"] = json!(self.now.seconds());
        if served.has_generation {
            object["metadata"]["generation"] = json!(1);
        }
        let mut fields = fields;
        if status_of_its_own {
            fields.remove("f:status");
        }
        // Nobody applied the account that every namespace has.
        if target.kind != "ServiceAccount" {
            own(&mut object, by, way, &fields, &self.now.seconds());
        }
        self.say(target, What::Added, object);
        Some(uid)
    }

    /// Changes an object, or nothing if nothing is other than before; true when there was a change.
    pub(super) fn update(
        &mut self,
        by: &str,
        target: &Target,
        way: As,
        edit: impl FnOnce(&mut Value),
    ) -> bool {
        let (Some(before), Some(served)) = (
            self.get(target),
            Served::of(&target.api_version, &target.kind),
        ) else {
            return false;
        };
        let mut after = before.clone();
        edit(&mut after);
        if before == after {
            return false;
        }
        let is_new_generation = ["spec", "endpoints"]
            .iter()
            .any(|part| before.get(part) != after.get(part));
        let is_dying =
            before["metadata"]["deletionTimestamp"] != after["metadata"]["deletionTimestamp"];
        if served.has_generation
            && (is_dying || is_new_generation && !(target.kind == "Pod" && by == "kube-scheduler"))
        {
            let generation = before["metadata"]["generation"].as_i64().unwrap_or(0);
            after["metadata"]["generation"] = json!(generation + 1);
        }
        // Binding a Pod leaves no manager behind, as on a real server.
        if by != "kube-scheduler" && !is_dying {
            let fields = owned::changed(shape_of(&target.kind), &before, &after);
            own(&mut after, by, way, &fields, &self.now.seconds());
        }
        self.say(target.clone(), What::Modified, after);
        true
    }

    /// Takes an object away.
    pub(super) fn remove(&mut self, target: &Target) -> bool {
        let Some(object) = self.get(target) else {
            return false;
        };
        self.say(target.clone(), What::Deleted, object);
        true
    }

    fn say(&mut self, target: Target, what: What, mut object: Value) {
        let Some(served) = Served::of(&target.api_version, &target.kind) else {
            return;
        };
        object["metadata"]["resourceVersion"] = json!(self.next_version());
        let mut text = String::new();
        shape::write(&object, shape_of(&target.kind), &mut text);
        self.lines.put(self.now, what, &served, &text);
        if what == What::Deleted {
            self.objects.remove(&target);
        } else {
            self.objects.insert(target.clone(), text.into_boxed_str());
            self.live_most = self.live_most.max(self.objects.len());
        }
        self.seen.push_back(Seen {
            target,
            what,
            object,
        });
    }
}

/// Notes that a manager set fields: others lose them.
fn own(object: &mut Value, by: &str, way: As, fields: &Fields, at: &str) {
    if fields.is_empty() {
        return;
    }
    let api_version = object["apiVersion"].clone();
    let mut entries = match object["metadata"]["managedFields"].take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    let is_own = |entry: &Value| {
        entry["manager"] == by
            && entry["operation"] == way.operation()
            && entry["subresource"].as_str() == way.subresource()
    };
    let mut own = Fields::new();
    for entry in &mut entries {
        let is_own = is_own(entry);
        if let Value::Object(set) = &mut entry["fieldsV1"] {
            if is_own {
                own = std::mem::take(set);
            } else {
                owned::take(set, fields);
            }
        }
    }
    entries.retain(|entry| {
        !is_own(entry)
            && entry["fieldsV1"]
                .as_object()
                .is_some_and(|set| !set.is_empty())
    });
    owned::add(&mut own, fields);
    let mut entry = json!({
        "manager": by,
        "operation": way.operation(),
        "apiVersion": api_version,
        "time": at,
        "fieldsType": "FieldsV1",
        "fieldsV1": own,
    });
    if let Some(subresource) = way.subresource() {
        entry["subresource"] = json!(subresource);
    }
    entries.push(entry);
    object["metadata"]["managedFields"] = Value::Array(entries);
}

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
    pub(super) leases: BTreeMap<Target, Held>,
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

/// Leaders claim their Leases for so long.
const DURATION_SECS: u32 = 137;

/// A Lease as it was last written.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Empty when nobody leads.
    holder: String,
    /// Who led last, or leads.
    pub(super) last_holder: String,
    transitions: u32,
}

impl World<'_> {
    /// Takes or renews a Lease, if somebody is there to lead.
    pub(super) fn lead(&mut self, by: &str, lease: &Target, leader: &Leader) {
        let Some(holder) = self.find_leader(leader) else {
            return;
        };
        let now = self.store.now.micros();
        let held = self.leases.get(lease).cloned();
        let transitions = match &held {
            None => 0,
            Some(held) if held.holder == holder => held.transitions,
            Some(held) => held.transitions + 1,
        };
        if held.as_ref().is_some_and(|held| held.holder == holder) {
            self.store.update(by, lease, As::Update, |lease| {
                lease["spec"]["renewTime"] = json!(now);
            });
        } else {
            let spec = json!({
                "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
                "acquireTime": now, "renewTime": now, "leaseTransitions": transitions,
            });
            self.write_lease(by, lease, spec);
        }
        let held = Held {
            last_holder: holder.clone(),
            holder,
            transitions,
        };
        self.leases.insert(lease.clone(), held);
    }

    /// Gives a Lease up, as a leader that ends in good order does.
    pub(super) fn resign(&mut self, by: &str, lease: &Target) {
        let now = self.store.now.micros();
        let Some(held) = self.leases.get_mut(lease) else {
            return;
        };
        held.holder.clear();
        let transitions = held.transitions;
        let spec = json!({
            "holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now,
            "leaseTransitions": transitions,
        });
        self.write_lease(by, lease, spec);
    }

    fn write_lease(&mut self, by: &str, lease: &Target, spec: Value) {
        if self.store.has(lease) {
            self.store
                .update(by, lease, As::Update, |lease| lease["spec"] = spec);
        } else {
            self.store.create(
                by,
                json!({
                    "apiVersion": lease.api_version,
                    "kind": lease.kind,
                    "metadata": {"namespace": lease.namespace, "name": lease.name},
                    "spec": spec,
                }),
            );
        }
    }

    /// The identity of whoever leads now: the newest running Pod of the app.
    fn find_leader(&self, leader: &Leader) -> Option<String> {
        let (namespace, app) = match leader {
            Leader::Outsider { name } => return Some(name.clone()),
            Leader::PodOf { namespace, app } | Leader::NodeOf { namespace, app } => {
                (namespace, app)
            }
        };
        let pods = self.pods_in(namespace).filter(|pod| {
            pod.labels.get("app") == Some(app) && pod.phase == "Running" && !pod.is_dying
        });
        let newest = pods.max_by_key(|pod| (pod.started.clone(), pod.uid.clone()))?;
        let name = match leader {
            Leader::NodeOf { .. } => &newest.node,
            _ => &newest.target.name,
        };
        Some(format!("{name}_{}", uuid(&["leader", &newest.uid])))
    }
}

/// What the `ConfigMap` with the cluster's certificate says of itself.
const DESCRIBED: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// The namespaces that every cluster has.
const OWN: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl World<'_> {
    /// What a server makes for itself when it starts for the first time.
    pub(super) fn bootstrap(&mut self) {
        for name in OWN {
            self.store.create(
                "kube-apiserver",
                json!({
                    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
                }),
            );
        }
        self.store.create(
            "kube-apiserver",
            json!({
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {
                    "name": "kubernetes", "namespace": "default",
                    "labels": {"component": "apiserver", "provider": "kubernetes"},
                },
                "spec": {"ports": [{"name": "https", "port": 443, "targetPort": 6443}]},
            }),
        );
        for (name, value) in [
            ("system-cluster-critical", 2_000_000_000_i64),
            ("system-node-critical", 2_000_001_000),
        ] {
            self.store.create(
                "kube-apiserver",
                json!({
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                    "description": "Used for system critical pods.",
                    "preemptionPolicy": "PreemptLowerPriority",
                }),
            );
        }
        self.react();
    }

    /// Every namespace has an account and the cluster's certificate.
    pub(super) fn furnish(&mut self, namespace: &str) {
        // An account has no managed fields: nobody applied it.
        self.store.create(
            "kube-controller-manager",
            json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": namespace},
            }),
        );
        let certificate = "A".repeat(64);
        let lines = [certificate.as_str(); 9].join("\n");
        self.store.create("kube-controller-manager", json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "kube-root-ca.crt",
                "namespace": namespace,
                "annotations": {"kubernetes.io/description": DESCRIBED},
            },
            "data": {"ca.crt": format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")},
        }));
    }

    /// A definition's names are accepted, and it is served.
    pub(super) fn establish(&mut self, target: &Target) {
        let now = self.store.now.seconds();
        for established in [false, true] {
            self.store.update("kube-apiserver", target, As::Status, |definition| {
                let condition = |kind: &str, reason: &str, message: &str| {
                    json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message})
                };
                let mut conditions = vec![condition("NamesAccepted", "NoConflicts", "no conflicts found")];
                if established {
                    conditions.push(condition("Established", "InitialNamesAccepted", "the initial names have been accepted"));
                }
                let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
                let stored: Vec<_> = versions.filter(|version| version["storage"] == true).map(|version| version["name"].clone()).collect();
                definition["status"] = json!({
                    "conditions": conditions,
                    "acceptedNames": definition["spec"]["names"],
                    "storedVersions": stored,
                });
            });
        }
    }
}
