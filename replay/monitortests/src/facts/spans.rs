//! Installation and upgrades as intervals. It does not handle those that were over before the run
//! began.

use super::known::UpgradeWindow;
use super::over_time::FactsOverTime;
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_format::RecordedAt;

impl FactsOverTime {
    /// Returns the installation and the upgrades of a run that began at `start` as intervals.
    pub(crate) fn spans(&self, start: RecordedAt) -> Vec<Interval> {
        let is_of_run = |window: &&UpgradeWindow| window.to.is_none_or(|to| to >= start);
        let install = self.install.iter().filter(is_of_run).map(|window| {
            let words = format!("installation of {}", window.to_version);
            span(window, "Install", words)
        });
        let upgrades = self.upgrades.iter().filter(is_of_run).map(|window| {
            let words = format!(
                "upgrade from {} to {}",
                window.from_version, window.to_version
            );
            span(window, "Upgrade", words)
        });
        install.chain(upgrades).collect()
    }
}

fn span(window: &UpgradeWindow, reason: &str, words: String) -> Interval {
    let (level, words) = match (window.is_completed, window.to) {
        (true, _) => (Level::Info, words),
        (false, Some(_)) => (Level::Warning, format!("{words}, not completed")),
        (false, None) => (Level::Warning, format!("{words}, never completed")),
    };
    Interval {
        level,
        source: Source::new(source::CLUSTER_PHASE),
        display: Display::Drawn,
        locator: Locator::new("ClusterVersion", [("clusterversion", "version")]),
        message: IntervalMessage::new(&words)
            .reason(reason)
            .with("from", &window.from_version)
            .with("to", &window.to_version),
        from: window.from,
        to: window.to,
        seq: None,
    }
}
