//! The meaning of states: the one interpretation of conditions and Pod phases. A condition whose
//! good status is not known has no health, because a guess would be shown as a fact.

use crate::condition::{ControllerReport, StatusCondition, condition_word};
use crate::objects::CONFIG_PREFIX;
use crate::pod::PodStage;
use crate::state_health::StateHealth;
use crate::stated_fault::StatedFaults;
use crate::status_word::StatusWord;
use crate::workload::{self, WorkloadStage};
use kubereel_format::ResourceInfo;
use kubereel_history::field::{at, is_being_deleted, is_true, items, text};
use serde_json::Value;

/// The taint by which the cluster autoscaler marks a Node before it drains and deletes it.
const REMOVAL_TAINT: &str = "ToBeDeletedByClusterAutoscaler";

/// A kind of object with derived states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// `ClusterVersion`.
    Version,
    /// `ClusterOperator`.
    Operator,
    /// `MachineConfigPool`.
    Pool,
    /// `Node`.
    Node,
    /// `Deployment`: only its state as a whole is derived, as for the other workloads.
    Deployment,
    /// `StatefulSet`.
    StatefulSet,
    /// `DaemonSet`.
    DaemonSet,
    /// `Job`.
    Job,
    /// `Pod`: only its state as a whole is derived, because there are many.
    Pod,
    /// An object of any other resource: its conditions determine its state, by the types that the
    /// API conventions and known controllers use.
    Other(StatedFaults),
}

