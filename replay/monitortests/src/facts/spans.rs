//! Installation and upgrades as intervals. It does not handle those that were over before the run
//! began.

use super::known::UpgradeWindow;
use super::over_time::FactsOverTime;
use crate::gather::Mode;
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_cluster::{ClusterHistory, ClusterUpdate, UnreadVersions, UpdateKind};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Timeline, timetext};

impl FactsOverTime {
    /// Returns the installation and the upgrades of a run as intervals.
    pub(crate) fn spans(&self, timeline: &Timeline, mode: Mode) -> Vec<Interval> {
        if mode.is_exact() {
            self.exact_spans(timeline)
        } else {
            self.upstream_spans(timeline.start())
        }
    }

    /// Returns them from their requests on, as `cluster` derives them; without a `ClusterVersion`,
    /// what is known otherwise.
    fn exact_spans(&self, timeline: &Timeline) -> Vec<Interval> {
        let unread = UnreadVersions::default();
        let history = ClusterHistory::of_readable(timeline, &unread);
        match history.updates(timeline.last_cut()) {
            Ok(updates) if updates.is_seen => updates.all.iter().map(span_of).collect(),
            _ => self.upstream_spans(timeline.start()),
        }
    }

    /// Returns them from their acceptance on, by the times in the history of `ClusterVersion`, or by
    /// the Events of a suite, as upstream's rules need them.
    fn upstream_spans(&self, start: RecordedAt) -> Vec<Interval> {
        let is_of_run = |window: &&UpgradeWindow| window.to.is_none_or(|to| to >= start);
        let install = self.install.iter().filter(is_of_run).map(|window| {
            let words = format!("installation of {}", window.to_version);
            span(window, UpdateKind::Install, &words, None)
        });
        let upgrades = self.upgrades.iter().filter(is_of_run).map(|window| {
            let (from, to) = (&window.from_version, &window.to_version);
            let words = format!("upgrade from {from} to {to}");
            span(window, UpdateKind::Upgrade, &words, None)
        });
        install.chain(upgrades).collect()
    }
}

fn span_of(update: &ClusterUpdate) -> Interval {
    let from = update.from.as_ref();
    let window = UpgradeWindow {
        from_version: from.map_or_else(String::new, |from| from.version.clone()),
        to_version: update.target_version().to_owned(),
        from: update.first.at,
        to: update.end.map(|end| end.mark.at),
        is_completed: update.is_completed(),
    };
    let mut span = span(
        &window,
        update.kind,
        &update.words(),
        Some(update.first.seq),
    );
    // It began before the recording, at a time that the object itself gives.
    if let Some(started) = update.started.filter(|_| update.is_older) {
        let started = timetext::rfc3339(started);
        span.message = span.message.with("startedTime", &started);
    }
    span
}

fn span(window: &UpgradeWindow, kind: UpdateKind, words: &str, seq: Option<Seq>) -> Interval {
    let reason = match kind {
        UpdateKind::Install => "Install",
        UpdateKind::Upgrade => "Upgrade",
    };
    let (level, words) = match (window.is_completed, window.to) {
        (true, _) => (Level::Info, words.to_owned()),
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
        seq,
    }
}
