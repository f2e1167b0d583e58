//! Owns workloads of the platform as the conventions want them, but for what one lacks on purpose.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::kubelet::NodeRole;

/// A Deployment or the like.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Workload {
    pub(super) namespace: String,
    pub(super) name: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default = "two")]
    replicas: u32,
    #[serde(default = "worker")]
    on: NodeRole,
    /// All replicas go to this node.
    #[serde(default)]
    node: Option<String>,
    #[serde(default)]
    lacks: Vec<Lack>,
    /// The budget's spec, without the selector.
    #[serde(default)]
    budget: Option<Value>,
}

const fn two() -> u32 {
    2
}

const fn worker() -> NodeRole {
    NodeRole::Worker
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    #[default]
    Deployment,
    StatefulSet,
    DaemonSet,
}

/// What a workload may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lack {
    Budget,
    /// It has one, but for another app.
    AntiAffinity,
    Liveness,
    Readiness,
    Startup,
    Priority,
    Requests,
    ServiceAccount,
    RequiredScc,
    TerminationPolicy,
}

impl Workload {
    fn has(&self, what: Lack) -> bool {
        !self.lacks.contains(&what)
    }

    /// The objects, in the order in which they are created.
    pub(super) fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        if self.has(Lack::ServiceAccount) {
            objects.push(json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": self.name, "namespace": self.namespace},
            }));
        }
        objects.extend(self.budget());
        objects.push(self.object());
        objects
    }

    fn budget(&self) -> Option<Value> {
        if self.kind == Kind::DaemonSet || self.replicas < 2 || !self.has(Lack::Budget) {
            return None;
        }
        let mut spec = self
            .budget
            .clone()
            .unwrap_or_else(|| json!({"maxUnavailable": 1}));
        spec["selector"] = json!({"matchLabels": {"app": self.name}});
        spec["unhealthyPodEvictionPolicy"] = json!("AlwaysAllow");
        Some(json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        }))
    }

    fn object(&self) -> Value {
        let mut spec = json!({
            "selector": {"matchLabels": {"app": self.name}},
            "template": self.template(),
        });
        let kind = match self.kind {
            Kind::Deployment => {
                spec["replicas"] = json!(self.replicas);
                spec["strategy"] = json!({
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
                });
                "Deployment"
            }
            Kind::StatefulSet => {
                spec["replicas"] = json!(self.replicas);
                spec["serviceName"] = json!(self.name);
                "StatefulSet"
            }
            Kind::DaemonSet => {
                spec["updateStrategy"] =
                    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "33%"}});
                "DaemonSet"
            }
        };
        json!({
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        })
    }

    fn template(&self) -> Value {
        let mut meta = json!({"labels": {"app": self.name}});
        if self.has(Lack::RequiredScc) {
            meta["annotations"] = json!({"openshift.io/required-scc": "restricted-v2"});
        }
        let mut spec = json!({
            "containers": [self.container()],
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
            ],
        });
        if self.has(Lack::Priority) {
            spec["priorityClassName"] = json!("system-cluster-critical");
        }
        if self.has(Lack::ServiceAccount) {
            spec["serviceAccountName"] = json!(self.name);
        }
        if self.kind == Kind::DaemonSet {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        } else {
            let mut selector = json!({});
            selector[format!("node-role.kubernetes.io/{}", self.on.name())] = json!("");
            spec["nodeSelector"] = selector;
            self.place(&mut spec);
        }
        json!({"metadata": meta, "spec": spec})
    }

    fn place(&self, spec: &mut Value) {
        let hard = "requiredDuringSchedulingIgnoredDuringExecution";
        if self.replicas > 1 {
            let app = if self.has(Lack::AntiAffinity) {
                &self.name
            } else {
                "another"
            };
            spec["affinity"]["podAntiAffinity"][hard] = json!([{
                "labelSelector": {"matchLabels": {"app": app}},
                "topologyKey": "kubernetes.io/hostname",
            }]);
        }
        if let Some(node) = &self.node {
            spec["affinity"]["nodeAffinity"][hard]["nodeSelectorTerms"] = json!([{
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}],
            }]);
        }
    }

    fn container(&self) -> Value {
        let mut container = json!({
            "name": self.name,
            "image": format!("registry.kubereel.example/payload/{}:4", self.name),
            "ports": [{"name": "https", "containerPort": 8443}],
            "resources": {},
        });
        if self.has(Lack::Requests) {
            container["resources"] = json!({"requests": {"cpu": "10m", "memory": "50Mi"}});
        }
        for (lack, probe, path) in [
            (Lack::Liveness, "livenessProbe", "/healthz"),
            (Lack::Readiness, "readinessProbe", "/readyz"),
            (Lack::Startup, "startupProbe", "/healthz"),
        ] {
            if self.has(lack) {
                container[probe] = json!({"httpGet": {"path": path, "port": 8443}});
            }
        }
        if self.has(Lack::TerminationPolicy) {
            container["terminationMessagePolicy"] = json!("FallbackToLogsOnError");
        }
        container
    }
}
