//! A problem on the screen: its kind, its rank, when it was, its object and the rules that found it.
//!
//! The order of the list, what matters most first:
//! 1. the problems of the reel, in the order of `kubereel problems`;
//! 2. what only rules that failed tell of, Events that repeat last;
//! 4. what is missing in the recording: it may hide anything;
//! 5. what was normal: disruptions that were planned, and the installation;
//! 6. what rules say that never fail a run;
//! 7. how objects are written: it was so all the time.
//!
//! Within each, what came first comes first.

use crate::findings::{FindingVerdict, ReportedFinding};
use crate::lane::LaneState;
use crate::subject::NamedObject;
use crate::time::{CursorPlace, span_text};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::Timeline;
use kubereel_problems::SignKind;
use std::sync::Arc;

/// One time at which it was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProblemOccurrence {
    /// Where one looks at it: behind the record that shows it, if there is one.
    pub(crate) place: CursorPlace,
    /// The record that shows it.
    pub(crate) seq: Option<Seq>,
    /// When it began.
    pub(crate) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<RecordedAt>,
}

impl ProblemOccurrence {
    /// Finds where one looks at it.
    pub(super) fn of(
        timeline: &Timeline,
        seq: Option<Seq>,
        from: RecordedAt,
        to: Option<RecordedAt>,
    ) -> Self {
        // What comes from a file may name a record that the reel does not have.
        let seq = seq.filter(|seq| *seq < timeline.reel().end());
        let place = match seq {
            Some(seq) => CursorPlace::of(timeline, timeline.shown_by(seq)),
            None => CursorPlace::within(timeline, from),
        };
        Self {
            place,
            seq,
            from,
            to,
        }
    }

    /// Tells whether a time lies in it, with `spare` microseconds on both sides.
    pub(super) fn has(&self, at: RecordedAt, spare: i64) -> bool {
        let before = self.from.micros.saturating_sub(spare);
        let after = self
            .to
            .map_or(i64::MAX, |to| to.micros.saturating_add(spare));
        (before..=after).contains(&at.micros)
    }

    /// Tells whether one looks at it behind the list that has its record, and not behind the record.
    pub(crate) fn is_of_list(&self) -> bool {
        self.seq
            .is_some_and(|seq| self.place.below.0 > seq.0.saturating_add(1))
    }

    /// Gives the moment for comparisons with a place.
    pub(crate) const fn key(&self) -> (RecordedAt, Seq) {
        (self.place.at, self.place.below)
    }
}

/// A rule that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleReport {
    /// The rule's id.
    pub(crate) rule: Arc<str>,
    /// The monitortest's name, as reports have it.
    pub(crate) test: Arc<str>,
    /// The outcome of the case.
    pub(crate) verdict: FindingVerdict,
    /// What it says, line by line.
    pub(crate) lines: Arc<[String]>,
}

/// A word about where a problem comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProblemOrigin {
    /// What, in words.
    pub(crate) words: String,
    /// The change that may have caused it: its record, and the object that changed.
    pub(crate) change: Option<(Seq, NamedObject)>,
}

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProblemEntry {
    /// Its kind.
    pub(crate) kind: ProblemKind,
    /// How bad it was.
    pub(crate) state: LaneState,
    /// Its place in the list of the reel's problems; `None` if only a rule or the recording reports
    /// it.
    pub(crate) listed: Option<usize>,
    /// Whether somebody meant it, or it is normal while a cluster is being installed.
    pub(crate) is_planned: bool,
    /// From when to when it was so, in the words of `kubereel problems`; `None` if it does not list it.
    pub(crate) times: Option<String>,
    /// Whether it was while the cluster was being installed.
    pub(crate) is_young: bool,
    /// What may have caused it, in words, the likeliest first.
    pub(crate) causes: Vec<ProblemOrigin>,
    /// What it led to, in words.
    pub(crate) led_to: Vec<String>,
    /// The object, where it is about one that the reel knows.
    pub(crate) subject: Option<NamedObject>,
    /// What it is about, in words.
    pub(crate) about: String,
    /// What is wrong.
    pub(crate) words: String,
    /// Whether something else than a rule reports it.
    pub(crate) is_seen: bool,
    /// When it was; at least once.
    pub(crate) spots: Vec<ProblemOccurrence>,
    /// How many times more it was than there are spots.
    pub(crate) more_spots: u64,
    /// Who says so, those first who fail.
    pub(crate) said: Vec<RuleReport>,
    /// What else it is about, in words.
    pub(crate) others: Vec<String>,
    /// How many more others there are.
    pub(crate) more_others: usize,
}

