//! Node objects as a kubelet writes them. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::identity::{hex, uuid};

/// What a node is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRole {
    /// Runs the control plane, and tolerates nothing else.
    Master,
    /// Runs everybody's work.
    Worker,
}

impl NodeRole {
    /// The role as it is spelt in labels and pools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Worker => "worker",
        }
    }
}

/// A node that will join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: NodeRole,
    /// Its position in the cluster: gives it addresses of its own.
    pub index: u8,
    /// Its zone.
    pub zone: String,
    /// Annotations the machine-config daemon finds at first boot.
    pub annotations: Vec<(String, String)>,
}

impl NodeSpec {
    pub(crate) fn host_ip(&self) -> String {
        format!("10.0.0.{}", 10 + u32::from(self.index))
    }

    /// The address of the `nth` Pod on this node.
    pub(crate) fn pod_ip(&self, nth: u32) -> String {
        format!(
            "10.{}.{}.{}",
            128 + u32::from(self.index),
            (nth / 250) % 256,
            4 + nth % 250
        )
    }

    /// The object as the kubelet registers it: not ready, and tainted for masters.
    pub(crate) fn to_object(&self) -> Value {
        let mut labels = json!({
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            "node.openshift.io/os_id": "rhel",
            "topology.kubernetes.io/region": "region-1",
            "topology.kubernetes.io/zone": self.zone,
        });
        let mut spec = json!({});
        if self.role == NodeRole::Master {
            labels["node-role.kubernetes.io/control-plane"] = json!("");
            spec["taints"] =
                json!([{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}]);
        }
        labels[format!("node-role.kubernetes.io/{}", self.role.name())] = json!("");
        let annotations: serde_json::Map<String, Value> = self
            .annotations
            .iter()
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect();
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": labels, "annotations": annotations},
            "spec": spec,
        })
    }

    /// What never changes in its status.
    pub(crate) fn fixed_status(&self, boot: u32) -> Value {
        let (cpu, memory) = match self.role {
            NodeRole::Master => ("8", "32Gi"),
            NodeRole::Worker => ("16", "64Gi"),
        };
        json!({
            "capacity": {"cpu": cpu, "ephemeral-storage": "120Gi", "memory": memory, "pods": "250"},
            "allocatable": {"cpu": cpu, "ephemeral-storage": "110Gi", "memory": memory, "pods": "250"},
            "addresses": [
                {"type": "InternalIP", "address": self.host_ip()},
                {"type": "Hostname", "address": self.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": hex(&["machine", &self.name], 32),
                "systemUUID": uuid(&["system", &self.name]),
                "bootID": self.boot_id(boot),
                "kernelVersion": "5.14.0-611.el9.x86_64",
                "osImage": "Red Hat Enterprise Linux CoreOS 9.6",
                "containerRuntimeVersion": "cri-o://1.36.1",
                "kubeletVersion": "v1.36.3",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        })
    }

    /// The boot id the node shows after its `boot`th start, from 1.
    pub fn boot_id(&self, boot: u32) -> String {
        uuid(&["boot", &self.name, &boot.to_string()])
    }
}

/// Why a node is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    NetworkMissing,
    ShuttingDown,
}

/// The conditions of a node, with the times they last changed.
#[derive(Debug)]
pub(crate) struct NodeConditions {
    readiness: Readiness,
    ready_since: String,
    up_since: String,
}

impl NodeConditions {
    pub(crate) fn new(readiness: Readiness, now: &str) -> Self {
        Self {
            readiness,
            ready_since: now.to_owned(),
            up_since: now.to_owned(),
        }
    }

    /// Whether the kubelet calls the node ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.readiness == Readiness::Ready
    }

    pub(crate) fn set(&mut self, readiness: Readiness, now: &str) {
        let flips = (self.readiness == Readiness::Ready) != (readiness == Readiness::Ready);
        if flips {
            now.clone_into(&mut self.ready_since);
        }
        self.readiness = readiness;
    }

    /// The conditions as a strategic merge patch.
    pub(crate) fn to_status(&self, now: &str) -> Value {
        let pressure = |kind: &str, reason: &str, message: &str| {
            json!({
                "type": kind, "status": "False", "reason": reason, "message": message,
                "lastHeartbeatTime": now, "lastTransitionTime": self.up_since,
            })
        };
        let (status, reason, message) = match self.readiness {
            Readiness::Ready => ("True", "KubeletReady", "kubelet is posting ready status"),
            Readiness::NetworkMissing => (
                "False",
                "KubeletNotReady",
                "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: no CNI configuration file",
            ),
            Readiness::ShuttingDown => ("False", "KubeletNotReady", "node is shutting down"),
        };
        json!([
            pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            {
                "type": "Ready", "status": status, "reason": reason, "message": message,
                "lastHeartbeatTime": now, "lastTransitionTime": self.ready_since,
            },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_since_moves_with_the_status_only() {
        let mut conditions = NodeConditions::new(Readiness::NetworkMissing, "t0");
        conditions.set(Readiness::ShuttingDown, "t1");
        assert_eq!(conditions.to_status("t1")[3]["lastTransitionTime"], "t0");
        conditions.set(Readiness::Ready, "t2");
        assert_eq!(conditions.to_status("t3")[3]["lastTransitionTime"], "t2");
        assert_eq!(conditions.to_status("t3")[3]["lastHeartbeatTime"], "t3");
    }

    #[test]
    fn masters_are_tainted() {
        let spec = |role| NodeSpec {
            name: "n".to_owned(),
            role,
            index: 1,
            zone: "a".to_owned(),
            annotations: vec![],
        };
        assert_eq!(
            spec(NodeRole::Master).to_object()["spec"]["taints"][0]["effect"],
            "NoSchedule"
        );
        assert!(spec(NodeRole::Worker).to_object()["spec"]["taints"].is_null());
    }
}
