//! Node objects as a kubelet writes them. Pure.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::fleet::Site;
use crate::rest::{self, Body, Call, Patience, RestError, Target};

/// The role of a node.
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
    /// Its role.
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
    /// Since when memory is short.
    short_since: Option<String>,
}

impl NodeConditions {
    pub(crate) fn new(readiness: Readiness, now: &str) -> Self {
        Self {
            readiness,
            ready_since: now.to_owned(),
            up_since: now.to_owned(),
            short_since: None,
        }
    }

    /// Whether the kubelet calls the node ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.readiness == Readiness::Ready
    }

    pub(super) fn run_short_of_memory(&mut self, now: &str) {
        self.short_since = Some(now.to_owned());
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
        let mut memory = pressure(
            "MemoryPressure",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        );
        if let Some(since) = &self.short_since {
            memory["status"] = json!("True");
            memory["reason"] = json!("KubeletHasInsufficientMemory");
            memory["message"] = json!("kubelet has insufficient memory available");
            memory["lastTransitionTime"] = json!(since);
        }
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
            memory,
            pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            {
                "type": "Ready", "status": status, "reason": reason, "message": message,
                "lastHeartbeatTime": now, "lastTransitionTime": self.ready_since,
            },
        ])
    }
}

/// How often a kubelet renews its Lease, in virtual time.
const LEASE_EVERY: Duration = Duration::from_secs(10);
/// A kubelet reports its status every this many renewals even when nothing changed.
const STATUS_EVERY_RENEWALS: u32 = 30;
/// How long a heartbeat is tried before it counts as failed.
const PATIENCE: Patience = Patience::until_found(Duration::from_secs(20));

/// Beats until it is aborted; silent while the node is off.
pub(super) async fn beat(site: Arc<Site>) {
    let mut power = site.power.subscribe();
    let mut renewals: u32 = 0;
    let mut has_lease = false;
    let mut due = Instant::now();
    loop {
        sleep_until(due).await;
        due = Instant::now() + site.real(LEASE_EVERY);
        if power.wait_for(|power| power.is_up).await.is_err() {
            return;
        }
        let done = if has_lease {
            renew(&site).await
        } else {
            create(&site).await
        };
        match done {
            Ok(()) => has_lease = true,
            Err(error) => site.fail(&error),
        }
        renewals += 1;
        if renewals.is_multiple_of(STATUS_EVERY_RENEWALS)
            && let Err(error) = site.write_status().await
        {
            site.fail(&error);
        }
    }
}

fn lease(site: &Site) -> Target {
    Target::namespaced(
        "coordination.k8s.io/v1",
        "Lease",
        "kube-node-lease",
        &site.spec.name,
    )
}

async fn create(site: &Site) -> Result<(), RestError> {
    let target = lease(site);
    let body = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": site.spec.name,
            "namespace": "kube-node-lease",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": site.spec.name, "uid": site.uid()},
            ],
        },
        "spec": {
            "holderIdentity": site.spec.name,
            "leaseDurationSeconds": 40,
            "renewTime": rest::micros(rest::now()),
        },
    });
    let path = target.require_collection_path()?;
    let call = Call::post(format!("{path}?fieldManager=kubelet"), body);
    match site.rest.send(&call, PATIENCE).await {
        Err(error) if !error.is_already_there() => Err(error),
        _ => Ok(()),
    }
}

async fn renew(site: &Site) -> Result<(), RestError> {
    let target = lease(site);
    let renewed: Value = json!({"spec": {"renewTime": rest::micros(rest::now())}});
    let path = target.require_path()?;
    let call = Call::patch(format!("{path}?fieldManager=kubelet"), Body::Merge(renewed));
    site.rest.send(&call, PATIENCE).await?;
    Ok(())
}

/// Which container of a Pod: init containers first, in the order of the spec.
pub(crate) type ContainerIndex = usize;

