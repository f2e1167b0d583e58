//! Owns the kinds of problems, and how much each matters. Refuses to look at time: what came first is
//! another question.
//!
//! This is the order of the list, what matters most first:
//! 1. what did not work: no server, a release that could not be retrieved, and operators, nodes and
//!    the version that were down;
//! 2. what said that something is wrong: operators, pools and the version degraded or failing, and
//!    rules that failed;
//! 3. pods that cannot run, images that cannot be pulled, and Events that repeat;
//! 4. what is missing in the recording: it may hide anything;
//! 5. what was like 1 to 3 while the cluster was being installed: it did not work yet;
//! 6. what rules say that never fail a run;
//! 7. how objects are written: it was so all the time.
//!
//! Within each, what was down comes before what was bad, and what came first comes first.

use crate::findings::{Finding, Verdict};
use crate::lane::{LaneGroup, LaneState};

/// The kinds of problems; where one thing is of several kinds, the first of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
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

impl Kind {
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
            Self::Event => "event",
            Self::Rule => "rule",
            Self::Gap => "gap",
            Self::Damage => "damage",
            Self::Written => "written",
        }
    }

    /// Gives the kind of what a lane says.
    pub(super) fn of_lane(group: LaneGroup, word: &str) -> Self {
        match group {
            LaneGroup::Version => Self::Version,
            LaneGroup::Operators => Self::Operator,
            LaneGroup::Pools => Self::Pool,
            LaneGroup::Nodes => Self::Node,
            LaneGroup::Pods => match word {
                "CrashLoopBackOff" => Self::CrashLoop,
                "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" => Self::Image,
                "Unschedulable" => Self::Unschedulable,
                _ => Self::Pod,
            },
            LaneGroup::Others => Self::Rule,
        }
    }

    /// Gives the kind of what a rule found.
    pub(super) fn of_finding(finding: &Finding) -> Self {
        let rule = finding.rule.as_str();
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

    /// Gives the place in the order above. `verdict` is that of the rules that found it; `None` if
    /// something else than a rule tells of it, too.
    pub(super) fn rank(self, state: LaneState, is_young: bool, verdict: Option<Verdict>) -> u8 {
        let happened = match self {
            Self::Written => return 7,
            Self::Gap | Self::Damage => return 4,
            Self::Outage | Self::Payload => 1,
            Self::Image | Self::Event => 3,
            _ if verdict == Some(Verdict::Flake) => return 6,
            Self::Version | Self::Operator | Self::Node if state == LaneState::Down => 1,
            Self::Version | Self::Operator | Self::Node | Self::Pool | Self::Rule => 2,
            Self::CrashLoop | Self::Unschedulable | Self::Pod => 3,
        };
        if is_young { 5 } else { happened }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_monitortests::builtin;

    #[test]
    fn the_rules_that_are_named_here_exist() {
        let ids: Vec<String> = builtin()
            .iter()
            .map(|test| test.about().id.clone())
            .collect();
        for rule in WRITTEN.into_iter().chain([PAYLOAD, RECORDING]) {
            assert!(ids.iter().any(|id| id == rule), "{rule}");
        }
    }

    #[test]
    fn what_matters_most_comes_first() {
        let rank = |kind: Kind, state| kind.rank(state, false, None);
        let order = [
            rank(Kind::Operator, LaneState::Down),
            rank(Kind::Operator, LaneState::Bad),
            rank(Kind::CrashLoop, LaneState::Bad),
            rank(Kind::Gap, LaneState::Unknown),
            Kind::Node.rank(LaneState::Down, true, None),
            Kind::Rule.rank(LaneState::Changing, false, Some(Verdict::Flake)),
            Kind::Written.rank(LaneState::Bad, false, Some(Verdict::Fail)),
        ];
        assert!(order.is_sorted() && order.len() == 7, "{order:?}");
        assert_eq!(
            order
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            7
        );
    }
}
