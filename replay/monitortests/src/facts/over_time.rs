//! The facts of a cluster over time. It does not find them: a watcher does.

use super::known::{Facts, UpgradeWindow};
use super::suite::SuiteUpgrades;
use crate::phase::Phase;
use crate::release::Release;
use kubereel_format::RecordedAt;

/// The facts of a cluster, as they came to be known.
#[derive(Clone, Debug, Default)]
pub struct FactsOverTime {
    /// From when on each holds; sorted.
    pub(crate) steps: Vec<(RecordedAt, Facts)>,
    /// The upgrades, in order.
    pub(crate) upgrades: Vec<UpgradeWindow>,
    /// What an end-to-end suite reported, also where the history tells the upgrades.
    pub(crate) suite: SuiteUpgrades,
    /// When the first installation was completed, if it was.
    pub(crate) installed: Option<RecordedAt>,
    /// Whether the installation was seen to run.
    pub(crate) saw_install: bool,
    /// The first installation, as the history tells it.
    pub(crate) install: Option<UpgradeWindow>,
    pub(crate) none: Facts,
    /// Whether the cluster is one of OpenShift.
    pub(crate) is_openshift: bool,
    /// Why the phase is unknown where no history shows it; `None` if the cluster has no
    /// `ClusterVersion`, and so neither an installation nor upgrades.
    pub(crate) no_history: Option<String>,
}

impl FactsOverTime {
    /// Returns what was known at a moment.
    pub fn at(&self, at: RecordedAt) -> &Facts {
        let place = self.steps.partition_point(|(from, _)| *from <= at);
        let step = place.checked_sub(1).and_then(|place| self.steps.get(place));
        step.map_or(&self.none, |(_, facts)| facts)
    }

    /// Returns what was known at the end.
    pub fn last(&self) -> &Facts {
        self.steps.last().map_or(&self.none, |(_, facts)| facts)
    }

    /// Returns whether the cluster is one of OpenShift: its API has resources of OpenShift's
    /// configuration.
    pub const fn is_openshift(&self) -> bool {
        self.is_openshift
    }

    /// Returns the release of OpenShift at the end: the target of the last upgrade, by whose tests
    /// CI judges it; `None` if no version is known.
    pub fn release(&self) -> Option<Release> {
        self.last().version.as_deref().and_then(Release::of)
    }

    /// Returns the lowest release in the cluster's history; `None` if no version is known.
    pub fn lowest_release(&self) -> Option<Release> {
        let facts = self.last();
        let versions = facts.history.iter().chain(&facts.version);
        versions.filter_map(|version| Release::of(version)).min()
    }

    /// Returns the upgrades, in order.
    pub fn upgrades(&self) -> &[UpgradeWindow] {
        &self.upgrades
    }

    /// Returns whether the run upgraded: by what is known of the cluster, or by the Events of a suite.
    pub(crate) const fn is_upgraded(&self) -> bool {
        !self.upgrades.is_empty() || self.suite.has_begun
    }

    /// Returns whether the suite that ran an upgrade reported a failure.
    pub(crate) const fn has_failed_upgrade(&self) -> bool {
        self.suite.has_failed
    }

    /// Returns when the first installation was completed, if that was seen or told.
    pub const fn installed(&self) -> Option<RecordedAt> {
        self.installed
    }

    /// Returns what the cluster was doing at a moment; `None` if that is unknown.
    ///
    /// A cluster without a `ClusterVersion` has neither an installation nor upgrades, and is stable
    /// throughout.
    pub fn phase(&self, at: RecordedAt) -> Option<Phase> {
        let is_upgrade =
            |window: &&UpgradeWindow| window.from <= at && window.to.is_none_or(|to| at < to);
        if self.upgrades.iter().any(|window| is_upgrade(&window)) {
            return Some(Phase::Upgrade);
        }
        match self.installed {
            Some(installed) if at < installed => Some(Phase::Install),
            Some(_) => Some(Phase::Stable),
            None if self.saw_install => Some(Phase::Install),
            None if self.no_history.is_none() => Some(Phase::Stable),
            None => None,
        }
    }

    /// Returns why the phase of a moment is unknown; `None` if it is known.
    pub fn unknown_phase(&self, at: RecordedAt) -> Option<&str> {
        let why = self.no_history.as_deref();
        why.filter(|_| self.phase(at).is_none())
    }
}