/// A step in the life of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The kubelet takes the Pod on.
    Admitted,
    /// The sandbox and its network are there.
    SandboxReady,
    /// A container has to wait.
    Waits {
        container: ContainerIndex,
        reason: &'static str,
        message: String,
    },
    /// A container starts, or starts again.
    Starts { container: ContainerIndex },
    /// A container is ready to serve.
    Ready { container: ContainerIndex },
    /// A container that runs is no longer ready to serve.
    Unready { container: ContainerIndex },
    /// A container ends, and the runtime says why.
    Dies {
        container: ContainerIndex,
        exit_code: i32,
        reason: String,
        message: Option<String>,
    },
    /// A container ends by itself.
    Exits {
        container: ContainerIndex,
        exit_code: i32,
    },
    /// The Pod is over, whatever its containers are.
    Fails {
        reason: &'static str,
        message: String,
    },
    /// The kubelet puts the Pod out.
    Evicted { message: String },
    /// The Pod is being deleted and everything in it ends.
    Stopped,
    /// The node came up again: nothing of the Pod is left.
    Rebooted,
}

/// A kubelet Event about a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) container: Option<ContainerIndex>,
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// The next step in a Pod's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beat {
    /// Virtual time since the beat before.
    pub(crate) after: Duration,
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<Note>,
}

impl Beat {
    /// This many virtual seconds after the beat before.
    pub(crate) fn after(after_secs: f64, changes: Vec<Change>, notes: Vec<Note>) -> Self {
        Self {
            after: secs(after_secs),
            changes,
            notes,
        }
    }
}

impl Note {
    /// Reports that a container is healthy.
    pub(crate) fn normal(container: ContainerIndex, reason: &'static str, message: String) -> Self {
        Self {
            container: Some(container),
            is_warning: false,
            reason,
            message,
        }
    }

    /// Reports that a container is not healthy.
    pub(crate) fn warning(
        container: ContainerIndex,
        reason: &'static str,
        message: String,
    ) -> Self {
        Self {
            is_warning: true,
            ..Self::normal(container, reason, message)
        }
    }
}

/// This many seconds, to the millisecond.
pub(crate) const fn secs(secs: f64) -> Duration {
    Duration::from_millis(millis_of(secs))
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float to an integer has no other way; `as` saturates, and scripted times are small"
)]
const fn millis_of(secs: f64) -> u64 {
    (secs * 1000.0) as u64
}

/// A node's power: Pods do nothing while it is off, and start again at a new boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Power {
    /// 1 at first, one more with every reboot.
    pub(super) boot: u32,
    /// Whether the kubelet runs.
    pub(super) is_up: bool,
}

/// Lower-case hex of `digits` digits that follows from the parts.
pub(crate) fn hex(parts: &[&str], digits: usize) -> String {
    let mut state = parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut text = String::with_capacity(digits + 16);
    while text.len() < digits {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        // Writing to a String cannot fail.
        write!(text, "{word:016x}").unwrap_or_default();
    }
    text.truncate(digits);
    text
}

/// A UUID, version 4 by its looks, that follows from the parts.
pub(crate) fn uuid(parts: &[&str]) -> String {
    let digits = hex(parts, 30);
    let piece = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
    format!(
        "{}-{}-4{}-a{}-{}",
        piece(0, 8),
        piece(8, 12),
        piece(12, 15),
        piece(15, 18),
        piece(18, 30)
    )
}

#[cfg(test)]
mod node_tests {
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

#[cfg(test)]
mod identity_tests {
    use super::*;

    #[test]
    fn ids_repeat_and_differ() {
        assert_eq!(hex(&["a", "b"], 64), hex(&["a", "b"], 64));
        assert_ne!(hex(&["a", "b"], 64), hex(&["ab", ""], 64));
        assert_eq!(hex(&["a"], 64).len(), 64);
        assert_eq!(uuid(&["x"]).len(), 36);
    }
}
