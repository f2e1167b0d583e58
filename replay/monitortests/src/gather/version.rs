//! The instants of the cluster's version: what it converges to, what it reached, conditions that
//! change. It does not handle other objects than the one named `version`, as upstream does.

use super::instants::{InstantNotes, InstantRules, changed_conditions};
use super::ledger::Draft;
use super::operators::life;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use kubereel_cluster::StateKind;
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;

/// The name of the one object that counts.
pub(super) const VERSION: &str = "version";

/// The `ClusterVersion`.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::CLUSTER_OPERATOR_MONITOR, source::VERSION_STATE],
    state: Some(StateKind::Version),
    group: "config.openshift.io",
    plurals: &["clusterversions"],
    paths: &[
        "status.conditions",
        "status.history",
        "metadata.creationTimestamp",
    ],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    if seen.key.name != VERSION {
        return;
    }
    if seen.action != Action::Changed {
        return life(notes, seen, draft);
    }
    history(notes, seen);
    if !notes.mode.is_exact() {
        // All that upstream notes: the conditions whose status changed.
        for now in changed_conditions(seen) {
            let text = (now.status, now.reason, now.message);
            notes.add(&instant((seen.at, seen.seq), now.kind, text));
        }
    }
}

fn history(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
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
        Some(old) if notes.mode.is_exact() && is_other(old, new) => {
            format!("cluster converging to {words}")
        }
        Some(_) => return,
    };
    notes.add(&draft(Level::Warning, seen).human(words));
}

fn draft<'a>(level: Level, seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source::CLUSTER_OPERATOR_MONITOR, level, seen.at)
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