/// A condition type, and the meaning of its `True` and `False`.
type ConditionMeaning = (&'static str, StateHealth, StateHealth);

const VERSION: &[ConditionMeaning] = &[
    ("Available", StateHealth::Good, StateHealth::Down),
    ("Failing", StateHealth::Bad, StateHealth::Good),
    // The requested release cannot be retrieved or must not be installed.
    ("ReleaseAccepted", StateHealth::Good, StateHealth::Bad),
    // Reported only while it is True.
    ("Invalid", StateHealth::Bad, StateHealth::Good),
    ("Progressing", StateHealth::Changing, StateHealth::Good),
];
const OPERATOR: &[ConditionMeaning] = &[
    ("Available", StateHealth::Good, StateHealth::Down),
    ("Degraded", StateHealth::Bad, StateHealth::Good),
    ("Progressing", StateHealth::Changing, StateHealth::Good),
    (UPGRADEABLE, StateHealth::Good, StateHealth::Changing),
];
const POOL: &[ConditionMeaning] = &[
    // NodeDegraded and RenderDegraded are parts of it.
    ("Degraded", StateHealth::Bad, StateHealth::Good),
    ("Updating", StateHealth::Changing, StateHealth::Good),
];
const NODE: &[ConditionMeaning] = &[
    ("Ready", StateHealth::Good, StateHealth::Down),
    ("DiskPressure", StateHealth::Bad, StateHealth::Good),
    ("MemoryPressure", StateHealth::Bad, StateHealth::Good),
    ("PIDPressure", StateHealth::Bad, StateHealth::Good),
    ("NetworkUnavailable", StateHealth::Bad, StateHealth::Good),
    // Conditions of the node problem detector, and of old releases.
    ("KernelDeadlock", StateHealth::Bad, StateHealth::Good),
    ("ReadonlyFilesystem", StateHealth::Bad, StateHealth::Good),
    ("CorruptDockerOverlay2", StateHealth::Bad, StateHealth::Good),
    ("OutOfDisk", StateHealth::Bad, StateHealth::Good),
];

const DEPLOYMENT: &[ConditionMeaning] = &[
    ("Available", StateHealth::Good, StateHealth::Bad),
    ("Progressing", StateHealth::Good, StateHealth::Bad),
    ("ReplicaFailure", StateHealth::Bad, StateHealth::Good),
];
const JOB: &[ConditionMeaning] = &[
    ("Failed", StateHealth::Bad, StateHealth::Good),
    ("Complete", StateHealth::Good, StateHealth::Changing),
    ("Suspended", StateHealth::Changing, StateHealth::Good),
];
const POD: &[ConditionMeaning] = &[
    ("PodScheduled", StateHealth::Good, StateHealth::Bad),
    ("Initialized", StateHealth::Good, StateHealth::Changing),
    ("ContainersReady", StateHealth::Good, StateHealth::Changing),
    ("Ready", StateHealth::Good, StateHealth::Changing),
    ("DisruptionTarget", StateHealth::Changing, StateHealth::Good),
];

/// The condition that says whether a Node works.
const READY: &str = "Ready";
/// The condition that says whether an operator works.
const AVAILABLE: &str = "Available";
/// Whether an operator can be upgraded does not describe its health.
const UPGRADEABLE: &str = "Upgradeable";

impl StateKind {
    /// Every kind with one resource.
    pub const ALL: [Self; 9] = [
        Self::Version,
        Self::Operator,
        Self::Pool,
        Self::Node,
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::Job,
        Self::Pod,
    ];

    /// Returns the kind of a resource's objects.
    pub fn of(group: &str, plural: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.resource() == Some((group, plural)))
    }

    /// The kind of objects with only the conditions that all controllers share.
    pub const UNKNOWN: Self = Self::Other(StatedFaults::NONE);

    /// Returns the kind of a resource's objects; [`Self::Other`] without one of their own.
    pub fn of_resource(resource: &ResourceInfo) -> Self {
        let known = Self::of(&resource.group, &resource.plural);
        known.unwrap_or_else(|| Self::Other(StatedFaults::of(resource)))
    }

    /// Returns whether it is one of many kinds without a resource of its own here.
    pub const fn is_other(self) -> bool {
        matches!(self, Self::Other(_))
    }

    /// Returns the API group and the plural of its resource; `None` if it has several.
    pub const fn resource(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Version => ("config.openshift.io", "clusterversions"),
            Self::Operator => ("config.openshift.io", "clusteroperators"),
            Self::Pool => ("machineconfiguration.openshift.io", "machineconfigpools"),
            Self::Node => ("", "nodes"),
            Self::Deployment => ("apps", "deployments"),
            Self::StatefulSet => ("apps", "statefulsets"),
            Self::DaemonSet => ("apps", "daemonsets"),
            Self::Job => ("batch", "jobs"),
            Self::Pod => ("", "pods"),
            Self::Other(_) => return None,
        })
    }

    /// Returns whether its conditions have states of their own.
    pub const fn has_conditions(self) -> bool {
        matches!(
            self,
            Self::Version | Self::Operator | Self::Pool | Self::Node
        )
    }

    /// Returns the fields from which its states are derived, as paths with dots; of lists, those of
    /// every item.
    pub fn paths(self) -> impl Iterator<Item = &'static str> {
        let (reported, stated) = match self {
            Self::Other(faults) => (ControllerReport::PATHS, faults),
            _ => (&[][..], StatedFaults::NONE),
        };
        let own = self.own_paths().iter().chain(reported).copied();
        own.chain(stated.paths())
    }

    /// Returns the fields that only its kind has, or that its conditions have for it.
    const fn own_paths(self) -> &'static [&'static str] {
        match self {
            // Only parts of conditions: a heartbeat does not change a state.
            Self::Version | Self::Operator | Self::Pool => &[
                "status.conditions.type",
                "status.conditions.status",
                "status.conditions.reason",
                "status.conditions.message",
                "status.conditions.lastTransitionTime",
            ],
            Self::Node => &[
                "metadata.deletionTimestamp",
                "status.conditions.type",
                "status.conditions.status",
                "status.conditions.reason",
                "status.conditions.message",
                "status.conditions.lastTransitionTime",
                "spec.unschedulable",
            ],
            Self::Deployment | Self::StatefulSet | Self::DaemonSet => &[
                "metadata.deletionTimestamp",
                "spec.replicas",
                "status.availableReplicas",
                "status.readyReplicas",
                "status.updatedReplicas",
                "status.desiredNumberScheduled",
                "status.numberAvailable",
                "status.updatedNumberScheduled",
                "metadata.generation",
                "spec.updateStrategy",
                "status.observedGeneration",
                "status.replicas",
                "status.currentRevision",
                "status.updateRevision",
                "status.conditions.type",
                "status.conditions.status",
                "status.conditions.reason",
            ],
            Self::Job => &[
                "metadata.deletionTimestamp",
                "status.failed",
                "status.conditions.type",
                "status.conditions.status",
                "status.conditions.reason",
            ],
            Self::Pod => &[
                "status.conditions.type",
                "status.conditions.status",
                "status.conditions.reason",
                "metadata.deletionTimestamp",
                "status.phase",
                "status.reason",
                "status.containerStatuses.ready",
                "status.containerStatuses.state.waiting.reason",
                "status.initContainerStatuses.state.waiting.reason",
            ],
            Self::Other(_) => &[
                "metadata.deletionTimestamp",
                "status.phase",
                "status.state",
                "status.health.status",
            ],
        }
    }

    const fn meanings(self) -> &'static [ConditionMeaning] {
        match self {
            Self::Version => VERSION,
            Self::Operator => OPERATOR,
            Self::Pool => POOL,
            Self::Node => NODE,
            Self::Deployment => DEPLOYMENT,
            Self::Job => JOB,
            Self::Pod => POD,
            Self::StatefulSet | Self::DaemonSet | Self::Other(_) => &[],
        }
    }

    /// Returns the conditions with a health, in the order of weight.
    pub fn conditions(self) -> impl Iterator<Item = &'static str> {
        self.meanings().iter().map(|(kind, ..)| *kind)
    }

    /// Returns the health of a condition's status; `None` if its good status is not known.
    pub fn health_of(self, condition: &str, status: &str) -> Option<StateHealth> {
        if self.is_other() {
            return usual_meaning(condition, status);
        }
        let mut meanings = self.meanings().iter();
        let (_, if_true, if_false) = meanings.find(|(kind, ..)| *kind == condition)?;
        Some(match status {
            "True" => *if_true,
            "False" => *if_false,
            // A node that does not report does not work for its Pods.
            _ if condition == "Ready" => StateHealth::Down,
            _ => StateHealth::Unknown,
        })
    }

    /// Returns the health that a condition of any type shows on an object of this kind; `None` if
    /// the good status of the type is not known, or the reason says that it is not met by design.
    pub fn condition_health(
        self,
        condition: &str,
        status: &str,
        reason: &str,
    ) -> Option<StateHealth> {
        if status != "True" && REASONS_BY_DESIGN.contains(&reason) {
            return None;
        }
        let own = self.health_of(condition, status);
        own.or_else(|| usual_meaning(condition, status))
    }

    /// Returns the state of an object as a whole, with the reason in a few words: the worst of its
    /// conditions. `None` if no condition has a known meaning.
    pub fn whole(self, object: &Value) -> Option<(StateHealth, String)> {
        Some(match self {
            // The API server serves each of these with a status: an object without one comes from a
            // tool that removed it.
            Self::Pod | Self::Deployment | Self::StatefulSet | Self::DaemonSet | Self::Job
                if object.get("status").is_none() =>
            {
                (StateHealth::Unknown, "status not recorded".to_owned())
            }
            Self::Node | Self::Deployment | Self::StatefulSet | Self::DaemonSet | Self::Job
                if is_being_deleted(object) =>
            {
                (StateHealth::Changing, "Terminating".to_owned())
            }
            Self::Pod => {
                let (health, word) = pod(object);
                (health, word.to_owned())
            }
            Self::Deployment => of_stage(workload::deployment(object)),
            Self::StatefulSet => of_stage(workload::stateful_set(object)),
            Self::DaemonSet => of_stage(workload::daemon_set(object)),
            Self::Job => of_stage(workload::job(object)),
            Self::Version | Self::Operator | Self::Pool | Self::Node => self.worst(object),
            Self::Other(faults) => return other(object, faults),
        })
    }

    /// Returns the worst of an object's conditions. Whether a Node or an operator works is not known without the
    /// condition that says so, whatever the others say.
    fn worst(self, object: &Value) -> (StateHealth, String) {
        let counted = self.conditions().filter(|kind| *kind != UPGRADEABLE);
        let found = counted.filter_map(|kind| {
            let condition = StatusCondition::all(object).find(|one| one.kind == kind)?;
            Some((self.health_of(kind, condition.status)?, condition))
        });
        let worst = found.max_by_key(|(health, _)| *health);
        // An operator that is being installed reports first that it progresses.
        let (needed, hides) = match self {
            Self::Node => (READY, StateHealth::Unknown),
            Self::Operator if worst.is_some() => (AVAILABLE, StateHealth::Good),
            _ => ("", StateHealth::Absent),
        };
        let is_hidden = worst.as_ref().is_none_or(|(health, _)| *health <= hides);
        let is_missing = is_hidden
            && !needed.is_empty()
            && StatusCondition::all(object).all(|one| one.kind != needed);
        match worst {
            _ if is_missing => (StateHealth::Unknown, format!("{needed} is not reported")),
            None => (
                StateHealth::Changing,
                "no conditions are reported".to_owned(),
            ),
            Some((StateHealth::Good, _)) if self == Self::Node && is_cordoned(object) => {
                (StateHealth::Changing, "cordoned".to_owned())
            }
            Some((StateHealth::Good, _)) => (StateHealth::Good, String::new()),
            Some((health, one)) => (health, condition_word(one.kind, one.status, one.reason)),
        }
    }
}

