//! Deployments, `DaemonSets` and the like, as the scenario's operators write them.

use serde_json::{Value, json};

use super::file::{Operand, OperandKind};
use crate::kubelet::NodeRole;
use crate::rest::Target;

/// What a Pod template needs to say.
#[derive(Debug, Clone)]
pub(super) struct Template<'a> {
    pub(super) app: &'a str,
    pub(super) container: &'a str,
    pub(super) image: String,
    pub(super) version: &'a str,
}

fn template(template: &Template<'_>) -> Value {
    json!({
        "metadata": {
            "labels": {"app": template.app},
            "annotations": {"openshift.io/required-scc": "restricted-v2"},
        },
        "spec": {
            "containers": [{
                "name": template.container,
                "image": template.image,
                "imagePullPolicy": "IfNotPresent",
                "env": [{"name": "RELEASE_VERSION", "value": template.version}],
                "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
                "terminationMessagePolicy": "FallbackToLogsOnError",
            }],
            "priorityClassName": "system-cluster-critical",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
            ],
        },
    })
}

/// The Deployment of an operator: one replica on a master.
pub(super) fn operator_deployment(namespace: &str, made_of: &Template<'_>) -> Value {
    let mut template = template(made_of);
    template["spec"]["nodeSelector"] = json!({"node-role.kubernetes.io/master": ""});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": made_of.app,
            "namespace": namespace,
            "annotations": {"include.release.openshift.io/self-managed-high-availability": "true"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": made_of.app}},
            "template": template,
        },
    })
}

/// An operand: replicas apart from each other and ready by a probe, or one on every node.
pub(super) fn operand(operand: &Operand, made_of: &Template<'_>) -> Value {
    let mut template = template(made_of);
    let meta = json!({"name": operand.name, "namespace": operand.namespace});
    let selector = json!({"matchLabels": {"app": operand.name}});
    match operand.kind {
        OperandKind::Deployment { replicas, role } => {
            template["spec"]["nodeSelector"] = role_selector(role);
            template["spec"]["affinity"] = apart(&operand.name);
            if let Some(container) = template["spec"]["containers"].get_mut(0) {
                container["readinessProbe"] = json!({"httpGet": {"path": "/readyz", "port": 8443}});
            }
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": meta,
                "spec": {
                    "replicas": replicas,
                    "selector": selector,
                    "strategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
                    },
                    "template": template,
                },
            })
        }
        OperandKind::DaemonSet {} => {
            template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
            template["spec"]["priorityClassName"] = json!("system-node-critical");
            json!({
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": meta,
                "spec": {
                    "selector": selector,
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "34%"}},
                    "template": template,
                },
            })
        }
    }
}

/// The budget of an operand with more than one replica.
pub(super) fn budget(operand: &Operand) -> Option<Value> {
    let OperandKind::Deployment { replicas: 2.., .. } = operand.kind else {
        return None;
    };
    Some(json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": operand.name, "namespace": operand.namespace},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": {"app": operand.name}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }))
}

/// The Service in front of an operand; its operator applies it at every release.
pub(super) fn service(operand: &Operand, version: &str) -> Option<Value> {
    let OperandKind::Deployment { .. } = operand.kind else {
        return None;
    };
    Some(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": operand.name,
            "namespace": operand.namespace,
            "annotations": {"release.openshift.io/version": version},
        },
        "spec": {
            "selector": {"app": operand.name},
            "ports": [{"name": "https", "port": 443, "targetPort": 8443}],
        },
    }))
}

/// The patch by which an update reaches a Deployment or `DaemonSet` of one container.
pub(super) fn new_image(made_of: &Template<'_>, current: &Value) -> Value {
    let mut containers = current["spec"]["template"]["spec"]["containers"].clone();
    if let Some(container) = containers.get_mut(0) {
        container["image"] = json!(made_of.image);
        container["env"] = json!([{"name": "RELEASE_VERSION", "value": made_of.version}]);
    }
    json!({"spec": {"template": {"spec": {"containers": containers}}}})
}

fn role_selector(role: NodeRole) -> Value {
    let mut selector = json!({});
    selector[format!("node-role.kubernetes.io/{}", role.name())] = json!("");
    selector
}

fn apart(app: &str) -> Value {
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
        "labelSelector": {"matchLabels": {"app": app}},
        "topologyKey": "kubernetes.io/hostname",
    }]}})
}

impl Operand {
    /// The object's name in the API.
    pub(super) fn target(&self) -> Target {
        let kind = match self.kind {
            OperandKind::Deployment { .. } => "Deployment",
            OperandKind::DaemonSet {} => "DaemonSet",
        };
        Target::namespaced("apps/v1", kind, &self.namespace, &self.name)
    }
}
