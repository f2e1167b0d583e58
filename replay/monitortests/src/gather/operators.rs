//! The instants of cluster operators: conditions that change, versions, coming and going. It does
//! not handle spans: they are computed.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;
use kubereel_cluster::StatusCondition;
use kubereel_format::{Evidence, RecordedAt, Seq};
use serde_json::Value;

/// One minute before the run began: what was created earlier was there before.
pub(super) const NEW_SINCE_MICROS: i64 = 60_000_000;

/// Watches cluster operators.
#[derive(Debug)]
pub(crate) struct Operators {
    mode: Mode,
    start: RecordedAt,
    ledger: Ledger,
}

impl Operators {
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

    /// Makes instants of the conditions whose status changed: all that upstream notes.
    fn conditions(&mut self, seen: &WatchedEvent<'_>) {
        for now in StatusCondition::all(seen.now) {
            let known = seen
                .before
                .and_then(|before| reading::condition_of(before, now.kind));
            if known.is_none_or(|known| known.status != now.status) {
                let (name, at) = (seen.key.name, (seen.at, seen.seq));
                let text = (now.status, now.reason, now.message);
                self.ledger.add(&instant(name, at, now.kind, text));
            }
        }
    }

    fn versions(&mut self, seen: &WatchedEvent<'_>) {
        let Some(before) = seen.before else {
            return;
        };
        let old = reading::list(before, "/status/versions");
        let changes: Vec<String> = reading::list(seen.now, "/status/versions")
            .iter()
            .filter_map(|new| {
                let (name, version) = (reading::text(new, "/name"), reading::text(new, "/version"));
                let old = reading::text(reading::item(old, "name", name)?, "/version");
                (old != version).then(|| format!("{name} {old} -> {version}"))
            })
            .collect();
        if !changes.is_empty() {
            let words = format!("versions: {}", changes.join(", "));
            self.ledger
                .add(&draft(Level::Info, seen, seen.at).human(words));
        }
    }
}

impl Watcher for Operators {
    fn interests(&self) -> Vec<Interest> {
        let paths = [
            "status.conditions",
            "status.versions",
            "metadata.creationTimestamp",
        ];
        vec![Interest::new(
            "config.openshift.io",
            "clusteroperators",
            paths,
        )]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        match seen.action {
            Action::Appeared => {
                if is_new(seen.now, seen.evidence, self.start) {
                    let draft = draft(Level::Info, seen, seen.at).human("created");
                    self.ledger.add(&draft);
                }
            }
            Action::Changed => {
                if !self.mode.is_exact() {
                    self.conditions(seen);
                }
                self.versions(seen);
            }
            Action::Gone => {
                let draft = draft(Level::Warning, seen, seen.at).human("deleted");
                self.ledger.add(&draft);
            }
        }
    }
}

/// Returns whether an object that is seen for the first time came during the run.
pub(super) fn is_new(object: &Value, evidence: Evidence, start: RecordedAt) -> bool {
    let created = reading::time(object, "/metadata/creationTimestamp");
    created.map_or(evidence != Evidence::Initial, |created| {
        start.micros_since(created) <= NEW_SINCE_MICROS
    })
}

/// Returns the instant at which a condition of an operator came to say something.
pub(crate) fn instant<'a>(
    name: &'a str,
    (at, seq): (RecordedAt, Seq),
    condition: &'a str,
    (status, reason, message): (&'a str, &'a str, &'a str),
) -> Draft<'a> {
    let level = match (condition, status) {
        ("Degraded" | "Failing", "True") | ("Available", "False") => Level::Error,
        _ => Level::Warning,
    };
    let draft = Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, at)
        .about("ClusterOperator", [("clusteroperator", name)])
        .shown_by(seq)
        .human(message)
        .with("condition", condition)
        .with("status", status);
    if reason.is_empty() {
        draft
    } else {
        draft.reason(reason)
    }
}

fn draft<'a>(level: Level, seen: &WatchedEvent<'a>, at: RecordedAt) -> Draft<'a> {
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, at)
        .about("ClusterOperator", [("clusteroperator", seen.key.name)])
        .shown_by(seen.seq)
}
