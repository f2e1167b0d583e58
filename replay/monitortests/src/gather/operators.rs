//! Owns the instants of cluster operators: conditions that change, versions, coming and going. Refuses
//! spans: they are computed.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading::{self, Condition};
use kubereel_format::{Evidence, RecordedAt};
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

    /// Gives what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }

    fn conditions(&mut self, seen: &Seen<'_>) {
        let before = seen.before;
        for now in reading::conditions(seen.now) {
            let known = before.and_then(|before| reading::condition_of(before, now.kind));
            let is_flip = known.is_none_or(|known| known.status != now.status);
            let is_other = known.is_none_or(|known| {
                (known.status, known.reason, known.message) != (now.status, now.reason, now.message)
            });
            let is_exact = self.mode.is_exact();
            if !(is_flip || is_exact && is_other) {
                continue;
            }
            let mut draft = draft(level(&now), seen, seen.at)
                .human(now.message)
                .with("condition", now.kind)
                .with("status", now.status);
            if !now.reason.is_empty() {
                draft = draft.reason(now.reason);
            }
            let since = now.since.filter(|_| is_flip);
            self.ledger
                .add(&draft.own_time(self.mode.own_time(since, seen.at)));
        }
    }

    fn versions(&mut self, seen: &Seen<'_>) {
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

    fn seen(&mut self, seen: &Seen<'_>) {
        match seen.action {
            Action::Appeared => {
                if is_new(seen.now, seen.evidence, self.start) {
                    let draft = draft(Level::Info, seen, seen.at).human("created");
                    self.ledger.add(&draft);
                }
                if self.mode.is_exact() {
                    self.conditions(seen);
                }
            }
            Action::Changed => {
                self.conditions(seen);
                self.versions(seen);
            }
            Action::Gone => {
                let draft = draft(Level::Warning, seen, seen.at).human("deleted");
                self.ledger.add(&draft);
            }
        }
    }
}

/// Tells whether an object that is seen for the first time came during the run.
pub(super) fn is_new(object: &Value, evidence: Evidence, start: RecordedAt) -> bool {
    let created = reading::time(object, "/metadata/creationTimestamp");
    created.map_or(evidence != Evidence::Initial, |created| {
        start.micros_since(created) <= NEW_SINCE_MICROS
    })
}

fn draft<'a>(level: Level, seen: &Seen<'a>, at: RecordedAt) -> Draft<'a> {
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, at)
        .about("ClusterOperator", [("clusteroperator", &*seen.key.name)])
        .shown_by(seen.seq)
}

/// Gives how bad an operator's condition is.
fn level(condition: &Condition<'_>) -> Level {
    match (condition.kind, condition.status) {
        ("Degraded" | "Failing", "True") | ("Available", "False") => Level::Error,
        _ => Level::Warning,
    }
}
