//! The instants of machines: created, in another phase, deleted. It does not handle machines
//! outside the machine API's namespace, as upstream does.

use super::instants::{InstantNotes, InstantRules};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use serde_json::Value;

const NAMESPACE: &str = "openshift-machine-api";
/// The word for a phase that is not set.
const MISSING: &str = "<missing>";

/// Machines.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::MACHINE_MONITOR],
    state: None,
    group: "machine.openshift.io",
    plurals: &["machines"],
    paths: &[
        "metadata.creationTimestamp",
        "status.phase",
        "status.nodeRef.name",
    ],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    if seen.key.namespace != NAMESPACE {
        return;
    }
    match seen.action {
        Action::Appeared => appeared(notes, seen),
        Action::Changed => phase(notes, seen),
        Action::Gone => {
            let draft = draft(seen)
                .reason("MachineDeletedInAPI")
                .with("node", node(seen))
                .human("Machine deleted");
            notes.add(&draft);
        }
    }
}

/// Notes a machine that was not there before. Upstream dates it to its creation, and takes it for
/// one without a phase up to its first version.
fn appeared(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    let created = reading::time(seen.now, "/metadata/creationTimestamp");
    let at = match created {
        Some(created) if !notes.mode.is_exact() => created,
        _ => seen.at,
    };
    let draft = Draft::new(source::MACHINE_MONITOR, Level::Info, at)
        .about("Machine", [("machine", seen.key.name)])
        .shown_by(seen.seq)
        .reason("MachineCreated")
        .human("Machine created");
    if notes.mode.is_exact() {
        let draft = draft
            .own_time_of("creationTimestamp", notes.mode.own_time(created, seen.at))
            .with("phase", phase_of(seen.now))
            .with("node", node(seen));
        notes.add(&draft);
    } else {
        notes.add(&draft);
        phase(notes, seen);
    }
}

fn phase(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    let old = seen.before.map_or(MISSING, phase_of);
    let new = phase_of(seen.now);
    if old == new {
        return;
    }
    let words = format!("Machine phase changed from {old} to {new}");
    let draft = draft(seen)
        .reason("MachinePhaseChange")
        .with("phase", new)
        .with("previousPhase", old)
        .with("node", node(seen))
        .human(words);
    notes.add(&draft);
}

fn draft<'a>(seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source::MACHINE_MONITOR, Level::Info, seen.at)
        .about("Machine", [("machine", seen.key.name)])
        .shown_by(seen.seq)
}

fn phase_of(machine: &Value) -> &str {
    match reading::text(machine, "/status/phase") {
        "" => MISSING,
        phase => phase,
    }
}

/// Returns the machine's node, now or before.
fn node<'a>(seen: &WatchedEvent<'a>) -> &'a str {
    let of = |machine: &'a Value| reading::text(machine, "/status/nodeRef/name");
    let (now, before) = (of(seen.now), seen.before.map_or("", of));
    match (now, before) {
        ("", "") => "<unknown>",
        ("", before) => before,
        (now, _) => now,
    }
}
