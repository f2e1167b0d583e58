//! The instants of cluster operators: conditions that change, versions, coming and going. It does
//! not handle spans: they are computed.

use super::instants::{InstantNotes, InstantRules, changed_conditions};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use kubereel_cluster::StateKind;
use kubereel_format::{Evidence, RecordedAt, Seq};
use serde_json::Value;

/// One minute before the run began: what was created earlier was there before.
pub(super) const NEW_SINCE_MICROS: i64 = 60_000_000;

/// Cluster operators.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::CLUSTER_OPERATOR_MONITOR, source::OPERATOR_STATE],
    state: Some(StateKind::Operator),
    group: "config.openshift.io",
    plurals: &["clusteroperators"],
    paths: &[
        "status.conditions",
        "status.versions",
        "metadata.creationTimestamp",
    ],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    if seen.action != Action::Changed {
        return life(notes, seen, draft);
    }
    if !notes.mode.is_exact() {
        // All that upstream notes: the conditions whose status changed.
        for now in changed_conditions(seen) {
            let (name, at) = (seen.key.name, (seen.at, seen.seq));
            let text = (now.status, now.reason, now.message);
            notes.add(&instant(name, at, now.kind, text));
        }
    }
    versions(notes, seen);
}

/// Notes that an object came during the run, or is gone.
pub(super) fn life<'a>(
    notes: &mut InstantNotes,
    seen: &WatchedEvent<'a>,
    draft: fn(Level, &WatchedEvent<'a>) -> Draft<'a>,
) {
    if seen.action == Action::Gone {
        notes.add(&draft(Level::Warning, seen).human("deleted"));
    } else if is_new(seen.now, seen.evidence, notes.start) {
        notes.add(&draft(Level::Info, seen).human("created"));
    }
}

fn versions(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
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
        notes.add(&draft(Level::Info, seen).human(words));
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

fn draft<'a>(level: Level, seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, seen.at)
        .about("ClusterOperator", [("clusteroperator", seen.key.name)])
        .shown_by(seen.seq)
}
