//! The parsed fields of the objects that an upgrade changes. Absent or null fields are empty: old
//! versions of a kind have fewer fields.

use crate::condition::StatusCondition;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_history::{LabelSelector, timetext};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The prefix of the annotations by which the payload describes an operator's role.
const OF_PAYLOAD: [&str; 2] = [
    "include.release.openshift.io/",
    "exclude.release.openshift.io/",
];

/// Defines the parsed fields of an object: an absent or null member has its default.
macro_rules! objects {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$attr:meta])* $field_vis:vis $field:ident: $type:ty,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        $vis struct $name {
            $($(#[$attr])* #[serde(deserialize_with = "or_default")] $field_vis $field: $type,)+
        }
    )+};
}

objects! {
    /// What objects of all kinds have.
    struct AnyObject {
        metadata: AnyMetadata,
    }

    struct AnyMetadata {
        creation_timestamp: String,
    }

    /// A version of a `ClusterOperator`.
    pub(crate) struct OperatorObject {
        metadata: OperatorMetadata,
        status: OperatorStatus,
    }

    struct OperatorMetadata {
        annotations: BTreeMap<String, String>,
    }

    struct OperatorStatus {
        versions: Vec<OperandVersion>,
        conditions: Vec<Value>,
    }

    struct OperandVersion {
        name: String,
        version: String,
    }

    /// A version of `ClusterVersion`.
    pub(crate) struct VersionObject {
        pub(crate) metadata: VersionMetadata,
        pub(crate) spec: VersionSpec,
        pub(crate) status: VersionStatus,
    }

    pub(crate) struct VersionMetadata {
        pub(crate) uid: String,
        pub(crate) generation: u64,
    }

    pub(crate) struct VersionSpec {
        pub(crate) desired_update: Option<DesiredUpdate>,
    }

    /// The requested release of the cluster.
    #[derive(PartialEq, Eq)]
    pub(crate) struct DesiredUpdate {
        pub(crate) version: String,
        pub(crate) image: String,
        pub(crate) force: bool,
    }

    pub(crate) struct VersionStatus {
        pub(crate) desired: DesiredRelease,
        pub(crate) observed_generation: u64,
        pub(crate) history: Vec<HistoryEntry>,
        pub(crate) conditions: Vec<Value>,
    }

    #[derive(PartialEq, Eq)]
    pub(crate) struct DesiredRelease {
        pub(crate) version: String,
        pub(crate) image: String,
    }

    /// One entry of the history, newest first in the object.
    #[derive(PartialEq, Eq)]
    pub(crate) struct HistoryEntry {
        state: String,
        started_time: String,
        completion_time: String,
        pub(crate) version: String,
        pub(crate) image: String,
        pub(crate) verified: bool,
        pub(crate) accepted_risks: String,
    }

    /// A version of a Node.
    pub(crate) struct NodeObject {
        metadata: NodeMetadata,
        spec: NodeSpec,
        status: NodeStatus,
    }

    struct NodeMetadata {
        labels: BTreeMap<String, String>,
        annotations: BTreeMap<String, String>,
    }

    struct NodeSpec {
        unschedulable: bool,
    }

    struct NodeStatus {
        conditions: Vec<Value>,
        node_info: NodeInfo,
    }

    struct NodeInfo {
        #[serde(rename = "bootID")]
        boot_id: String,
    }

    /// A version of a Pod.
    pub(crate) struct PodObject {
        pub(crate) metadata: PodMetadata,
        pub(crate) spec: PodSpec,
        status: PodPhase,
    }

    pub(crate) struct PodMetadata {
        pub(crate) labels: BTreeMap<String, String>,
        deletion_timestamp: String,
    }

    pub(crate) struct PodSpec {
        pub(crate) node_name: String,
    }

    struct PodPhase {
        phase: String,
    }

    /// A version of a `MachineConfigPool`.
    pub(crate) struct PoolObject {
        pub(crate) spec: PoolSpec,
        pub(crate) status: PoolStatus,
    }

    pub(crate) struct PoolSpec {
        pub(crate) paused: bool,
        pub(crate) configuration: ConfigReference,
        pub(crate) node_selector: Value,
    }

    pub(crate) struct ConfigReference {
        pub(crate) name: String,
    }

    pub(crate) struct PoolStatus {
        pub(crate) conditions: Vec<Value>,
        pub(crate) machine_count: u64,
        pub(crate) updated_machine_count: u64,
    }

    /// A version of a `MachineConfig`; the fields that may contain secrets are not parsed.
    pub(crate) struct MachineConfig {
        metadata: ConfigMetadata,
    }

    struct ConfigMetadata {
        annotations: BTreeMap<String, String>,
    }

    /// A version of a `PodDisruptionBudget`.
    pub(crate) struct DisruptionBudget {
        pub(crate) spec: BudgetSpec,
        status: BudgetStatus,
    }

    pub(crate) struct BudgetSpec {
        /// An absent selector selects nothing.
        pub(crate) selector: Value,
    }

    struct BudgetStatus {
        disruptions_allowed: Option<i64>,
    }
}

