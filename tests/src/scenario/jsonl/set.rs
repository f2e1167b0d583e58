//! `ReplicaSets`: as many Pods as they want.

use serde_json::{Value, json};

use super::kubelet::number;
use super::lines::What;
use super::pod::Facts;
use super::store::As;
use super::world::{World, text};
use crate::rest::Target;

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
