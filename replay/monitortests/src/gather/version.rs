//! The instants of the cluster's version: what it converges to, what it reached, conditions that
//! change. It does not handle other objects than the one named `version`, as upstream does.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use super::operators::is_new;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;
use kubereel_cluster::StatusCondition;
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;

/// The name of the one object that counts.
pub(super) const VERSION: &str = "version";

/// Watches the `ClusterVersion`.
#[derive(Debug)]
pub(crate) struct VersionWatcher {
    mode: Mode,
    start: RecordedAt,
    ledger: Ledger,
}

impl VersionWatcher {
    /// Begins to watch a run that began at `start`.
    pub(crate) fn new(mode: Mode, start: RecordedAt) -> Self {
        Self {
            mode,
            start,
            ledger: Ledger::default(),
        }
    }

    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }

    fn history(&mut self, seen: &WatchedEvent<'_>) {
        let Some(new) = newest(seen.now) else {
            return;
        };
        let old = seen.before.and_then(newest);
        let (state, words) = (reading::text(new, "/state"), name(new));
        let words = match old {
            None => format!("cluster converging to {words}"),
            Some(old) if state == "Completed" && reading::text(old, "/state") != state => {
                format!("cluster reached {words}")
            }
            Some(old)
                if state == "Partial"
                    && reading::text(old, "/state") == state
                    && reading::text(old, "/image") != reading::text(new, "/image") =>
            {
                format!(
                    "cluster upgrading to {words} without completing {}",
                    name(old)
                )
            }
            // Upstream is silent when an upgrade begins after a completed one; the reel knows it.
            Some(old) if self.mode.is_exact() && is_other(old, new) => {
                format!("cluster converging to {words}")
            }
            Some(_) => return,
        };
        self.ledger
            .add(&draft(Level::Warning, seen, seen.at).human(words));
    }

    /// Makes instants of the conditions whose status changed: all that upstream notes.
    fn conditions(&mut self, seen: &WatchedEvent<'_>) {
        for now in StatusCondition::all(seen.now) {
            let known = seen
                .before
                .and_then(|before| reading::condition_of(before, now.kind));
            if known.is_none_or(|known| known.status != now.status) {
                let text = (now.status, now.reason, now.message);
                self.ledger
                    .add(&instant((seen.at, seen.seq), now.kind, text));
            }
        }
    }
}

impl Watcher for VersionWatcher {
    fn interests(&self) -> Vec<Interest> {
        let paths = [
            "status.conditions",
            "status.history",
            "metadata.creationTimestamp",
        ];
        vec![Interest::new(
            "config.openshift.io",
            "clusterversions",
            paths,
        )]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.key.name != VERSION {
            return;
        }
        match seen.action {
            Action::Appeared => {
                if is_new(seen.now, seen.evidence, self.start) {
                    let draft = draft(Level::Info, seen, seen.at).human("created");
                    self.ledger.add(&draft);
                }
            }
            Action::Changed => {
                self.history(seen);
                if !self.mode.is_exact() {
                    self.conditions(seen);
                }
            }
            Action::Gone => {
                let draft = draft(Level::Warning, seen, seen.at).human("deleted");
                self.ledger.add(&draft);
            }
        }
    }
}

fn draft<'a>(level: Level, seen: &WatchedEvent<'a>, at: RecordedAt) -> Draft<'a> {
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, at)
        .about("ClusterVersion", [("clusterversion", seen.key.name)])
        .shown_by(seen.seq)
}

fn newest(version: &Value) -> Option<&Value> {
    reading::list(version, "/status/history").first()
}

fn is_other(old: &Value, new: &Value) -> bool {
    let started = "/startedTime";
    reading::text(old, started) != reading::text(new, started)
        || reading::text(old, "/image") != reading::text(new, "/image")
}

/// Returns the version of a history entry, or its image where it has no version yet.
fn name(entry: &Value) -> &str {
    let version = reading::text(entry, "/version");
    if version.is_empty() {
        reading::text(entry, "/image")
    } else {
        version
    }
}

/// Returns the instant at which a condition of the version came to say something.
pub(crate) fn instant<'a>(
    (at, seq): (RecordedAt, Seq),
    condition: &'a str,
    (status, reason, message): (&'a str, &'a str, &'a str),
) -> Draft<'a> {
    let level = match (condition, status) {
        ("Degraded" | "Failing", "True") => Level::Error,
        _ => Level::Warning,
    };
    let words = match (reason.is_empty(), message.is_empty()) {
        (false, false) => format!("changed to {condition}={status}: {reason}: {message}"),
        (true, false) => format!("changed to {condition}={status}: {message}"),
        _ => format!("changed to {condition}={status}"),
    };
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, at)
        .about("ClusterVersion", [("clusterversion", VERSION)])
        .shown_by(seq)
        .reason(reason)
        .human(words)
        .with("condition", condition)
        .with("status", status)
}