/// Returns the meaning of a condition's status on an object of any kind.
fn usual_meaning(kind: &str, status: &str) -> Option<StateHealth> {
    match status {
        "True" | "False" => usual_health(kind, status),
        // Only if the good status is known, `Unknown` means that the health is unknown.
        _ => usual_health(kind, "True").map(|_| StateHealth::Unknown),
    }
}

/// Derives the state of an object from its conditions or, if none has a known meaning, from its
/// status word.
fn other(object: &Value, faults: StatedFaults) -> Option<(StateHealth, String)> {
    let stated = faults.read(object).into_iter().map(|one| one.health());
    let stated = stated.max_by_key(|(health, _)| *health);
    if let Some(worst) = stated.filter(|_| !is_being_deleted(object)) {
        return Some(worst);
    }
    let conditions = match ControllerReport::of(object) {
        ControllerReport::Suspended(word) => {
            return Some((StateHealth::Changing, word.to_owned()));
        }
        ControllerReport::Outdated => {
            let words = "the controller has not seen the last change";
            return Some((StateHealth::Changing, words.to_owned()));
        }
        ControllerReport::Conditions(conditions) => conditions,
    };
    let known = conditions
        .iter()
        .filter_map(|one| Some((one.meaning()?, one)));
    let (health, word) = match known.max_by_key(|(health, _)| *health) {
        // What is bad in a log of conditions is of the past.
        _ if faults.has_log_of_conditions() && !conditions.is_empty() => {
            (StateHealth::Good, String::new())
        }
        Some((StateHealth::Good, _)) => (StateHealth::Good, String::new()),
        Some((health, one)) => (health, condition_word(one.kind, one.status, one.reason)),
        None => {
            let said = StatusWord::of(object)?;
            (said.health?, format!("{} is {}", said.field, said.word))
        }
    };
    if is_being_deleted(object) {
        return Some((StateHealth::Changing, "Terminating".to_owned()));
    }
    Some((health, word))
}

