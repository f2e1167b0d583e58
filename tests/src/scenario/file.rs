//! A scenario file: a cluster, its releases, and when what happens to it. Times are virtual.

use serde::Deserialize;

use crate::kubelet::NodeRole;

/// A scenario as it is written in `testdata/scenarios`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// All choices follow from it.
    pub seed: u64,
    /// How many virtual seconds a second of the clock takes, as it is meant to be played.
    pub speed: f64,
    /// When it is over.
    pub end_secs: f64,
    pub(super) cluster: Cluster,
    pub(super) installed: Release,
    pub(super) update: Release,
    pub(super) bootstrap: Bootstrap,
    pub(super) install: Install,
    pub(super) upgrade: Upgrade,
    pub(super) operators: Vec<Operator>,
    pub(super) shop: Shop,
    pub(super) faults: Faults,
    pub(super) secrets: Vec<SecretSpec>,
}

/// The cluster's own facts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cluster {
    pub(super) infrastructure_name: String,
    pub(super) base_domain: String,
    pub(super) nodes: Vec<NodeEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeEntry {
    pub(super) name: String,
    pub(super) role: NodeRole,
    pub(super) zone: String,
    pub(super) joins_secs: f64,
}

/// A release.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Release {
    pub(super) version: String,
    pub(super) image: String,
    pub(super) manifests: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bootstrap {
    pub(super) api_restarts: Vec<ApiRestart>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiRestart {
    pub(super) at_secs: f64,
    pub(super) server: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_field_names,
    reason = "the unit belongs into the names of the file"
)]
pub(super) struct Install {
    pub(super) begins_secs: f64,
    /// When the bootstrap operator ends; the one in the cluster goes on.
    pub(super) bootstrap_ends_secs: f64,
    /// When the operator in the cluster takes the Lease: it polls for it slowly.
    pub(super) cluster_takes_over_secs: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upgrade {
    pub(super) asked_secs: f64,
    /// Pull errors of the version Pod's attempts, in order; the attempt after them goes well.
    pub(super) failed_pulls: Vec<String>,
}

/// A second-level operator.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operator {
    pub(super) name: String,
    pub(super) namespace: String,
    /// Its level in the payload: an update goes level by level.
    pub(super) level: u32,
    /// When it is available, counted from the start of the installation.
    pub(super) available_secs: f64,
    #[serde(default)]
    pub(super) operands: Vec<Operand>,
}

/// What an operator looks after.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operand {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) kind: OperandKind,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum OperandKind {
    /// Replicas on nodes of one role, no two on one node.
    Deployment { replicas: u32, role: NodeRole },
    /// One on every node.
    DaemonSet {},
}

/// The user's own work.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shop {
    pub(super) namespace: String,
    pub(super) created_secs: f64,
    /// When the Jobs are created.
    pub(super) jobs_secs: Vec<f64>,
}

/// The faults that are planted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Faults {
    /// An operator is not available for less than a minute, in quiet times.
    pub(super) flap: Flap,
    /// An operator is degraded within its own update.
    pub(super) degraded: Degraded,
    /// A Pod of the user crashes again and again.
    pub(super) crash_loop: CrashLoop,
    /// A Pod of the user is deleted by force.
    pub(super) force_delete: ForceDelete,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flap {
    pub(super) operator: String,
    pub(super) at_secs: f64,
    pub(super) for_secs: f64,
    pub(super) reason: String,
    pub(super) message: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Degraded {
    pub(super) operator: String,
    /// From the start of its own update.
    pub(super) after_secs: f64,
    pub(super) for_secs: f64,
    pub(super) reason: String,
    /// One message after the other while it lasts: only the recording keeps the earlier ones.
    pub(super) messages: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrashLoop {
    pub(super) app: String,
    pub(super) exit_code: i32,
    pub(super) runs_secs: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForceDelete {
    /// A `StatefulSet` of one: its Pod comes back under the same name.
    pub(super) app: String,
    pub(super) at_secs: f64,
}

/// A Secret whose values must never be recorded.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretSpec {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) created_secs: f64,
    /// Key and value; a value is found nowhere else in the scenario.
    pub(super) data: Vec<(String, String)>,
    /// Whether `kubectl apply` left the data in an annotation too.
    #[serde(default)]
    pub(super) applied: bool,
    /// A later write with other values.
    #[serde(default)]
    pub(super) rotated: Option<Rotated>,
    #[serde(default)]
    pub(super) deleted_secs: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rotated {
    pub(super) at_secs: f64,
    pub(super) data: Vec<(String, String)>,
}

impl Operator {
    /// Its Deployment, its Pods' app, and the name in its writes.
    pub(super) fn deployment(&self) -> String {
        if self.name.ends_with("-operator") {
            self.name.clone()
        } else {
            format!("{}-operator", self.name)
        }
    }
}
