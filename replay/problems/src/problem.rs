//! A problem: what was wrong with one thing, from when to when, and what may have caused it.

use crate::sign::{ProblemClass, SignKind};
use kubereel_cluster::RecordMark;
use kubereel_format::{ObjectId, RecordedAt, ResourceId, worded};
use kubereel_history::ChangeKind;
use serde_json::Value;

/// More signs and objects of one problem are only counted.
pub(crate) const MOST_SIGNS: usize = 50;

/// The object that a problem is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProblemObject {
    /// Its kind, `Deployment`.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its resource; `None` if the reel does not have it.
    pub resource: Option<ResourceId>,
}

impl Problem {
    /// Returns the failure of a Pod that a Node may explain: the first one, if none of them is there at the end.
    pub(crate) fn failure_on_node(&self) -> Option<&NodeFailure> {
        let mut open = self.nodes.iter().filter(|one| one.is_open);
        open.next().or(self.nodes.first())
    }

    /// Returns whether it is known to be so at the end of the recording.
    pub const fn is_open(&self) -> bool {
        self.to.is_none() && self.unknown_end.is_none()
    }

    /// Says how often it was so, and in how many Pods of a workload; `None` if once, in one.
    pub fn frequency(&self) -> Option<String> {
        let is_of_pods =
            self.object.kind != "Pod" && self.signs.iter().all(|sign| sign.object.kind == "Pod");
        let pods = match self.shown_by.len() {
            0 | 1 => None,
            MOST_SIGNS => Some(format!("{MOST_SIGNS} or more Pods")),
            more => Some(format!("{more} Pods")),
        };
        let times = (self.count > 1).then(|| format!("{} times", self.count));
        match (times, pods.filter(|_| is_of_pods)) {
            (times, None) => times,
            (Some(times), Some(pods)) => Some(format!("{times} in {pods}")),
            (None, Some(pods)) => Some(format!("in {pods}")),
        }
    }
}

impl ProblemObject {
    /// Returns `Kind namespace/name`.
    pub fn label(&self) -> String {
        match (self.namespace.as_str(), self.name.as_str()) {
            (_, "") => self.kind.clone(),
            ("", name) => format!("{} {name}", self.kind),
            (namespace, name) => format!("{} {namespace}/{name}", self.kind),
        }
    }
}

/// One sign of a problem, with the object that showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemSign {
    /// What is wrong.
    pub kind: SignKind,
    /// The object that showed it.
    pub object: ProblemObject,
    /// The object's own word.
    pub reason: String,
    /// The object's own words.
    pub message: String,
    /// The words that it began with, if later ones differ.
    pub(crate) began: Option<String>,
    /// The version that showed it first.
    pub from: RecordMark,
    /// When it ended; `None` if it did not.
    pub to: Option<RecordedAt>,
}

/// A change that may have caused a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The object that changed.
    pub object: ProblemObject,
    /// The record of the change.
    pub at: RecordMark,
    /// What happened.
    pub change: ChangeKind,
    /// The field; empty if the whole object was created or deleted.
    pub field: String,
    /// The value before.
    pub old: Option<Value>,
    /// The value after.
    pub new: Option<Value>,
    /// Who wrote the change, by the object's managedFields.
    pub by: Vec<String>,
    /// How the object is related to the problem's.
    pub via: String,
    /// The objects between the cause and the problem, where another problem lies between them.
    pub chain: Vec<ProblemObject>,
    pub(crate) score: f64,
}

/// The first failure of a Pod on a Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeFailure {
    pub(crate) node: String,
    pub(crate) pod: ObjectId,
    pub(crate) from: RecordMark,
    /// Whether a Pod on the Node fails at the end of the recording.
    pub(crate) is_open: bool,
}

/// Why it is not known whether a problem ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownEnd {
    /// Changes of the object were not observed from then on.
    Unobserved(RecordedAt),
    /// From then on the object reported neither that it is bad nor that it is well.
    Unreported(RecordedAt),
}

impl UnknownEnd {
    /// Returns the first time at which it may have ended.
    pub const fn since(self) -> RecordedAt {
        match self {
            Self::Unobserved(at) | Self::Unreported(at) => at,
        }
    }

    /// Returns the words that `since` follows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unobserved(_) => "changes may be missing",
            Self::Unreported(_) => "its status is not known",
        }
    }
}