fn of_stage(stage: WorkloadStage) -> (StateHealth, String) {
    match stage {
        WorkloadStage::AsWanted => (StateHealth::Good, String::new()),
        WorkloadStage::Complete => (StateHealth::Good, "Complete".to_owned()),
        WorkloadStage::Partial(words) => (StateHealth::Changing, words),
        WorkloadStage::Stuck(words) => (StateHealth::Bad, words),
        WorkloadStage::Nothing(words) => (StateHealth::Down, words),
    }
}

/// Returns whether a Node is cordoned.
pub fn is_cordoned(node: &Value) -> bool {
    is_true(node, "/spec/unschedulable")
}

/// Returns whether a Node is being removed: it was deleted, or the cluster autoscaler drains it before it deletes the
/// machine.
pub fn is_being_removed(node: &Value) -> bool {
    let mut taints = items(node, "/spec/taints").iter();
    is_being_deleted(node) || taints.any(|taint| text(taint, "/key") == REMOVAL_TAINT)
}

/// Returns whether the machine config operator applies another configuration to a Node, for which it may reboot it.
pub fn is_being_configured(node: &Value) -> bool {
    let noted = |name| {
        let all = at(node, "/metadata/annotations");
        let value = all.and_then(|all| all.get(format!("{CONFIG_PREFIX}{name}")));
        value.and_then(Value::as_str).unwrap_or_default()
    };
    let (current, desired) = (noted("currentConfig"), noted("desiredConfig"));
    let is_other = !current.is_empty() && !desired.is_empty() && current != desired;
    is_other && ["Working", "Rebooting"].contains(&noted("state"))
}

