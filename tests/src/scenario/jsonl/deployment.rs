//! Deployments: one `ReplicaSet` a template, the new one up and the old ones down step by step.

use serde_json::{Value, json};

use super::kubelet::{number, set_condition, share};
use super::player::What;
use super::pod::Facts;
use super::store::{As, World, owner, text};
use crate::kubelet::node::hex;
use crate::rest::Target;

const BY: &str = "kube-controller-manager";
const COMPONENT: &str = "deployment-controller";

/// The name that a template gives its `ReplicaSet`.
pub(super) fn hash_of(template: &Value) -> String {
    hex(&[&template.to_string()], 10)
}

impl World<'_> {
    pub(super) fn look_at_deployment(&mut self, target: &Target) {
        let Some(deployment) = self.store.get(target) else {
            return;
        };
        let namespace = target.namespace.clone().unwrap_or_default();
        let hash = hash_of(&deployment["spec"]["template"]);
        let uid = text(&deployment["metadata"]["uid"]);
        let sets = self.sets_of(&namespace, &uid);
        let wanted = number(&deployment["spec"]["replicas"]);
        let Some(new) = sets.iter().find(|set| set.hash == hash).cloned() else {
            self.begin_rollout(&deployment, &sets, &hash, wanted);
            return;
        };
        let newest = sets.iter().map(|set| set.revision).max().unwrap_or(0);
        let revision = if new.revision < newest {
            newest + 1
        } else {
            new.revision
        };
        self.write_revision(target, &new, revision);
        let rolling = &deployment["spec"]["strategy"]["rollingUpdate"];
        let surge = share(&rolling["maxSurge"], wanted, true);
        let unavailable = share(&rolling["maxUnavailable"], wanted, false);
        let (surge, unavailable) = if surge + unavailable == 0 {
            (0, 1)
        } else {
            (surge, unavailable)
        };
        let all: i64 = sets.iter().map(|set| set.wanted).sum();
        let up = (wanted + surge - all).min(wanted - new.wanted);
        if up > 0 {
            self.scale(&deployment, &new, new.wanted + up);
        } else if new.wanted > wanted {
            self.scale(&deployment, &new, wanted);
        }
        self.scale_old_down(&deployment, &sets, &new, wanted - unavailable);
        self.write_deployment_status(target, &deployment, &sets, &new, wanted);
        self.forget_old_sets(&deployment, &sets, &new);
    }

    fn begin_rollout(&mut self, deployment: &Value, sets: &[SetFacts], hash: &str, wanted: i64) {
        let rolling = &deployment["spec"]["strategy"]["rollingUpdate"];
        let all: i64 = sets.iter().map(|set| set.wanted).sum();
        let surge = share(&rolling["maxSurge"], wanted, true);
        let first = (wanted + surge - all).clamp(0, wanted);
        let revision = sets.iter().map(|set| set.revision).max().unwrap_or(0) + 1;
        let name = format!("{}-{hash}", text(&deployment["metadata"]["name"]));
        let mut template = deployment["spec"]["template"].clone();
        template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
        let mut selector = deployment["spec"]["selector"].clone();
        selector["matchLabels"]["pod-template-hash"] = json!(hash);
        self.store.create(
            BY,
            json!({
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": name,
                    "namespace": deployment["metadata"]["namespace"],
                    "labels": template["metadata"]["labels"],
                    "annotations": {
                        "deployment.kubernetes.io/desired-replicas": wanted.to_string(),
                        "deployment.kubernetes.io/max-replicas": (wanted + surge).to_string(),
                        "deployment.kubernetes.io/revision": revision.to_string(),
                    },
                    "ownerReferences": owner(deployment),
                },
                "spec": {"replicas": first, "selector": selector, "template": template},
            }),
        );
        self.told_scaling(deployment, &name, 0, first);
    }

    fn told_scaling(&mut self, deployment: &Value, set: &str, from: i64, to: i64) {
        let way = if to >= from { "up" } else { "down" };
        let message = format!("Scaled {way} replica set {set} from {from} to {to}");
        self.say_about(
            deployment,
            BY,
            COMPONENT,
            ("ScalingReplicaSet", false),
            &message,
        );
    }

    fn scale(&mut self, deployment: &Value, set: &SetFacts, to: i64) {
        self.store.update(BY, &set.target, As::Update, |set| {
            set["spec"]["replicas"] = json!(to);
        });
        self.told_scaling(deployment, &set.target.name, set.wanted, to);
    }

    /// Takes old Pods away as far as enough stay available.
    fn scale_old_down(
        &mut self,
        deployment: &Value,
        sets: &[SetFacts],
        new: &SetFacts,
        least: i64,
    ) {
        let ready: i64 = sets.iter().map(|set| set.ready).sum();
        let mut spare = ready - least;
        for old in sets
            .iter()
            .filter(|set| set.hash != new.hash && set.wanted > 0)
        {
            let broken = (old.wanted - old.ready).max(0);
            let down = (broken + spare.clamp(0, old.ready.max(0))).min(old.wanted);
            if down > 0 {
                spare -= down - broken;
                self.scale(deployment, old, old.wanted - down);
            }
        }
    }

    fn write_revision(&mut self, target: &Target, new: &SetFacts, revision: i64) {
        const KEY: &str = "deployment.kubernetes.io/revision";
        self.store.update(BY, &new.target, As::Update, |set| {
            set["metadata"]["annotations"][KEY] = json!(revision.to_string());
        });
        self.store.update(BY, target, As::Update, |deployment| {
            deployment["metadata"]["annotations"][KEY] = json!(revision.to_string());
        });
    }

    fn write_deployment_status(
        &mut self,
        target: &Target,
        deployment: &Value,
        sets: &[SetFacts],
        new: &SetFacts,
        wanted: i64,
    ) {
        let replicas: i64 = sets.iter().map(|set| set.replicas).sum();
        let ready: i64 = sets.iter().map(|set| set.ready).sum();
        let namespace = target.namespace.as_deref().unwrap_or_default();
        let dying = sets
            .iter()
            .flat_map(|set| self.pods_of(namespace, &set.uid))
            .filter(|pod| pod.is_dying)
            .count();
        let rolling = &deployment["spec"]["strategy"]["rollingUpdate"];
        let least = wanted - share(&rolling["maxUnavailable"], wanted, false);
        let now = self.store.now.seconds();
        let name = new.target.name.clone();
        let is_done = new.replicas == wanted && new.ready == wanted && replicas == wanted;
        self.store.update(BY, target, As::Status, |deployment| {
            let mut conditions = deployment["status"]["conditions"].clone();
            judge(&mut conditions, &name, is_done, ready >= least, &now);
            let mut status = json!({
                "observedGeneration": deployment["metadata"]["generation"],
                "terminatingReplicas": dying,
                "conditions": conditions,
            });
            for (key, value) in [
                ("replicas", replicas),
                ("updatedReplicas", new.replicas),
                ("readyReplicas", ready),
                ("availableReplicas", ready),
                ("unavailableReplicas", (replicas.max(wanted) - ready).max(0)),
            ] {
                if value > 0 {
                    status[key] = json!(value);
                }
            }
            deployment["status"] = status;
        });
    }

    fn forget_old_sets(&mut self, deployment: &Value, sets: &[SetFacts], new: &SetFacts) {
        let limit =
            usize::try_from(number(&deployment["spec"]["revisionHistoryLimit"])).unwrap_or(0);
        let mut old: Vec<&SetFacts> = sets
            .iter()
            .filter(|set| set.hash != new.hash && set.wanted == 0 && set.replicas == 0)
            .collect();
        old.sort_by_key(|set| set.revision);
        for set in old.iter().take(old.len().saturating_sub(limit)) {
            self.store.remove(&set.target);
        }
    }
}