/// What was wrong with one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The topmost object that it is about.
    pub object: ProblemObject,
    /// What is wrong: the most telling of the signs.
    pub kind: SignKind,
    /// What it belongs to.
    pub class: ProblemClass,
    /// The object's own word.
    pub reason: String,
    /// The object's own words.
    pub message: String,
    /// The version that showed it first.
    pub from: RecordMark,
    /// When it ended; `None` if no record shows its end.
    pub to: Option<RecordedAt>,
    /// The version that showed a sign of this kind first: a problem may begin with another sign.
    pub kind_from: RecordMark,
    /// When the last sign of this kind ended; `None` if no record shows its end.
    pub kind_to: Option<RecordedAt>,
    /// The version that gave the reason first; of a back-off, that of the failure before it.
    pub reason_from: RecordMark,
    /// The version that gave the message first, but for the numbers in it.
    pub message_from: RecordMark,
    /// Since when, and why, it is not known whether it ended.
    pub unknown_end: Option<UnknownEnd>,
    /// Whether it was so when the recording began.
    pub is_older: bool,
    /// Since when by the object itself, if that is before the recording.
    pub since: Option<RecordedAt>,
    /// Whether it ended because its object was deleted, which is not a recovery.
    pub ends_by_deletion: bool,
    /// How often it was so.
    pub count: u64,
    /// The objects of the reel whose versions showed it, the first first.
    pub shown_by: Vec<ObjectId>,
    /// All signs, in order of time; the first of many.
    pub signs: Vec<ProblemSign>,
    /// The Nodes of the Pods that showed it, the first first.
    pub(crate) nodes: Vec<NodeFailure>,
    /// Whether somebody meant it: a Node that was drained for its reboot.
    pub is_planned: bool,
    /// The rank of the problem that explains this one.
    pub consequence_of: Option<usize>,
    /// What may have caused it, the likeliest first.
    pub causes: Vec<Cause>,
    pub(crate) score: i32,
}

/// What an installation did that would be a problem at any other time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationNoise {
    /// What tells how far the installation is: `ClusterVersion`, or the namespace that is the first.
    pub object: ProblemObject,
    /// How many things there were.
    pub count: u64,
    /// When the first of them began.
    pub from: RecordedAt,
    /// When the installation was complete; `None` if it was not.
    pub completed: Option<RecordedAt>,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedReel {
    /// The events that were read.
    pub events: u64,
    /// The resources that are recorded.
    pub resources: usize,
    /// Events that could not be read.
    pub unreadable: u64,
    /// Resources of which changes may be missing at some time.
    pub unobserved: Vec<String>,
    /// Resources that problems are usually seen in, and the reel does not have.
    pub absent: Vec<&'static str>,
    /// Whether records are lost, so that what the reel does not have may have been recorded.
    pub has_lost_records: bool,
    /// Signs that were too many to be kept.
    pub dropped: u64,
}

worded! {
/// How a rollout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RolloutOutcome {
    /// All Pods have the template and are available.
    Complete = "complete",
    /// The workload got another template before.
    Replaced = "replaced",
    /// The workload was deleted before.
    Deleted = "deleted",
    /// It had not ended at the end of the recording.
    Incomplete = "incomplete",
    /// Its end may lie in a time that was not observed.
    Unknown = "unknown",
}
}

/// A rollout of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadRollout {
    /// The workload.
    pub workload: ProblemObject,
    /// When the first version with the template was received.
    pub from: RecordedAt,
    /// Whether it began earlier, in a time that was not observed.
    pub is_older: bool,
    /// When it ended; `None` if it did not, or if that was not observed.
    pub to: Option<RecordedAt>,
    /// How it ended.
    pub outcome: RolloutOutcome,
}

/// What was wrong in a reel, what an engineer wants first first.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemList {
    /// The problems; the place in the list is the rank.
    pub problems: Vec<Problem>,
    /// What was normal because the cluster was being installed.
    pub installation: Option<InstallationNoise>,
    /// The rollouts of workloads, in order of time.
    pub rollouts: Vec<WorkloadRollout>,
    /// What was looked at.
    pub checked: CheckedReel,
}

impl ProblemList {
    /// Returns the problems to be told by themselves, in the order of their ranks: those that were not planned, and
    /// that no other one explains.
    pub fn roots(&self) -> impl Iterator<Item = &Problem> {
        let all = self.problems.iter();
        all.filter(|problem| !problem.is_planned && problem.consequence_of.is_none())
    }

    /// Returns the problems that had not ended at the end, in the order of their ranks.
    pub fn open(&self) -> impl Iterator<Item = &Problem> {
        let all = self.problems.iter();
        all.filter(|problem| problem.is_open() && !problem.is_planned)
    }
}
