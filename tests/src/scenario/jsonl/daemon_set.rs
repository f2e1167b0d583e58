//! `DaemonSets` and `StatefulSets`: a Pod on every node, and Pods that come back under their names.

use serde_json::{Value, json};

use super::deployment::hash_of;
use super::kubelet::{number, share};
use super::pod::Facts;
use super::store::As;
use super::world::{World, owner, text};
use crate::rest::Target;

const BY: &str = "kube-controller-manager";
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
        self.store.create(BY, json!({
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
                BY,
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
            self.delete_pod(&pod, None, BY);
            self.say_about(
                set,
                BY,
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
        self.store.update(BY, target, As::Status, |set| {
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
                    BY,
                    "statefulset-controller",
                    ("SuccessfulCreate", false),
                    &message,
                );
            }
            // In order: the next comes when this one is ready.
            break;
        }
        let ready = pods.iter().filter(|pod| pod.is_ready).count();
        self.store.update(BY, target, As::Status, |set| {
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