impl ProblemEntry {
    /// Gives the worst verdict of the rules that found it, if any did.
    pub(crate) fn verdict(&self) -> Option<FindingVerdict> {
        self.said.iter().map(|said| said.verdict).min()
    }

    /// Tells whether it was planned or normal, or only rules found it that never fail a run.
    pub(crate) fn is_minor(&self) -> bool {
        self.rank() >= 5
    }

    /// Gives how much it matters: the less, the more.
    pub(crate) fn rank(&self) -> u8 {
        match (self.is_planned, self.listed) {
            (true, _) => 5,
            (false, Some(_)) => 1,
            (false, None) => {
                let verdict = self.verdict().filter(|_| !self.is_seen);
                self.kind.rank(self.is_young, verdict)
            }
        }
    }

    /// Gives the sign of its state.
    pub(crate) fn glyph(&self) -> &'static str {
        if self.is_minor() {
            "▵"
        } else {
            self.state.glyph()
        }
    }

    /// Gives the first time at which it was so.
    pub(crate) fn first(&self) -> Option<&ProblemOccurrence> {
        self.spots.first()
    }

    /// Gives how often it was so.
    pub(crate) fn count(&self) -> u64 {
        let spots = self.spots.iter();
        spots.fold(self.more_spots, |count, _| count.saturating_add(1))
    }

    /// Says how long it was, or how often.
    pub(crate) fn long(&self) -> String {
        let count = self.count();
        match self.spots.first() {
            Some(spot) if count == 1 => match spot.to {
                None => "to the end".to_owned(),
                Some(to) if to <= spot.from => "a moment".to_owned(),
                Some(to) => span_text(to.micros_since(spot.from)),
            },
            _ => format!("{count} times"),
        }
    }
}

/// The kinds of problems; where one thing is of several kinds, the first of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProblemKind {
    /// No server answered.
    Outage,
    /// A release could not be retrieved.
    Payload,
    /// The cluster's version.
    Version,
    /// An operator.
    Operator,
    /// A pool.
    Pool,
    /// A node.
    Node,
    /// A container that ends again and again.
    CrashLoop,
    /// An image that cannot be pulled.
    Image,
    /// A pod that finds no node.
    Unschedulable,
    /// A pod in other trouble.
    Pod,
    /// A workload: its rollout, its replicas, its Jobs.
    Workload,
    /// A Service without endpoints, or an aggregated API.
    Service,
    /// A claim or a volume.
    Storage,
    /// A deletion that does not end.
    Deletion,
    /// A condition of any other object, a certificate, a Lease.
    Condition,
    /// An Event that repeats.
    Event,
    /// Another rule.
    Rule,
    /// The recording misses something.
    Gap,
    /// A part of the reel cannot be read.
    Damage,
    /// How an object is written.
    Written,
}

/// Rules about how objects are written, not about what happened to them.
pub(super) const WRITTEN: [&str; 9] = [
    "ha-anti-affinity",
    "ha-disruption-budget",
    "ha-health-checks",
    "ha-priority",
    "ha-replicas",
    "ha-requests",
    "no-default-service-account",
    "required-scc-annotation",
    "termination-message-policy",
];
/// The rule about retrieving releases.
pub(super) const PAYLOAD: &str = "version-pods";
/// The rule about gaps of the recording.
pub(super) const RECORDING: &str = "recording-complete";

