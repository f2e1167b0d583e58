//! What the Events of an end-to-end suite tell of its upgrades. It does not handle those that the
//! cluster's own history tells.

use super::known::UpgradeWindow;
use crate::interval::{Intervals, source};
use kubereel_format::RecordedAt;

/// The namespace, the kind and the name of the object that the suite's Events are about.
pub(super) const ABOUT: (&str, &str, &str) =
    ("openshift-cluster-version", "ClusterVersion", "cluster");

/// The upgrades of a suite, by its Events.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuiteUpgrades {
    pub(super) windows: Vec<UpgradeWindow>,
    /// Whether one began while the run lasted.
    pub(super) has_begun: bool,
    /// Whether the suite reported a failure while the run lasted.
    pub(super) has_failed: bool,
}

impl SuiteUpgrades {
    /// Reads the Events among intervals.
    pub(crate) fn of(intervals: &Intervals) -> Self {
        let mut suite = Self::default();
        for event in intervals.of(source::KUBE_EVENT) {
            if event.locator.get("clusterversion") == Some(ABOUT.2) {
                suite.take(&event.message.reason, event.from, true);
            }
        }
        suite
    }

    /// Takes an Event about the suite's object; `is_new` if it was written while the run lasted.
    pub(super) fn take(&mut self, reason: &str, at: RecordedAt, is_new: bool) {
        let is_begin = matches!(reason, "UpgradeStarted" | "UpgradeRollback");
        let is_failure = reason == "UpgradeFailed";
        self.has_begun |= is_begin && is_new;
        self.has_failed |= is_failure && is_new;
        let last = self.windows.last_mut();
        if let Some(open) = last.filter(|window| window.to.is_none())
            && (is_begin || is_failure || reason == "UpgradeComplete")
        {
            open.to = Some(at);
            open.is_completed = reason == "UpgradeComplete";
        }
        if is_begin {
            self.windows.push(UpgradeWindow {
                from_version: String::new(),
                to_version: String::new(),
                from: at,
                to: None,
                is_completed: false,
            });
        }
    }

    /// Returns the upgrades, in order, each with the versions that are known of the run.
    pub(crate) fn windows(&self, from_version: &str, to_version: &str) -> Vec<UpgradeWindow> {
        let windows = self.windows.iter().map(|window| UpgradeWindow {
            from_version: from_version.to_owned(),
            to_version: to_version.to_owned(),
            ..window.clone()
        });
        windows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Interval, IntervalMessage, Locator, Source};

    fn suite(key: &str, name: &str, reasons: &[&str]) -> SuiteUpgrades {
        let events = (0..).zip(reasons).map(|(micros, reason)| Interval {
            source: Source::new(source::KUBE_EVENT),
            locator: Locator::new("Kind", [(key, name)]),
            message: IntervalMessage::new("").reason(reason),
            from: RecordedAt { micros },
            ..Interval::default()
        });
        let (start, end) = (RecordedAt::default(), RecordedAt { micros: 9 });
        SuiteUpgrades::of(&Intervals::new(events.collect(), start, end))
    }

    #[test]
    fn only_events_about_the_cluster_version_are_those_of_the_suite() {
        let reasons = ["UpgradeStarted", "UpgradeFailed"];
        let own = suite("clusterversion", "cluster", &reasons);
        assert!(own.has_begun && own.has_failed);
        assert_eq!(own.windows.len(), 1);
        for (key, name) in [("database", "cluster"), ("clusterversion", "version")] {
            let other = suite(key, name, &reasons);
            assert!(!other.has_begun && !other.has_failed, "{key}/{name}");
            assert_eq!(other.windows, []);
        }
    }

    #[test]
    fn a_rollback_ends_an_upgrade_and_begins_another() {
        let reasons = [
            "UpgradeStarted",
            "UpgradeRollback",
            "Other",
            "UpgradeComplete",
        ];
        let windows = suite("clusterversion", "cluster", &reasons).windows("1", "2");
        let bounds = |window: &UpgradeWindow| {
            let to = window.to.map(|to| to.micros);
            (window.from.micros, to, window.is_completed)
        };
        let bounds: Vec<_> = windows.iter().map(bounds).collect();
        assert_eq!(bounds, [(0, Some(1), false), (1, Some(3), true)]);
        assert_eq!(
            (&*windows[0].from_version, &*windows[1].to_version),
            ("1", "2")
        );
    }
}