fn pod(object: &Value) -> (StateHealth, &str) {
    match PodStage::of(object) {
        PodStage::Terminating => (StateHealth::Changing, "Terminating"),
        PodStage::Succeeded => (StateHealth::Good, "Succeeded"),
        PodStage::Failed("") => (StateHealth::Down, "Failed"),
        PodStage::Failed(reason) => (StateHealth::Down, reason),
        PodStage::Stuck(reason) => (StateHealth::Bad, reason),
        PodStage::Ready => (StateHealth::Good, "Running"),
        PodStage::NotReady => (StateHealth::Changing, "not ready"),
        PodStage::Gated => (StateHealth::Changing, "SchedulingGated"),
        PodStage::Unschedulable(_) => (StateHealth::Bad, "Unschedulable"),
        PodStage::Pending => (StateHealth::Changing, "Pending"),
        PodStage::Unknown => (StateHealth::Unknown, "Unknown"),
    }
}

/// Types that are `True` on a healthy object, and types with the same ending.
const NORMAL_TRUE: [&str; 17] = [
    "Ready",
    "Available",
    "Healthy",
    "Synced",
    "Reconciled",
    "Succeeded",
    "Established",
    "NamesAccepted",
    "Programmed",
    "ResolvedRefs",
    "Released",
    "ArtifactInStorage",
    "Resolved",
    "Installed",
    "Valid",
    "Admitted",
    "ReconcileSuccess",
];
/// Types that are `True` on an unhealthy object, and types with the same ending: `NotReady` ends
/// like `Ready`, and means the opposite.
const ABNORMAL_TRUE: [&str; 14] = [
    "Degraded",
    "Failing",
    "Failed",
    "Failure",
    "Error",
    "Stalled",
    "Invalid",
    "NotReady",
    "Unhealthy",
    "Conflicted",
    "ResolutionFailed",
    "FetchFailed",
    "NonStructuralSchema",
    "Pressure",
];

/// Types that end like a known one, and tell nothing of the health: that there is nothing newer is well, too.
const NEUTRAL: [&str; 2] = ["UpdateAvailable", "UpgradeAvailable"];

/// Reasons by which a condition is not met by design.
const REASONS_BY_DESIGN: [&str; 4] = [
    // The containers have done their work.
    "PodCompleted",
    // Knative scaled it to zero.
    "NoTraffic",
    // A run of Tekton that was cancelled.
    "Cancelled",
    "TaskRunCancelled",
];

/// Parts of reasons that say that something failed, and does not just take its time.
const FAILING: [&str; 15] = [
    "Fail",
    "Error",
    "Invalid",
    "NotFound",
    "Denied",
    "Exceeded",
    "Timeout",
    "Forbidden",
    "Conflict",
    "Missing",
    "Unavailable",
    "Unreachable",
    "Degraded",
    "Crash",
    "BackOff",
];