/// Sets the conditions of a Deployment.
fn judge(conditions: &mut Value, set: &str, is_done: bool, is_available: bool, now: &str) {
    let condition = |kind: &str, status: bool, reason: &str, message: &str| {
        json!({
            "type": kind, "status": if status { "True" } else { "False" }, "reason": reason,
            "message": message, "lastUpdateTime": now, "lastTransitionTime": now,
        })
    };
    let (reason, message) = if is_available {
        (
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        (
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    set_condition(
        conditions,
        condition("Available", is_available, reason, message),
        true,
    );
    let progressing = if is_done {
        let message = format!("ReplicaSet \"{set}\" has successfully progressed.");
        condition("Progressing", true, "NewReplicaSetAvailable", &message)
    } else {
        let message = format!("ReplicaSet \"{set}\" is progressing.");
        condition("Progressing", true, "ReplicaSetUpdated", &message)
    };
    // Once done it stays done until the template changes.
    let was_done = conditions.as_array().into_iter().flatten().any(|one| {
        let names_it = one["message"]
            .as_str()
            .is_some_and(|text| text.contains(set));
        one["reason"] == "NewReplicaSetAvailable" && names_it
    });
    if is_done || !was_done {
        set_condition(conditions, progressing, true);
    }
}

/// What a Deployment needs to know of a `ReplicaSet`.
#[derive(Debug, Clone)]
pub(super) struct SetFacts {
    pub(super) target: Target,
    pub(super) uid: String,
    pub(super) owner_uid: String,
    pub(super) hash: String,
    pub(super) revision: i64,
    pub(super) wanted: i64,
    pub(super) replicas: i64,
    pub(super) ready: i64,
}

impl SetFacts {
    fn of(target: &Target, set: &Value) -> Self {
        let meta = &set["metadata"];
        let revision = &meta["annotations"]["deployment.kubernetes.io/revision"];
        Self {
            target: target.clone(),
            uid: text(&meta["uid"]),
            owner_uid: text(&meta["ownerReferences"][0]["uid"]),
            hash: text(&meta["labels"]["pod-template-hash"]),
            revision: revision
                .as_str()
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            wanted: number(&set["spec"]["replicas"]),
            replicas: number(&set["status"]["replicas"]),
            ready: number(&set["status"]["readyReplicas"]),
        }
    }
}

impl World<'_> {
    pub(super) fn see_set(&mut self, target: &Target, what: What, set: &Value) {
        let key = (
            target.namespace.clone().unwrap_or_default(),
            target.name.clone(),
        );
        if what == What::Deleted {
            self.sets.remove(&key);
            self.collect(set);
        } else {
            self.sets.insert(key.clone(), SetFacts::of(target, set));
            self.look(target.clone());
        }
        let owner = &set["metadata"]["ownerReferences"][0];
        if let Some(name) = owner["name"].as_str() {
            self.look(Target::namespaced("apps/v1", "Deployment", &key.0, name));
        }
    }

    /// The `ReplicaSets` of a Deployment.
    pub(super) fn sets_of(&self, namespace: &str, owner_uid: &str) -> Vec<SetFacts> {
        self.sets
            .range((namespace.to_owned(), String::new())..)
            .take_while(|((other, _), _)| other == namespace)
            .map(|(_, facts)| facts)
            .filter(|facts| facts.owner_uid == owner_uid)
            .cloned()
            .collect()
    }

    pub(super) fn look_at_set(&mut self, target: &Target) {
        let Some(set) = self.store.get(target) else {
            return;
        };
        let namespace = target.namespace.clone().unwrap_or_default();
        let pods = self.pods_of(&namespace, &text(&set["metadata"]["uid"]));
        let alive: Vec<&Facts> = pods
            .iter()
            .filter(|pod| !pod.is_dying && !pod.is_over())
            .collect();
        let wanted = usize::try_from(number(&set["spec"]["replicas"])).unwrap_or(0);
        for _ in alive.len()..wanted {
            if let Some(name) = self.make_pod(&set, &set["spec"]["template"], None, &[]) {
                let message = format!("Created pod: {name}");
                self.say_about(
                    &set,
                    "kube-controller-manager",
                    "replicaset-controller",
                    ("SuccessfulCreate", false),
                    &message,
                );
            }
        }
        let mut spare = alive.clone();
        // Those that are not ready go first, then the youngest.
        spare.sort_by_key(|pod| {
            (
                pod.is_ready,
                std::cmp::Reverse(pod.started.clone()),
                pod.uid.clone(),
            )
        });
        for pod in spare.into_iter().take(alive.len().saturating_sub(wanted)) {
            let message = format!("Deleted pod: {}", pod.target.name);
            self.delete_pod(pod, None, "kube-controller-manager");
            self.say_about(
                &set,
                "kube-controller-manager",
                "replicaset-controller",
                ("SuccessfulDelete", false),
                &message,
            );
        }
        let count = |value: usize| i64::try_from(value).unwrap_or(0);
        let ready = alive.iter().filter(|pod| pod.is_ready).count();
        let dying = pods.iter().filter(|pod| pod.is_dying).count();
        let have = count(alive.len());
        self.store.update("kube-controller-manager", target, As::Status, |set| {
            let generation = set["metadata"]["generation"].clone();
            let mut status = json!({
                "replicas": have, "terminatingReplicas": dying, "observedGeneration": generation,
            });
            if have > 0 {
                status["fullyLabeledReplicas"] = json!(have);
            }
            if ready > 0 {
                status["readyReplicas"] = json!(ready);
                status["availableReplicas"] = json!(ready);
            }
            set["status"] = status;
        });
    }
}

const BY_DAEMON_SETS: &str = "kube-controller-manager";
const HASH: &str = "controller-revision-hash";

impl World<'_> {
    /// Keeps a template, so that it can be told from the one before.
    fn keep_revision(&mut self, of: &Value, hash: &str) {
        let namespace = text(&of["metadata"]["namespace"]);
        let name = format!("{}-{hash}", text(&of["metadata"]["name"]));
        let target = Target::namespaced("apps/v1", "ControllerRevision", &namespace, &name);
        if self.store.has(&target) {
            return;
        }
        let start = format!("{}-", text(&of["metadata"]["name"]));
        let before = self
            .store
            .in_namespace("apps/v1", "ControllerRevision", &namespace);
        let revision = 1 + before
            .iter()
            .filter(|one| one.name.starts_with(&start))
            .count();
        let mut template = of["spec"]["template"].clone();
        template["$patch"] = json!("replace");
        let mut labels = of["spec"]["template"]["metadata"]["labels"].clone();
        labels[HASH] = json!(hash);
        self.store.create(BY_DAEMON_SETS, json!({
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": owner(of)},
            "data": {"spec": {"template": template}},
            "revision": revision,
        }));
    }

    pub(super) fn look_at_daemon_set(&mut self, target: &Target) {
        let Some(set) = self.store.get(target) else {
            return;
        };
        let namespace = target.namespace.clone().unwrap_or_default();
        let hash = hash_of(&set["spec"]["template"]);
        self.keep_revision(&set, &hash);
        let pods = self.pods_of(&namespace, &text(&set["metadata"]["uid"]));
        let nodes: Vec<String> = self.machines.keys().cloned().collect();
        for node in &nodes {
            let is_there = pods.iter().any(|pod| self.is_meant_for(pod, node));
            if !is_there {
                self.make_daemon(&set, node, &hash);
            }
        }
        self.roll_daemons(&set, &pods, nodes.len(), &hash);
        self.write_daemon_status(target, &pods, nodes.len(), &hash);
    }

    /// Whether a daemon's Pod is on a node, or was made for it.
    fn is_meant_for(&self, pod: &Facts, node: &str) -> bool {
        if !pod.node.is_empty() {
            return pod.node == node;
        }
        self.store.get(&pod.target).is_some_and(|pod| {
            let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
            terms["nodeSelectorTerms"][0]["matchFields"][0]["values"][0] == node
        })
    }

    fn make_daemon(&mut self, set: &Value, node: &str, hash: &str) {
        let mut template = set["spec"]["template"].clone();
        template["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}],
        }}});
        let mut tolerations = template["spec"]["tolerations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for (key, effect) in [
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
        ] {
            tolerations.push(json!({"key": format!("node.kubernetes.io/{key}"), "operator": "Exists", "effect": effect}));
        }
        template["spec"]["tolerations"] = Value::Array(tolerations);
        let generation =
            text(&set["metadata"]["annotations"]["deprecated.daemonset.template.generation"]);
        let more = [
            (HASH, hash),
            ("pod-template-generation", generation.as_str()),
        ];
        if let Some(name) = self.make_pod(set, &template, None, &more) {
            let message = format!("Created pod: {name}");
            self.say_about(
                set,
                BY_DAEMON_SETS,
                "daemonset-controller",
                ("SuccessfulCreate", false),
                &message,
            );
        }
    }

    /// Replaces daemons of an old template, so many at once as may be missing.
    fn roll_daemons(&mut self, set: &Value, pods: &[Facts], nodes: usize, hash: &str) {
        let count = i64::try_from(nodes).unwrap_or(0);
        let may_miss = share(
            &set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"],
            count,
            true,
        )
        .max(1);
        let missing = i64::try_from(
            pods.iter()
                .filter(|pod| !pod.is_ready || pod.is_dying)
                .count(),
        )
        .unwrap_or(0);
        let old = pods
            .iter()
            .filter(|pod| pod.labels.get(HASH).map(String::as_str) != Some(hash) && !pod.is_dying);
        let may_go = usize::try_from(may_miss - missing).unwrap_or(0);
        for pod in old.take(may_go).cloned().collect::<Vec<_>>() {
            let message = format!("Deleted pod: {}", pod.target.name);
            self.delete_pod(&pod, None, BY_DAEMON_SETS);
            self.say_about(
                set,
                BY_DAEMON_SETS,
                "daemonset-controller",
                ("SuccessfulDelete", false),
                &message,
            );
        }
    }

    fn write_daemon_status(&mut self, target: &Target, pods: &[Facts], nodes: usize, hash: &str) {
        let alive: Vec<&Facts> = pods.iter().filter(|pod| !pod.is_dying).collect();
        let ready = alive.iter().filter(|pod| pod.is_ready).count();
        let updated = alive
            .iter()
            .filter(|pod| pod.labels.get(HASH).map(String::as_str) == Some(hash))
            .count();
        self.store
            .update(BY_DAEMON_SETS, target, As::Status, |set| {
                let mut status = json!({
                    "currentNumberScheduled": alive.len(),
                    "numberMisscheduled": 0,
                    "desiredNumberScheduled": nodes,
                    "numberReady": ready,
                    "observedGeneration": set["metadata"]["generation"],
                });
                for (key, value) in [
                    ("updatedNumberScheduled", updated),
                    ("numberAvailable", ready),
                    ("numberUnavailable", nodes.saturating_sub(ready)),
                ] {
                    if value > 0 {
                        status[key] = json!(value);
                    }
                }
                set["status"] = status;
            });
    }

    pub(super) fn look_at_stateful_set(&mut self, target: &Target) {
        let Some(set) = self.store.get(target) else {
            return;
        };
        let namespace = target.namespace.clone().unwrap_or_default();
        let hash = hash_of(&set["spec"]["template"]);
        self.keep_revision(&set, &hash);
        let pods = self.pods_of(&namespace, &text(&set["metadata"]["uid"]));
        let wanted = number(&set["spec"]["replicas"]);
        let revision = format!("{}-{hash}", target.name);
        for nth in 0..wanted {
            let name = format!("{}-{nth}", target.name);
            if pods.iter().any(|pod| pod.target.name == name) {
                continue;
            }
            let index = nth.to_string();
            let more = [
                ("apps.kubernetes.io/pod-index", index.as_str()),
                (HASH, revision.as_str()),
                ("statefulset.kubernetes.io/pod-name", name.as_str()),
            ];
            if self
                .make_pod(&set, &set["spec"]["template"], Some(&name), &more)
                .is_some()
            {
                let message = format!(
                    "create Pod {name} in StatefulSet {} successful",
                    target.name
                );
                self.say_about(
                    &set,
                    BY_DAEMON_SETS,
                    "statefulset-controller",
                    ("SuccessfulCreate", false),
                    &message,
                );
            }
            // In order: the next comes when this one is ready.
            break;
        }
        let ready = pods.iter().filter(|pod| pod.is_ready).count();
        self.store
            .update(BY_DAEMON_SETS, target, As::Status, |set| {
                let mut status = json!({
                    "observedGeneration": set["metadata"]["generation"],
                    "replicas": pods.len(),
                    "currentRevision": revision,
                    "updateRevision": revision,
                    "collisionCount": 0,
                    "availableReplicas": ready,
                });
                for (key, value) in [
                    ("readyReplicas", ready),
                    ("currentReplicas", pods.len()),
                    ("updatedReplicas", pods.len()),
                ] {
                    if value > 0 {
                        status[key] = json!(value);
                    }
                }
                set["status"] = status;
            });
    }
}

