//! The state of an update at a moment, in the terms of `oc adm upgrade status`.

use kubereel_format::RecordedAt;
use kubereel_format::worded;

/// The state of an update at one moment, judged by the rules of `oc adm upgrade status`.
///
/// It is derived from the objects at that moment; times are those of their conditions. Alerts are
/// not objects, so there are no insights about them.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateStatus {
    /// The moment.
    pub now: RecordedAt,
    /// Whether `oc` calls the cluster updating: it progresses, or worker nodes are behind.
    pub is_updating: bool,
    /// The version in the newest entry of the history.
    pub target: String,
    /// Its origin.
    pub origin: UpdateOrigin,
    /// The assessment of the control plane.
    pub assessment: Assessment,
    /// The operators of the payload.
    pub operators: OperatorCounts,
    /// When the update was accepted, by the operator's own clock.
    pub started: Option<RecordedAt>,
    /// When it was completed, by the operator's own clock.
    pub completed: Option<RecordedAt>,
    /// Its duration so far, or in total, in microseconds.
    pub elapsed_micros: i64,
    /// The estimate of the remaining time; `None` if `oc` prints none.
    pub estimate: Option<Estimate>,
    /// The pools, the control plane first.
    pub pools: Vec<PoolState>,
    /// The insights, the worst first.
    pub insights: Vec<Insight>,
}

/// The origin of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOrigin {
    /// It is the first installation.
    Nothing,
    /// A completed version.
    Version(String),
    /// A version that was never completed.
    Partial(String),
    /// Another image of the same version: one for several architectures.
    SameVersion,
}

worded! {
/// An assessment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// It progresses.
    Progressing = "Progressing",
    /// It is slower than estimated.
    ProgressingSlow = "Progressing - Slow",
    /// It is much slower than estimated.
    Stalled = "Stalled",
    /// It is completed.
    Completed = "Completed",
    /// It has not begun.
    Pending = "Pending",
    /// It is paused.
    Excluded = "Excluded",
    /// A part of it is degraded.
    Degraded = "Degraded",
    /// It is empty.
    Empty = "Empty",
}
}

/// The operators of the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorCounts {
    /// Their number.
    pub total: u32,
    /// The number with the target version.
    pub updated: u32,
    /// Those without it that are Progressing, by name.
    pub updating: Vec<String>,
    /// Those without it that are not Progressing, by name.
    pub waiting: Vec<String>,
    /// Those that are not available, by name.
    pub unavailable: Vec<String>,
    /// Those that are available but degraded, by name.
    pub degraded: Vec<String>,
}

impl OperatorCounts {
    /// Returns the share of operators that are updated.
    pub fn completion(&self) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        f64::from(self.updated) / f64::from(self.total)
    }

    /// Returns how many are available and not degraded.
    pub fn healthy(&self) -> usize {
        let total = usize::try_from(self.total).unwrap_or(usize::MAX);
        total.saturating_sub(self.unavailable.len() + self.degraded.len())
    }
}

/// An estimate, as `oc` calculates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The remaining time, in seconds; negative if the expected end is in the past.
    pub remaining_secs: i64,
    /// The total time, in seconds.
    pub total_secs: i64,
}

/// A pool of nodes at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolState {
    /// Its name.
    pub name: String,
    /// Its assessment.
    pub assessment: Assessment,
    /// Whether it is paused.
    pub is_paused: bool,
    /// The number of updated nodes that the pool reports itself while it is not updated: those with
    /// its configuration, as of the last time that its controller counted them.
    pub reported: Option<u64>,
    /// Its nodes, in the order of `oc`.
    pub nodes: Vec<NodeState>,
}

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Its name.
    pub name: String,
    /// Its assessment.
    pub assessment: NodeAssessment,
    /// Its phase.
    pub phase: NodePhase,
    /// The release of its current configuration; empty if it was not recorded.
    pub version: String,
    /// The reason; may be empty.
    pub message: String,
    /// Whether it accepts Pods.
    pub is_available: bool,
    /// Whether its daemon gave up.
    pub is_degraded: bool,
}

worded! {
/// The assessment of a node, in the order of `oc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeAssessment {
    /// Its daemon gave up.
    Degraded = "Degraded",
    /// It does not accept Pods, and no update explains it.
    Unavailable = "Unavailable",
    /// It is being updated.
    Progressing = "Progressing",
    /// Its pool is paused.
    Excluded = "Excluded",
    /// It waits for its turn.
    Outdated = "Outdated",
    /// It is updated.
    Completed = "Completed",
}
}

worded! {
/// The phase of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodePhase {
    /// It is being drained.
    Draining = "Draining",
    /// Its system is being changed.
    Updating = "Updating",
    /// It reboots.
    Rebooting = "Rebooting",
    /// Its pool is paused.
    Paused = "Paused",
    /// Pending.
    Pending = "Pending",
    /// Updated.
    Updated = "Updated",
}
}

impl PoolState {
    /// Counts the nodes that match a predicate.
    pub fn count(&self, holds: impl Fn(&NodeState) -> bool) -> usize {
        self.nodes.iter().filter(|node| holds(node)).count()
    }

    /// Counts the nodes that are updated.
    pub fn updated(&self) -> usize {
        self.count(|node| node.phase == NodePhase::Updated)
    }

    /// Counts the nodes that are being updated and not degraded.
    pub fn progressing(&self) -> usize {
        self.count(|node| {
            let is_under_way = matches!(
                node.phase,
                NodePhase::Draining | NodePhase::Updating | NodePhase::Rebooting
            );
            is_under_way && !node.is_degraded
        })
    }
}

/// An insight: a matter that needs attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insight {
    /// Its level.
    pub level: InsightLevel,
    /// Its impact.
    pub impact: Impact,
    /// The text of `oc`.
    pub summary: String,
    /// The text of the object; may be empty.
    pub description: String,
    /// Its begin, by the object's own clock; `None` if it is not known.
    pub since: Option<RecordedAt>,
}

worded! {
/// The level of an insight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InsightLevel {
    /// Action is needed.
    Error = "Error",
    /// It may pass.
    Warning = "Warning",
    /// Information.
    Info = "Info",
}
}

worded! {
/// The impact of an insight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impact {
    /// Nothing.
    None = "None",
    /// Parts of the API may not respond.
    ApiAvailability = "API Availability",
    /// The update does not progress.
    UpdateStalled = "Update Stalled",
    /// The update progresses slowly.
    UpdateSpeed = "Update Speed",
}
}