impl StatusCondition<'_> {
    /// Returns whether its type reports a problem while it is `True`.
    pub fn is_abnormal_true(&self) -> bool {
        is_abnormal_true(self.kind)
    }

    /// Returns whether it is bad, and its reason says that something failed, not that it takes its time.
    pub fn has_failed(&self) -> bool {
        self.usual_health() == Some(StateHealth::Bad)
            && FAILING.iter().any(|part| self.reason.contains(part))
    }

    /// Returns its health on an object of any kind.
    fn meaning(&self) -> Option<StateHealth> {
        let health = StateKind::UNKNOWN.condition_health(self.kind, self.status, self.reason)?;
        let is_waiting = health == StateHealth::Bad && self.is_informative();
        Some(if is_waiting {
            StateHealth::Changing
        } else {
            health
        })
    }

    /// Returns its meaning on an object of any kind, by the types that the API conventions and
    /// known controllers use: `Good` or `Bad`; `None` if the type is not known, the status is
    /// `Unknown`, the reason says that it is not met by design, or the severity that it waits.
    pub fn usual_health(&self) -> Option<StateHealth> {
        self.meaning()
            .filter(|health| matches!(health, StateHealth::Good | StateHealth::Bad))
    }
}

fn is_abnormal_true(kind: &str) -> bool {
    ABNORMAL_TRUE.iter().any(|word| kind.ends_with(word))
}

