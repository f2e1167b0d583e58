//! What the cluster itself puts into new namespaces, and what it makes of new definitions.

use serde_json::json;

use super::store::As;
use super::world::World;
use crate::rest::Target;

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
