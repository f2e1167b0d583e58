//! The instants of machine config pools: conditions that change, and how many machines are done. It
//! does not handle spans: they are computed. Upstream has none of these.

use super::instants::{InstantNotes, InstantRules, changed_conditions};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use kubereel_cluster::StateKind;
use serde_json::Value;

/// Machine config pools.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::POOL_MONITOR, source::POOL_STATE],
    state: Some(StateKind::Pool),
    group: "machineconfiguration.openshift.io",
    plurals: &["machineconfigpools"],
    paths: &[
        "status.conditions",
        "status.machineCount",
        "status.updatedMachineCount",
    ],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    if seen.action == Action::Gone {
        return;
    }
    for now in changed_conditions(seen) {
        let level = match (now.kind, now.status) {
            ("Degraded" | "NodeDegraded" | "RenderDegraded", "True") => Level::Error,
            _ => Level::Info,
        };
        let mut draft = Draft::new(source::POOL_MONITOR, level, seen.at)
            .about("MachineConfigPool", [("pool", seen.key.name)])
            .shown_by(seen.seq)
            .human(now.message)
            .with("condition", now.kind)
            .with("status", now.status)
            .with("updated", progress(seen.now));
        if !now.reason.is_empty() {
            draft = draft.reason(now.reason);
        }
        notes.add(&draft.own_time(notes.mode.own_time(now.since(), seen.at)));
    }
}

fn progress(pool: &Value) -> String {
    let count = |pointer| reading::number(pool, pointer).unwrap_or(0);
    let (done, all) = ("/status/updatedMachineCount", "/status/machineCount");
    format!("{} of {}", count(done), count(all))
}