fn usual_health(kind: &str, status: &str) -> Option<StateHealth> {
    let is_abnormal_true = is_abnormal_true(kind);
    let ends_with = |words: &[&str]| words.iter().any(|word| kind.ends_with(word));
    let is_known = is_abnormal_true || ends_with(&NORMAL_TRUE) && !ends_with(&NEUTRAL);
    let is_good = match status {
        "True" => !is_abnormal_true,
        "False" => is_abnormal_true,
        _ => return None,
    };
    is_known.then_some(if is_good {
        StateHealth::Good
    } else {
        StateHealth::Bad
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    #[test]
    fn an_operator_is_as_bad_as_its_worst_condition() {
        let operator = |available: &str, degraded: &str| {
            json!({"status": {"conditions": [
                {"type": "Available", "status": available},
                {"type": "Degraded", "status": degraded, "reason": "Why"},
                {"type": "Odd", "status": "True"},
            ]}})
        };
        let read = |object: &Value| StateKind::Operator.whole(object).expect("a state");
        assert_eq!(
            read(&operator("True", "False")),
            (StateHealth::Good, String::new())
        );
        assert_eq!(read(&operator("True", "True")).1, "Degraded=True Why");
        assert_eq!(read(&operator("False", "True")).0, StateHealth::Down);
        assert_eq!(read(&operator("True", "Unknown")).0, StateHealth::Unknown);
        assert_eq!(read(&json!({})).0, StateHealth::Changing);
        let other = |kind: &str, status: &str| {
            let one = json!({"type": kind, "status": status});
            read(&json!({"status": {"conditions": [one]}})).0
        };
        assert_eq!(other("Degraded", "False"), StateHealth::Unknown);
        assert_eq!(other("Progressing", "True"), StateHealth::Changing);
    }

    #[test]
    fn a_release_that_is_not_accepted_is_bad() {
        let version = |accepted: &str| {
            json!({"status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "ReleaseAccepted", "status": accepted, "reason": "RetrievePayload"},
            ]}})
        };
        let read = |accepted: &str| {
            let state = StateKind::Version.whole(&version(accepted));
            state.expect("a state")
        };
        assert_eq!(read("True"), (StateHealth::Good, String::new()));
        assert_eq!(
            read("False"),
            (
                StateHealth::Bad,
                "ReleaseAccepted=False RetrievePayload".to_owned()
            )
        );
    }

    #[test]
    fn a_pod_tells_why_it_is_not_well() {
        let read = |status: Value| {
            let state = StateKind::Pod.whole(&json!({"status": status}));
            state.expect("a state")
        };
        let waiting = json!([{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]);
        assert_eq!(
            read(json!({"phase": "Pending", "containerStatuses": waiting})),
            (StateHealth::Bad, "ImagePullBackOff".to_owned())
        );
        assert_eq!(read(json!({"phase": "Running"})).0, StateHealth::Good);
        let unready = json!([{"ready": false}]);
        let (state, _) = read(json!({"phase": "Running", "containerStatuses": unready}));
        assert_eq!(state, StateHealth::Changing);
        assert_eq!(
            read(json!({"phase": "Failed", "reason": "Evicted"})).1,
            "Evicted"
        );
    }

    #[test]
    fn the_polarity_of_a_condition_follows_its_type() {
        let of = |kind: &str, status: &str| {
            let item = json!({"type": kind, "status": status});
            StatusCondition::of(&item).usual_health()
        };
        assert_eq!(of("KafkaReady", "True"), Some(StateHealth::Good));
        assert_eq!(of("Ready", "False"), Some(StateHealth::Bad));
        assert_eq!(of("NotReady", "False"), Some(StateHealth::Good));
        assert_eq!(of("Stalled", "True"), Some(StateHealth::Bad));
        assert_eq!(of("Blue", "False"), None);
        assert_eq!(of("Ready", "Unknown"), None);
        // Nothing newer is there: neither good nor bad.
        assert_eq!(of("UpdateAvailable", "False"), None);
        let idle = json!({"type": "Ready", "status": "False", "reason": "NoTraffic"});
        assert_eq!(StatusCondition::of(&idle).usual_health(), None);
        let of_severity = |severity: &str| {
            let waits = json!({"type": "Ready", "status": "False", "reason": "ScalingUp",
                "severity": severity});
            let object = json!({"status": {"conditions": [waits]}});
            StateKind::UNKNOWN.whole(&object).map(|(health, _)| health)
        };
        assert_eq!(of_severity("Info"), Some(StateHealth::Changing));
        assert_eq!(of_severity("Warning"), Some(StateHealth::Bad));
    }

    #[test]
    fn an_object_of_any_resource_is_as_its_conditions_say() {
        let read = |conditions: Value| {
            let object = json!({"status": {"conditions": conditions}});
            StateKind::UNKNOWN.whole(&object)
        };
        let ready = |status: &str| json!([{"type": "Ready", "status": status, "reason": "Why"}, {"type": "Blue", "status": "False"}]);
        assert_eq!(
            read(ready("True")),
            Some((StateHealth::Good, String::new()))
        );
        let bad = (StateHealth::Bad, "Ready=False Why".to_owned());
        assert_eq!(read(ready("False")), Some(bad));
        let open = (StateHealth::Unknown, "Ready=Unknown Why".to_owned());
        assert_eq!(read(ready("Unknown")), Some(open));
        assert_eq!(read(json!([{"type": "Blue", "status": "True"}])), None);
        let failed = json!({"status": {"phase": "Failed"}});
        let word = (StateHealth::Bad, "phase is Failed".to_owned());
        assert_eq!(StateKind::UNKNOWN.whole(&failed), Some(word));
        let paused = json!({"spec": {"paused": true}, "status": {"conditions": ready("False")}});
        let state = StateKind::UNKNOWN.whole(&paused).map(|(_, word)| word);
        assert_eq!(state.as_deref(), Some("suspended"));
    }

    #[test]
    fn a_fault_that_an_object_states_is_its_state() {
        let of = |group: &str, plural: &str, status: Value| {
            let info = ResourceInfo::new(ResourceId(1), &format!("{group}/v1"), plural, "");
            StateKind::of_resource(&info).whole(&json!({"status": status}))
        };
        let bad = |words: &str| Some((StateHealth::Bad, words.to_owned()));
        let config = |conditions: Value| {
            let status = json!({"conditions": conditions});
            of(
                "machineconfiguration.openshift.io",
                "kubeletconfigs",
                status,
            )
        };
        let done = || json!({"type": "Success", "status": "True"});
        // The words of an error come with the status False, too.
        let refused = || json!({"type": "Failure", "status": "False"});
        assert_eq!(config(json!([done(), refused()])), bad("Failure=False"));
        let good = Some((StateHealth::Good, String::new()));
        assert_eq!(config(json!([refused(), done()])), good);
        assert_eq!(config(json!([])), None);
        let host = json!({"operationalStatus": "error"});
        let words = bad("operationalStatus is error");
        assert_eq!(of("metal3.io", "baremetalhosts", host), words);
        let machine = of(
            "machine.openshift.io",
            "machines",
            json!({"phase": "Provisioning"}),
        );
        let waits = (StateHealth::Changing, "phase is Provisioning".to_owned());
        assert_eq!(machine, Some(waits));
    }

    #[test]
    fn what_is_being_deleted_is_changing_and_a_null_is_no_time() {
        let read = |kind: StateKind, deleted: Value| {
            let object = json!({"metadata": {"deletionTimestamp": deleted},
                "spec": {"replicas": 3}, "status": {"phase": "Running", "readyReplicas": 0}});
            kind.whole(&object).expect("a state")
        };
        let going = (StateHealth::Changing, "Terminating".to_owned());
        for kind in [
            StateKind::Deployment,
            StateKind::StatefulSet,
            StateKind::Job,
            StateKind::Pod,
        ] {
            assert_eq!(read(kind, json!("2026-11-23T10:00:00Z")), going, "{kind:?}");
            assert_ne!(read(kind, Value::Null), going, "{kind:?}");
        }
    }

    #[test]
    fn a_silent_node_is_down_and_a_cordoned_one_is_being_changed() {
        let node = |ready: &str| {
            json!({"spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}})
        };
        let read = |ready: &str| StateKind::Node.whole(&node(ready)).expect("a state");
        assert_eq!(read("Unknown").0, StateHealth::Down);
        assert_eq!(read("True").1, "cordoned");
    }

    #[test]
    fn a_node_is_removed_from_its_deletion_or_the_taint_of_the_autoscaler_on() {
        let taint = |key: &str| json!({"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}});
        assert!(is_being_removed(&taint("ToBeDeletedByClusterAutoscaler")));
        assert!(!is_being_removed(&taint(
            "DeletionCandidateOfClusterAutoscaler"
        )));
        let deleted = json!({"metadata": {"deletionTimestamp": "2026-11-23T10:00:00Z"}});
        assert!(is_being_removed(&deleted));
    }

    #[test]
    fn a_node_is_configured_while_its_daemon_works_towards_another_configuration() {
        let is_configured = |desired: &str, state: &str| {
            let mut node = json!({"metadata": {"annotations": {}}});
            let all = [
                ("currentConfig", "a"),
                ("desiredConfig", desired),
                ("state", state),
            ];
            for (name, value) in all {
                node["metadata"]["annotations"][format!("{CONFIG_PREFIX}{name}")] = json!(value);
            }
            is_being_configured(&node)
        };
        assert!(is_configured("b", "Working"));
        assert!(is_configured("b", "Rebooting"));
        assert!(!is_configured("a", "Working"));
        assert!(!is_configured("b", "Done"));
        assert!(!is_configured("b", "Degraded"));
        assert!(!is_being_configured(&json!({})));
    }

    #[test]
    fn a_node_that_does_not_report_ready_is_unknown_unless_it_is_known_to_be_bad() {
        let read = |conditions: Value| {
            let node = json!({"status": {"conditions": conditions}});
            StateKind::Node.whole(&node).expect("a state")
        };
        let unknown = (StateHealth::Unknown, "Ready is not reported".to_owned());
        assert_eq!(read(json!([])), unknown);
        let pressure = |status: &str| json!([{"type": "DiskPressure", "status": status}]);
        assert_eq!(read(pressure("False")), unknown);
        assert_eq!(read(pressure("True")).0, StateHealth::Bad);
    }
}
