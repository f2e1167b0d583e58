//! What follows the readiness of Pods: Endpoints and `EndpointSlices` of Services, and budgets.

use serde_json::{Value, json};

use super::kubelet::{set_condition, share};
use super::pod::Facts;
use super::store::As;
use super::store::{World, owner, text};
use crate::rest::Target;

const BY: &str = "kube-controller-manager";

impl World<'_> {
    pub(super) fn look_at_service(&mut self, target: &Target) {
        let Some(service) = self.store.get(target) else {
            return;
        };
        let namespace = target.namespace.clone().unwrap_or_default();
        let selector = &service["spec"]["selector"];
        if !selector.is_object() {
            return;
        }
        let pods: Vec<Facts> = self
            .pods_in(&namespace)
            .filter(|pod| pod.has_labels(selector) && !pod.ip.is_empty() && !pod.is_over())
            .cloned()
            .collect();
        self.write_endpoints(target, &service, &pods);
        self.write_slice(&namespace, &service, &pods);
    }

    fn write_endpoints(&mut self, service_target: &Target, service: &Value, pods: &[Facts]) {
        let namespace = service_target.namespace.clone().unwrap_or_default();
        let target = Target::namespaced("v1", "Endpoints", &namespace, &service_target.name);
        let address =
            |pod: &&Facts| json!({"ip": pod.ip, "nodeName": pod.node, "targetRef": reference(pod)});
        let (ready, waiting): (Vec<&Facts>, Vec<&Facts>) = pods
            .iter()
            .filter(|pod| !pod.is_dying)
            .partition(|pod| pod.is_ready);
        let ports: Vec<Value> = ports(service)
            .map(
                |port| json!({"name": port["name"], "port": port["targetPort"], "protocol": "TCP"}),
            )
            .collect();
        let mut subset = json!({});
        if !ready.is_empty() {
            subset["addresses"] = ready.iter().map(address).collect();
        }
        if !waiting.is_empty() {
            subset["notReadyAddresses"] = waiting.iter().map(address).collect();
        }
        let subsets = if pods.iter().all(|pod| pod.is_dying) {
            Vec::new()
        } else {
            subset["ports"] = Value::Array(ports);
            vec![subset]
        };
        let now = self.store.now.seconds();
        let edit = |endpoints: &mut Value| {
            let old = endpoints
                .get("subsets")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            if old == subsets {
                return;
            }
            endpoints["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"] =
                json!(now);
            if subsets.is_empty() {
                if let Some(fields) = endpoints.as_object_mut() {
                    fields.remove("subsets");
                }
            } else {
                endpoints["subsets"] = json!(subsets);
            }
        };
        if self.store.has(&target) {
            self.store.update(BY, &target, As::Update, edit);
            return;
        }
        let mut endpoints = json!({
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {
                "name": service_target.name, "namespace": namespace,
                "labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"},
                "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": now},
            },
        });
        edit(&mut endpoints);
        self.store.create(BY, endpoints);
    }

    fn write_slice(&mut self, namespace: &str, service: &Value, pods: &[Facts]) {
        let name = text(&service["metadata"]["name"]);
        let slices = self
            .store
            .in_namespace("discovery.k8s.io/v1", "EndpointSlice", namespace);
        let start = format!("{name}-");
        let known = slices.into_iter().find(|slice| {
            slice
                .name
                .strip_prefix(&start)
                .is_some_and(|rest| rest.len() == 5)
        });
        let zone = |node: &str| {
            self.machines
                .get(node)
                .map(|machine| machine.spec.zone.clone())
        };
        let endpoints: Vec<Value> = pods
            .iter()
            .map(|pod| {
                json!({
                    "addresses": [pod.ip],
                    "conditions": {"ready": pod.is_ready && !pod.is_dying, "serving": pod.is_ready, "terminating": pod.is_dying},
                    "targetRef": reference(pod),
                    "nodeName": pod.node,
                    "zone": zone(&pod.node),
                })
            })
            .collect();
        let now = self.store.now.seconds();
        let trigger = "endpoints.kubernetes.io/last-change-trigger-time";
        if let Some(target) = known {
            self.store.update(BY, &target, As::Update, |slice| {
                if slice["endpoints"].as_array() != Some(&endpoints) {
                    slice["metadata"]["annotations"][trigger] = json!(now);
                    slice["endpoints"] = json!(endpoints);
                }
            });
            return;
        }
        let ports: Vec<Value> = ports(service)
            .map(
                |port| json!({"name": port["name"], "protocol": "TCP", "port": port["targetPort"]}),
            )
            .collect();
        let mut annotations = json!({});
        annotations[trigger] = json!(now);
        self.store.create(
            BY,
            json!({
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {
                    "generateName": start,
                    "namespace": namespace,
                    "labels": {
                        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                        "kubernetes.io/service-name": name,
                    },
                    "annotations": annotations,
                    "ownerReferences": owner(service),
                },
                "addressType": "IPv4",
                "endpoints": endpoints,
                "ports": ports,
            }),
        );
    }

    /// The Pods that a budget guards: all, those that are ready, and how many must be.
    fn guarded(&self, budget: &Value) -> (i64, i64, i64) {
        let namespace = text(&budget["metadata"]["namespace"]);
        let selector = &budget["spec"]["selector"]["matchLabels"];
        let pods: Vec<&Facts> = self
            .pods_in(&namespace)
            .filter(|pod| pod.has_labels(selector) && !pod.is_over())
            .collect();
        let healthy = pods
            .iter()
            .filter(|pod| pod.is_ready && !pod.is_dying)
            .count();
        let all = i64::try_from(pods.iter().filter(|pod| !pod.is_dying).count()).unwrap_or(0);
        let spec = &budget["spec"];
        let expected = self.expected(&namespace, &pods).max(all);
        let least = match (spec.get("minAvailable"), spec.get("maxUnavailable")) {
            (Some(least), _) => share(least, expected, true),
            (None, Some(most)) => expected - share(most, expected, true),
            (None, None) => 0,
        };
        (expected, i64::try_from(healthy).unwrap_or(0), least.max(0))
    }

    /// How many Pods the owners of some Pods want.
    fn expected(&self, namespace: &str, pods: &[&Facts]) -> i64 {
        let mut owners: Vec<&Target> = pods.iter().filter_map(|pod| pod.owner.as_ref()).collect();
        owners.sort();
        owners.dedup();
        owners
            .iter()
            .filter_map(|owner| self.sets.get(&(namespace.to_owned(), owner.name.clone())))
            .map(|set| set.wanted)
            .sum()
    }

    pub(super) fn look_at_budget(&mut self, target: &Target) {
        let Some(budget) = self.store.get(target) else {
            return;
        };
        let (expected, healthy, least) = self.guarded(&budget);
        let allowed = (healthy - least).max(0);
        let now = self.store.now.seconds();
        self.store.update(BY, target, As::Status, |budget| {
            let generation = budget["metadata"]["generation"].clone();
            let mut conditions = budget["status"]["conditions"].clone();
            let (status, reason) = if allowed > 0 {
                ("True", "SufficientPods")
            } else {
                ("False", "InsufficientPods")
            };
            let condition = json!({
                "type": "DisruptionAllowed", "status": status, "observedGeneration": generation,
                "lastTransitionTime": now, "reason": reason, "message": "",
            });
            set_condition(&mut conditions, condition, false);
            budget["status"] = json!({
                "observedGeneration": generation,
                "disruptionsAllowed": allowed,
                "currentHealthy": healthy,
                "desiredHealthy": least,
                "expectedPods": expected,
                "conditions": conditions,
            });
        });
    }

    /// Whether no budget stands against the eviction of a Pod.
    pub(super) fn may_evict(&self, pod: &Facts) -> bool {
        let namespace = pod.target.namespace.clone().unwrap_or_default();
        let budgets = self
            .store
            .in_namespace("policy/v1", "PodDisruptionBudget", &namespace);
        budgets
            .iter()
            .filter_map(|budget| self.store.get(budget))
            .all(|budget| {
                if !pod.has_labels(&budget["spec"]["selector"]["matchLabels"]) || !pod.is_ready {
                    return true;
                }
                let (_, healthy, least) = self.guarded(&budget);
                healthy > least
            })
    }
}

fn ports(service: &Value) -> impl Iterator<Item = &Value> {
    service["spec"]["ports"].as_array().into_iter().flatten()
}

fn reference(pod: &Facts) -> Value {
    json!({"kind": "Pod", "namespace": pod.target.namespace, "name": pod.target.name, "uid": pod.uid})
}
