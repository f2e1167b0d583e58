//! The instants of nodes: ready or not, conditions, machine configs, reachability, pressure. It
//! does not handle spans: they are computed.

use super::instants::{InstantNotes, InstantRules, changed_conditions};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use kubereel_cluster::{StateKind, is_being_removed};
use serde_json::Value;

const DESIRED: &str = "/metadata/annotations/machineconfiguration.openshift.io~1desiredConfig";
const CURRENT: &str = "/metadata/annotations/machineconfiguration.openshift.io~1currentConfig";

/// What a node reports of being ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadyReport {
    Ready,
    NotReady,
    Unknown,
}

/// Nodes.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[
        source::NODE_MONITOR,
        source::NODE_STATE,
        source::NODE_UNEXPECTED_NOT_READY,
        source::NODE_UNREACHABLE,
    ],
    state: Some(StateKind::Node),
    group: "",
    plurals: &["nodes"],
    paths: &[
        "metadata.annotations",
        "metadata.deletionTimestamp",
        "metadata.labels",
        "spec.taints",
        "spec.unschedulable",
        "status.conditions.type",
        "status.conditions.status",
        "status.conditions.reason",
        "status.conditions.lastTransitionTime",
    ],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    let roles = reading::roles(seen.now);
    match (seen.action, seen.before) {
        (Action::Appeared, _) => ready(notes, seen, &roles),
        (Action::Changed, Some(before)) => {
            ready(notes, seen, &roles);
            conditions(notes, seen, before, &roles);
            config(notes, seen, before, &roles);
            reachability(notes, seen, before);
            pressure(notes, seen, before);
        }
        (Action::Changed, None) => {}
        (Action::Gone, _) => {
            let draft = draft(source::NODE_MONITOR, Level::Warning, seen)
                .with("roles", &*roles)
                .reason("Deleted")
                .human("deleted");
            notes.add(&draft);
        }
    }
}

/// Reads whether a node is ready. Upstream takes one without the condition for not ready; what it is is not known,
/// and kubectl prints `Unknown`.
fn readiness(notes: &InstantNotes, node: &Value) -> ReadyReport {
    match reading::condition_of(node, "Ready") {
        Some(ready) if ready.is("True") => ReadyReport::Ready,
        None if notes.mode.is_exact() => ReadyReport::Unknown,
        _ => ReadyReport::NotReady,
    }
}

fn ready(notes: &mut InstantNotes, seen: &WatchedEvent<'_>, roles: &str) {
    let now = readiness(notes, seen.now);
    if seen
        .before
        .is_some_and(|before| readiness(notes, before) == now)
    {
        return;
    }
    let (level, reason, words) = match now {
        ReadyReport::Ready => (Level::Info, "Ready", "node is ready"),
        ReadyReport::NotReady => (Level::Warning, "NotReady", "node is not ready"),
        ReadyReport::Unknown => (
            Level::Warning,
            "Unknown",
            "node does not report whether it is ready",
        ),
    };
    let own = own_time(notes, seen, "Ready");
    let draft = draft(source::NODE_MONITOR, level, seen)
        .reason(reason)
        .own_time(own);
    notes.add(&draft.with("roles", roles).human(words));
}

fn conditions(notes: &mut InstantNotes, seen: &WatchedEvent<'_>, before: &Value, roles: &str) {
    for now in changed_conditions(seen) {
        if reading::condition_of(before, now.kind).is_none() {
            continue;
        }
        let own = own_time(notes, seen, now.kind);
        let draft = draft(source::NODE_MONITOR, Level::Warning, seen)
            .reason(now.reason)
            .own_time(own)
            .with("roles", roles)
            .human("changed");
        notes.add(&draft);
    }
}

fn config(notes: &mut InstantNotes, seen: &WatchedEvent<'_>, before: &Value, roles: &str) {
    let desired = reading::text(seen.now, DESIRED);
    let current = reading::text(seen.now, CURRENT);
    let draft = draft(source::NODE_MONITOR, Level::Info, seen)
        .with("roles", roles)
        .with("config", desired);
    if desired != reading::text(before, DESIRED) {
        let draft = draft.clone().reason("MachineConfigChange");
        notes.add(&draft.human("config change requested"));
    }
    if current != reading::text(before, CURRENT) && current == desired {
        let draft = draft.reason("MachineConfigReached");
        notes.add(&draft.human("reached desired config"));
    }
}

fn reachability(notes: &mut InstantNotes, seen: &WatchedEvent<'_>, before: &Value) {
    let unschedulable = reading::at(seen.now, "/spec/unschedulable");
    // Upstream excuses a node without its machine by a cordon alone.
    let is_removed = notes.mode.is_exact() && is_being_removed(seen.now);
    let is_schedulable = unschedulable.and_then(Value::as_bool) != Some(true) && !is_removed;
    let is_updating = reading::text(before, CURRENT) != reading::text(seen.now, DESIRED);
    let was_ready = readiness(notes, before) == ReadyReport::Ready;
    let is_lost = was_ready && readiness(notes, seen.now) == ReadyReport::NotReady;
    if is_lost && !is_updating && is_schedulable {
        let own = own_time(notes, seen, "Ready");
        let draft = draft(source::NODE_UNEXPECTED_NOT_READY, Level::Error, seen)
            .reason("UnexpectedNotReady")
            .own_time(own)
            .human("unexpected node not ready");
        notes.add(&draft.drawn());
    }
    if is_unreachable(before) || !is_unreachable(seen.now) {
        return;
    }
    let draft = draft(source::NODE_UNREACHABLE, Level::Info, seen)
        .reason("Unreachable")
        .human("node unreachable");
    notes.add(&draft.drawn());
    if is_schedulable {
        let draft = self::draft(source::NODE_UNREACHABLE, Level::Error, seen)
            .reason("UnexpectedUnreachable")
            .human("unexpected node unreachable");
        notes.add(&draft.drawn());
    }
}

fn pressure(notes: &mut InstantNotes, seen: &WatchedEvent<'_>, before: &Value) {
    let has =
        |node| reading::condition_of(node, "DiskPressure").is_some_and(|now| now.status == "True");
    let (level, reason, words) = match (has(before), has(seen.now)) {
        (false, true) => (
            Level::Warning,
            "NodeDiskPressure",
            "kubelet began reporting disk pressure",
        ),
        (true, false) => (
            Level::Info,
            "NodeNoDiskPressure",
            "kubelet is not reporting disk pressure",
        ),
        _ => return,
    };
    let own = own_time(notes, seen, "DiskPressure");
    let draft = draft(source::NODE_MONITOR, level, seen)
        .reason(reason)
        .own_time(own);
    notes.add(&draft.human(words).drawn());
}

/// Returns when a condition got the status that it has now, as its writer says.
fn own_time(notes: &InstantNotes, seen: &WatchedEvent<'_>, kind: &str) -> Option<String> {
    let since = reading::condition_of(seen.now, kind).and_then(|now| now.since());
    notes.mode.own_time(since, seen.at)
}

fn draft<'a>(source: &'a str, level: Level, seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source, level, seen.at)
        .about("Node", [("node", seen.key.name)])
        .shown_by(seen.seq)
}

fn is_unreachable(node: &Value) -> bool {
    let taints = reading::list(node, "/spec/taints");
    reading::item(taints, "key", "node.kubernetes.io/unreachable").is_some()
}