impl OperatorObject {
    /// Returns the version of a name in its list: `operator` for the operator itself.
    pub(crate) fn version_of(&self, name: &str) -> Option<&str> {
        let versions = &self.status.versions;
        let found = versions.iter().find(|version| version.name == name);
        found.map(|version| version.version.as_str())
    }

    /// Returns its own version; empty before it reports one.
    pub(crate) fn version(&self) -> &str {
        self.version_of("operator").unwrap_or_default()
    }

    pub(crate) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        StatusCondition::find(&self.status.conditions, kind)
    }

    pub(crate) fn conditions(&self) -> &[Value] {
        &self.status.conditions
    }

    pub(crate) fn is(&self, kind: &str, status: &str) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition.is(status))
    }

    /// Returns whether it comes from the payload; `oc` counts only those.
    pub(crate) fn is_of_payload(&self) -> bool {
        let mut names = self.metadata.annotations.keys();
        names.any(|name| OF_PAYLOAD.iter().any(|begin| name.starts_with(begin)))
    }
}

/// Reads when an object was created, by the server's clock.
pub(crate) fn created(object: &[u8]) -> Option<RecordedAt> {
    let any: AnyObject = serde_json::from_slice(object).ok()?;
    timetext::parsed(&any.metadata.creation_timestamp)
}

impl HistoryEntry {
    pub(crate) fn is_completed(&self) -> bool {
        self.state == "Completed"
    }

    pub(crate) fn started(&self) -> Option<RecordedAt> {
        time(&self.started_time)
    }

    pub(crate) fn completed(&self) -> Option<RecordedAt> {
        time(&self.completion_time)
    }

    /// Returns whether both are the same entry: a version may be added later.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.started_time == other.started_time && self.image == other.image
    }
}

/// The prefix of the annotations of the machine config operator.
pub(crate) const CONFIG_PREFIX: &str = "machineconfiguration.openshift.io/";

/// The prefix of a drain's name; an uncordon has another one.
pub(crate) const DRAIN: &str = "drain-";

impl NodeObject {
    /// Returns the machine-config operator's annotation with a name; empty if there is none.
    pub(crate) fn noted(&self, name: &str) -> &str {
        self.metadata
            .annotations
            .get(&format!("{CONFIG_PREFIX}{name}"))
            .map_or("", String::as_str)
    }

    pub(crate) const fn labels(&self) -> &BTreeMap<String, String> {
        &self.metadata.labels
    }

    pub(crate) const fn is_unschedulable(&self) -> bool {
        self.spec.unschedulable
    }

    pub(crate) fn conditions(&self) -> &[Value] {
        &self.status.conditions
    }

    pub(crate) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        StatusCondition::find(&self.status.conditions, kind)
    }

    /// Returns whether it reports Ready; a node without the condition does not.
    pub(crate) fn is_ready(&self) -> bool {
        self.condition("Ready")
            .is_some_and(|condition| condition.is("True"))
    }

    pub(crate) fn boot_id(&self) -> &str {
        &self.status.node_info.boot_id
    }

    /// Returns whether the daemon gave up on it until it is repaired.
    pub(crate) fn is_degraded(&self) -> bool {
        !self.noted("desiredConfig").is_empty()
            && matches!(self.noted("state"), "Degraded" | "Unreconcilable")
    }
}

impl PodObject {
    pub(crate) fn is_going(&self) -> bool {
        !self.metadata.deletion_timestamp.is_empty()
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.status.phase.as_str(), "Failed" | "Succeeded")
    }
}

impl MachineConfig {
    /// Returns its release; empty if it has none.
    pub(crate) fn release(&self) -> &str {
        self.metadata
            .annotations
            .get("machineconfiguration.openshift.io/release-image-version")
            .map_or("", String::as_str)
    }
}

impl DisruptionBudget {
    /// Returns whether it allows no eviction; without a status it is not known.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.status
            .disruptions_allowed
            .is_some_and(|allowed| allowed <= 0)
    }
}

const CONTROL_PLANE: &str = "master";
const WORKER: &str = "worker";

/// Returns the pool of a node with these labels.
pub(super) fn pool_of<'a>(
    pools: &'a BTreeMap<String, PoolObject>,
    labels: &BTreeMap<String, String>,
) -> Option<&'a String> {
    let fits = |(_, pool): &(&String, &PoolObject)| {
        LabelSelector::of_value(&pool.spec.node_selector).is_some_and(|one| one.matches(labels))
    };
    let order = |name: &String| match name.as_str() {
        CONTROL_PLANE => 0,
        WORKER => 2,
        _ => 1,
    };
    let fitting = pools.iter().filter(fits).map(|(name, _)| name);
    fitting.min_by_key(|name| order(name))
}

/// Reads null as the default.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Parses a time of an object; `None` if it is empty or invalid.
pub(crate) fn time(text: &str) -> Option<RecordedAt> {
    let at: Timestamp = text.parse().ok()?;
    Some(RecordedAt::from_micros(at.as_microsecond()))
}