impl ProblemKind {
    /// Gives the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::Payload => "payload",
            Self::Version => "version",
            Self::Operator => "operator",
            Self::Pool => "pool",
            Self::Node => "node",
            Self::CrashLoop => "crash loop",
            Self::Image => "image",
            Self::Unschedulable => "no node",
            Self::Pod => "pod",
            Self::Workload => "workload",
            Self::Service => "service",
            Self::Storage => "storage",
            Self::Deletion => "deletion",
            Self::Condition => "condition",
            Self::Event => "event",
            Self::Rule => "rule",
            Self::Gap => "gap",
            Self::Damage => "damage",
            Self::Written => "written",
        }
    }

    /// Gives the kind of a problem of the reel.
    pub(super) const fn of_sign(kind: SignKind) -> Self {
        match kind {
            SignKind::ApiOutage => Self::Outage,
            SignKind::ReleaseNotAccepted => Self::Payload,
            SignKind::VersionFailing => Self::Version,
            SignKind::OperatorUnavailable | SignKind::OperatorDegraded => Self::Operator,
            SignKind::PoolDegraded => Self::Pool,
            SignKind::NodeNotReady
            | SignKind::NodeRebooted
            | SignKind::NodePressure
            | SignKind::NodeCordoned
            | SignKind::DrainHeld => Self::Node,
            SignKind::OutOfMemory | SignKind::ContainerExit => Self::CrashLoop,
            SignKind::ImagePull => Self::Image,
            SignKind::Unschedulable => Self::Unschedulable,
            SignKind::ContainerConfig
            | SignKind::ContainerStart
            | SignKind::Evicted
            | SignKind::PodFailed
            | SignKind::Sandbox
            | SignKind::Probe
            | SignKind::PodPending
            | SignKind::PodTerminating => Self::Pod,
            SignKind::CreateFailed
            | SignKind::QuotaExceeded
            | SignKind::JobFailed
            | SignKind::RunMissed
            | SignKind::RolloutStuck
            | SignKind::Unavailable
            | SignKind::ReplicasMissing
            | SignKind::Autoscaler => Self::Workload,
            SignKind::NoEndpoints | SignKind::ApiService | SignKind::Webhook => Self::Service,
            SignKind::ClaimPending | SignKind::Volume | SignKind::VolumeMount => Self::Storage,
            SignKind::NamespaceStuck | SignKind::DeletionStuck => Self::Deletion,
            SignKind::Condition
            | SignKind::Certificate
            | SignKind::SigningRequest
            | SignKind::Unreconciled
            | SignKind::LeaderFlapping => Self::Condition,
            SignKind::Events => Self::Event,
        }
    }

    /// Gives the kind of what a rule found.
    pub(super) fn of_finding(finding: &ReportedFinding) -> Self {
        let rule = &*finding.rule;
        let resource = finding.resource.split('.').next().unwrap_or_default();
        let is_event = rule.ends_with("-repeats")
            || rule.ends_with("-repeatedly")
            || rule.ends_with("-do-not-repeat");
        match resource {
            _ if rule == PAYLOAD => Self::Payload,
            _ if rule == RECORDING => Self::Gap,
            _ if WRITTEN.contains(&rule) => Self::Written,
            _ if rule.starts_with("image-pull-") => Self::Image,
            _ if is_event => Self::Event,
            "clusterversions" => Self::Version,
            "clusteroperators" => Self::Operator,
            "machineconfigpools" => Self::Pool,
            "nodes" => Self::Node,
            _ => Self::Rule,
        }
    }

    /// Gives the place in the order above of what the list of the reel's problems does not have.
    /// `verdict` is that of the rules that found it; `None` if something else than a rule reports
    /// it, too.
    pub(super) fn rank(self, is_young: bool, verdict: Option<FindingVerdict>) -> u8 {
        let happened = match self {
            Self::Written => return 7,
            Self::Gap | Self::Damage => return 4,
            Self::Image | Self::Event => 3,
            _ if verdict == Some(FindingVerdict::Flake) => return 6,
            _ => 2,
        };
        if is_young { 5 } else { happened }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_problems::monitor_tests;

    #[test]
    fn the_rules_that_are_named_here_exist() {
        let ids: Vec<String> = monitor_tests()
            .iter()
            .map(|test| test.about().id.clone())
            .collect();
        for rule in WRITTEN.into_iter().chain([PAYLOAD, RECORDING]) {
            assert!(ids.iter().any(|id| id == rule), "{rule}");
        }
    }

    #[test]
    fn what_matters_most_comes_first() {
        let order = [
            ProblemKind::Operator.rank(false, Some(FindingVerdict::Fail)),
            ProblemKind::Event.rank(false, Some(FindingVerdict::Fail)),
            ProblemKind::Gap.rank(false, None),
            ProblemKind::Node.rank(true, Some(FindingVerdict::Fail)),
            ProblemKind::Rule.rank(false, Some(FindingVerdict::Flake)),
            ProblemKind::Written.rank(false, Some(FindingVerdict::Fail)),
        ];
        assert!(
            order.windows(2).all(|two| two.first() < two.last()),
            "{order:?}"
        );
    }
}
