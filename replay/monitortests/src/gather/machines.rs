//! The instants of machines: created, in another phase, deleted. It does not handle machines
//! outside the machine API's namespace, as upstream does.

use super::ledger::{Draft, Ledger};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;
use serde_json::Value;

const NAMESPACE: &str = "openshift-machine-api";

/// Watches machines.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    ledger: Ledger,
}

impl Machines {
    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }

    fn phase(&mut self, seen: &WatchedEvent<'_>) {
        let of = |machine: &'_ Value| match reading::text(machine, "/status/phase") {
            "" => "<missing>".to_owned(),
            phase => phase.to_owned(),
        };
        let old = seen.before.map_or_else(|| "<missing>".to_owned(), of);
        let new = of(seen.now);
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
        self.ledger.add(&draft);
    }
}

impl Watcher for Machines {
    fn interests(&self) -> Vec<Interest> {
        let paths = [
            "metadata.creationTimestamp",
            "status.phase",
            "status.nodeRef.name",
        ];
        vec![Interest::new("machine.openshift.io", "machines", paths)]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.key.namespace != NAMESPACE {
            return;
        }
        match seen.action {
            Action::Appeared => {
                let created = reading::time(seen.now, "/metadata/creationTimestamp");
                let at = created.unwrap_or(seen.at);
                let draft = Draft::new(source::MACHINE_MONITOR, Level::Info, at)
                    .about("Machine", [("machine", seen.key.name)])
                    .shown_by(seen.seq)
                    .reason("MachineCreated")
                    .human("Machine created");
                self.ledger.add(&draft);
                self.phase(seen);
            }
            Action::Changed => self.phase(seen),
            Action::Gone => {
                let draft = draft(seen)
                    .reason("MachineDeletedInAPI")
                    .with("node", node(seen))
                    .human("Machine deleted");
                self.ledger.add(&draft);
            }
        }
    }
}

fn draft<'a>(seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source::MACHINE_MONITOR, Level::Info, seen.at)
        .about("Machine", [("machine", seen.key.name)])
        .shown_by(seen.seq)
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
