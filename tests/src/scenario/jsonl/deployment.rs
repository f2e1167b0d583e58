//! Deployments: one `ReplicaSet` a template, the new one up and the old ones down step by step.

use serde_json::{Value, json};

use super::kubelet::{number, set_condition, share};
use super::set::SetFacts;
use super::store::As;
use super::world::{World, owner, text};
use crate::kubelet::identity::hex;
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
