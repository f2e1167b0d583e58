//! The instants of machine config pools: conditions that change, and how many machines are done. It
//! does not handle spans: they are computed. Upstream has none of these.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;
use kubereel_cluster::StatusCondition;
use serde_json::Value;

/// Watches machine config pools.
#[derive(Debug)]
pub(crate) struct Pools {
    mode: Mode,
    ledger: Ledger,
}

impl Pools {
    /// Begins to watch.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            ledger: Ledger::default(),
        }
    }

    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }

    fn conditions(&mut self, seen: &WatchedEvent<'_>) {
        for now in StatusCondition::all(seen.now) {
            let before = seen.before;
            let known = before.and_then(|before| reading::condition_of(before, now.kind));
            if known.is_some_and(|known| known.status == now.status) {
                continue;
            }
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
            self.ledger
                .add(&draft.own_time(self.mode.own_time(now.since(), seen.at)));
        }
    }
}

impl Watcher for Pools {
    fn interests(&self) -> Vec<Interest> {
        let paths = [
            "status.conditions",
            "status.machineCount",
            "status.updatedMachineCount",
        ];
        vec![Interest::new(
            "machineconfiguration.openshift.io",
            "machineconfigpools",
            paths,
        )]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.action != Action::Gone {
            self.conditions(seen);
        }
    }
}

fn progress(pool: &Value) -> String {
    let count = |pointer| reading::number(pool, pointer).unwrap_or(0);
    let (done, all) = ("/status/updatedMachineCount", "/status/machineCount");
    format!("{} of {}", count(done), count(all))
}
