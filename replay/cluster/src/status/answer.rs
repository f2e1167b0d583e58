//! Owns what the state of an update at a moment is, in the terms of `oc adm upgrade status`.

use kubereel_format::RecordedAt;

/// The state of an update at one moment, judged by the rules of `oc adm upgrade status`.
///
/// It knows only what the objects said at that moment; times are those of their conditions. Alerts are
/// no objects: no insight is made of them.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateStatus {
    /// The moment that it is judged at.
    pub now: RecordedAt,
    /// Whether `oc` calls the cluster updating: it progresses, or worker nodes lag behind.
    pub is_updating: bool,
    /// The version that the history's newest entry names.
    pub target: String,
    /// What it comes from.
    pub origin: UpdateOrigin,
    /// How the control plane stands.
    pub assessment: Assessment,
    /// The operators that the payload brings.
    pub operators: OperatorCounts,
    /// When the update was taken up, on the operator's own clock.
    pub started: Option<RecordedAt>,
    /// When it was completed, on the operator's own clock.
    pub completed: Option<RecordedAt>,
    /// How long it runs, or ran, in microseconds.
    pub elapsed_micros: i64,
    /// How long it may still take; `None` where `oc` gives none.
    pub estimate: Option<Estimate>,
    /// The pools, that of the control plane first.
    pub pools: Vec<PoolState>,
    /// What needs attention, the worst first.
    pub insights: Vec<Insight>,
}

/// What an update comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOrigin {
    /// Nothing: it is the first installation.
    Nothing,
    /// A version that was reached.
    Version(String),
    /// A version that was never reached completely.
    Partial(String),
    /// Another image of the same version: one for several architectures.
    SameVersion,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// It moves.
    Progressing,
    /// It should be over by now.
    ProgressingSlow,
    /// It should be over since long.
    Stalled,
    /// All of it is done.
    Completed,
    /// None of it has begun.
    Pending,
    /// It is paused.
    Excluded,
    /// Some of it is degraded.
    Degraded,
    /// There is nothing in it.
    Empty,
}

impl Assessment {
    /// Returns the words that `oc` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Progressing => "Progressing",
            Self::ProgressingSlow => "Progressing - Slow",
            Self::Stalled => "Stalled",
            Self::Completed => "Completed",
            Self::Pending => "Pending",
            Self::Excluded => "Excluded",
            Self::Degraded => "Degraded",
            Self::Empty => "Empty",
        }
    }
}

/// The operators that the payload brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorCounts {
    /// All of them.
    pub total: u32,
    /// Those that report the version.
    pub updated: u32,
    /// Those that do not and are Progressing, by name.
    pub updating: Vec<String>,
    /// Those that do not and are not Progressing, by name.
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

/// An estimate, as `oc` makes it: no more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How much longer it takes, in seconds; negative if it should be over.
    pub remaining_secs: i64,
    /// How long all of it takes, in seconds.
    pub total_secs: i64,
}

/// A pool of nodes at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolState {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub assessment: Assessment,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Its nodes, the most urgent first.
    pub nodes: Vec<NodeState>,
}

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub assessment: NodeAssessment,
    /// What is done to it.
    pub phase: NodePhase,
    /// The release of its current configuration; empty if that is not recorded.
    pub version: String,
    /// Why it is as it is; may be empty.
    pub message: String,
    /// Whether it can take Pods.
    pub is_available: bool,
    /// Whether its daemon gave up.
    pub is_degraded: bool,
}

/// How a node stands, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeAssessment {
    /// Its daemon gave up.
    Degraded,
    /// It cannot take Pods, and no update explains it.
    Unavailable,
    /// It is being updated.
    Progressing,
    /// Its pool is paused.
    Excluded,
    /// Its turn is to come.
    Outdated,
    /// It is updated.
    Completed,
}

impl NodeAssessment {
    /// Returns the word that `oc` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Degraded => "Degraded",
            Self::Unavailable => "Unavailable",
            Self::Progressing => "Progressing",
            Self::Excluded => "Excluded",
            Self::Outdated => "Outdated",
            Self::Completed => "Completed",
        }
    }
}

/// What is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodePhase {
    /// Its Pods are taken away.
    Draining,
    /// Its system is changed.
    Updating,
    /// It reboots.
    Rebooting,
    /// Its pool is paused.
    Paused,
    /// Nothing yet.
    Pending,
    /// Nothing any more.
    Updated,
}

impl NodePhase {
    /// Returns the word that `oc` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draining => "Draining",
            Self::Updating => "Updating",
            Self::Rebooting => "Rebooting",
            Self::Paused => "Paused",
            Self::Pending => "Pending",
            Self::Updated => "Updated",
        }
    }
}

impl PoolState {
    /// Counts the nodes of which something holds.
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

/// Something that needs attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insight {
    /// How bad it is.
    pub level: InsightLevel,
    /// What it does.
    pub impact: Impact,
    /// In the words of `oc`.
    pub summary: String,
    /// In the words of the object; may be empty.
    pub description: String,
    /// Since when, on its own clock; `None` if it does not say.
    pub since: Option<RecordedAt>,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InsightLevel {
    /// It needs somebody.
    Error,
    /// It may pass.
    Warning,
    /// All is well.
    Info,
}

impl InsightLevel {
    /// Returns the word that `oc` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Warning => "Warning",
            Self::Info => "Info",
        }
    }
}

/// What something does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impact {
    /// Nothing.
    None,
    /// Parts of the API may not answer.
    ApiAvailability,
    /// The update does not go on.
    UpdateStalled,
    /// The update goes on slowly.
    UpdateSpeed,
}

impl Impact {
    /// Returns the words that `oc` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::ApiAvailability => "API Availability",
            Self::UpdateStalled => "Update Stalled",
            Self::UpdateSpeed => "Update Speed",
        }
    }
}
