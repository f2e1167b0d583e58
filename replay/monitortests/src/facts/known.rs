//! The facts of a cluster at a moment. It does not handle guesses: what no object told is `None`.

use crate::release::Release;
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

impl Facts {
    /// Takes a fact from a person's words, by the name that the command line has for it.
    ///
    /// # Errors
    /// When there is no fact of that name, or it cannot have that value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let one_of = |known: &[&str]| {
            let is_known = known.contains(&value);
            let list = || format!("expected one of {}", known.join(", "));
            is_known.then_some(()).ok_or_else(list)
        };
        let version = || {
            let release = Release::of(value).map(|_| ());
            release.ok_or_else(|| "expected a version such as 4.21.9".to_owned())
        };
        let (field, is_fit) = match name {
            "topology" => (&mut self.topology, one_of(&TOPOLOGIES)),
            "platform" => (&mut self.platform, one_of(&short_words(&PLATFORMS))),
            "network" => (&mut self.network, one_of(&short_words(&NETWORKS))),
            "architecture" if value.is_empty() => (
                &mut self.architecture,
                Err("expected a word such as amd64".to_owned()),
            ),
            "architecture" => (&mut self.architecture, Ok(())),
            "version" => (&mut self.version, version()),
            "from-version" => (&mut self.from_version, version()),
            _ => {
                return Err(format!(
                    "unknown fact {name:?}: expected topology, platform, network, architecture, version or from-version"
                ));
            }
        };
        is_fit.map_err(|expected| format!("{name} {value:?}: {expected}"))?;
        *field = Some(value.to_owned());
        Ok(())
    }
}
