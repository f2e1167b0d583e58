//! Owns under what circumstances a finding came about: what cluster it was, and what was done with it.

use crate::facts::{Facts, FactsOverTime};
use crate::interval::Intervals;
use crate::verdict::{Finding, Phase};
use kubereel_format::RecordedAt;

/// What was done with the cluster in all of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunKind {
    /// No upgrade was seen.
    Stable,
    /// There was one, or several.
    Upgrade,
    /// The suite that ran an upgrade said that it failed.
    FailedUpgrade,
}

impl RunKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Stable, Self::Upgrade, Self::FailedUpgrade];

    /// Gives the word that files use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Upgrade => "upgrade",
            Self::FailedUpgrade => "failed-upgrade",
        }
    }

    /// Tells what was done in a run: by the cluster's own history, or by the Events of an upgrade suite.
    pub fn of(facts: &FactsOverTime, intervals: &Intervals) -> Self {
        let says = |reason: &str| {
            let mut events = intervals.of("KubeEvent");
            events.any(|event| event.message.reason.as_ref() == reason)
        };
        if says("UpgradeFailed") {
            Self::FailedUpgrade
        } else if !facts.upgrades().is_empty() || says("UpgradeStarted") {
            Self::Upgrade
        } else {
            Self::Stable
        }
    }
}

/// Under what circumstances findings came about.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// What cluster it was.
    pub facts: &'a FactsOverTime,
    /// What was done in the whole run.
    pub run: RunKind,
    /// The last moment of the run.
    pub end: RecordedAt,
    /// The moment that ends of exceptions are compared with: the run's own, or one that was asked for.
    pub now: RecordedAt,
}

impl Circumstances<'_> {
    /// Tells whether a finding lies in a phase with its begin and its end.
    pub(super) fn is_in(&self, finding: &Finding, phase: Phase) -> bool {
        let to = finding.to.unwrap_or(self.end);
        let at = |at| self.facts.phase(at) == Some(phase);
        // An upgrade that is never done ends with the recording.
        at(finding.from) && (at(to) || to >= self.end && finding.to.is_none())
    }

    /// Gives a fact as of a finding's begin, or the first that was told later: some objects are seen late.
    pub(super) fn fact<'a, T: ?Sized>(
        &'a self,
        at: RecordedAt,
        of: impl Fn(&'a Facts) -> Option<&'a T>,
    ) -> Option<&'a T> {
        of(self.facts.at(at)).or_else(|| of(self.facts.last()))
    }
}
