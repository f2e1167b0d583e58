//! The facts of a cluster at a moment. It does not handle guesses: what no object told is `None`.

use kubereel_format::RecordedAt;

/// The topologies of OpenShift, `TopologyMode` of its API.
pub(crate) const TOPOLOGIES: [&str; 5] = [
    "HighlyAvailable",
    "HighlyAvailableArbiter",
    "SingleReplica",
    "DualReplica",
    "External",
];

/// Platforms, with upstream's short words.
pub(crate) const PLATFORMS: [(&str, &str); 10] = [
    ("AWS", "aws"),
    ("Azure", "azure"),
    ("GCP", "gcp"),
    ("BareMetal", "metal"),
    ("VSphere", "vsphere"),
    ("oVirt", "ovirt"),
    ("OpenStack", "openstack"),
    ("Libvirt", "libvirt"),
    ("KubeVirt", "kubevirt"),
    ("None", "none"),
];

/// Types of the pod network, with short words.
pub(crate) const NETWORKS: [(&str, &str); 2] = [("OVNKubernetes", "ovn"), ("OpenShiftSDN", "sdn")];

/// Returns the short words of a table.
pub(crate) fn short_words(table: &[(&str, &'static str)]) -> Vec<&'static str> {
    table.iter().map(|(_, short)| *short).collect()
}

/// Returns the short word for one of a table.
pub(super) fn short_word(table: &[(&str, &str)], word: &str) -> Option<String> {
    let found = table.iter().find(|(long, _)| *long == word);
    found.map(|(_, short)| (*short).to_owned())
}

/// A time in which an upgrade was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeWindow {
    /// The version before; may be empty.
    pub from_version: String,
    /// The version asked for; may be empty.
    pub to_version: String,
    /// When it was accepted.
    pub from: RecordedAt,
    /// When it ended, completed or superseded; `None` if it did not.
    pub to: Option<RecordedAt>,
    /// Whether it was completed.
    pub is_completed: bool,
}

/// What cluster it was at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// One of `TOPOLOGIES`, or what later releases add.
    pub topology: Option<String>,
    /// The topology of the workers, in the same words.
    pub infrastructure_topology: Option<String>,
    /// Upstream's short word, such as `aws` or `metal`.
    pub platform: Option<String>,
    /// `ovn` or `sdn`.
    pub network: Option<String>,
    /// `IPv4`, `IPv6` or `Dual`.
    pub ip_stack: Option<String>,
    /// The architecture of the control plane, such as `amd64`.
    pub architecture: Option<String>,
    /// The version being applied or applied last, such as `4.21.9`.
    pub version: Option<String>,
    /// The version before it.
    pub from_version: Option<String>,
    /// Every version of the history, newest first.
    pub history: Vec<String>,
    /// How many nodes are workers.
    pub workers: Option<u64>,
    /// How many nodes are of the control plane.
    pub masters: Option<u64>,
}