const BY_JOBS: &str = "kube-controller-manager";

impl World<'_> {
    pub(super) fn look_at_job(&mut self, target: &Target) {
        let Some(job) = self.store.get(target) else {
            return;
        };
        let uid = text(&job["metadata"]["uid"]);
        if job["spec"]["selector"].is_null() {
            self.label_job(target, &uid);
            return;
        }
        if job["status"]["completionTime"].is_string() {
            return;
        }
        let namespace = target.namespace.clone().unwrap_or_default();
        let pods = self.pods_of(&namespace, &uid);
        if pods.is_empty()
            && let Some(name) = self.make_pod(&job, &job["spec"]["template"], None, &[])
        {
            let message = format!("Created pod: {name}");
            self.say_about(
                &job,
                BY_JOBS,
                "job-controller",
                ("SuccessfulCreate", false),
                &message,
            );
        }
        let now = self.store.now.seconds();
        let is_done = pods.iter().any(|pod| pod.phase == "Succeeded");
        let ready = pods.iter().filter(|pod| pod.is_ready).count();
        self.store.update(BY_JOBS, target, As::Status, |job| {
            let started = job["status"].get("startTime").cloned().unwrap_or_else(|| json!(now));
            job["status"] = if is_done {
                done(&started, &now)
            } else {
                json!({"startTime": started, "active": 1, "terminating": 0, "uncountedTerminatedPods": {}, "ready": ready})
            };
        });
        if is_done {
            self.say_about(
                &job,
                BY_JOBS,
                "job-controller",
                ("Completed", false),
                "Job completed",
            );
        }
    }

    /// The server labels a Job and its template with the Job's own uid.
    fn label_job(&mut self, target: &Target, uid: &str) {
        let name = target.name.clone();
        self.store.update(BY_JOBS, target, As::Update, |job| {
            let labels = [
                ("batch.kubernetes.io/controller-uid", uid),
                ("batch.kubernetes.io/job-name", name.as_str()),
                ("controller-uid", uid),
                ("job-name", name.as_str()),
            ];
            for (key, value) in labels {
                job["metadata"]["labels"][key] = json!(value);
                job["spec"]["template"]["metadata"]["labels"][key] = json!(value);
            }
            job["spec"]["selector"] =
                json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
        });
    }
}

fn done(started: &Value, now: &str) -> Value {
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "lastProbeTime": now, "lastTransitionTime": now,
            "reason": "CompletionsReached", "message": "Reached expected number of succeeded pods",
        })
    };
    json!({
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        "startTime": started,
        "completionTime": now,
        "succeeded": 1,
        "terminating": 0,
        "uncountedTerminatedPods": {},
        "ready": 0,
    })
}
