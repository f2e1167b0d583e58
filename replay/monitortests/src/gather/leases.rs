//! The instants of leases: who took one, and who let it go. It does not handle renewals, and the
//! heartbeats of nodes. Upstream reads them from logs, under other names.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;

/// The reason of a deletion.
pub(crate) const LEASE_DELETED: &str = "LeaseDeleted";

/// Where nodes show that they live.
const HEARTBEATS: &str = "kube-node-lease";

/// Watches leases.
#[derive(Debug)]
pub(crate) struct Leases {
    mode: Mode,
    ledger: Ledger,
}

impl Leases {
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
}

impl Watcher for Leases {
    fn interests(&self) -> Vec<Interest> {
        vec![Interest::new(
            "coordination.k8s.io",
            "leases",
            ["spec.holderIdentity"],
        )]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.key.namespace == HEARTBEATS {
            return;
        }
        let holder = "/spec/holderIdentity";
        let is_gone = seen.action == Action::Gone;
        // What was deleted is not a lease that nobody holds, as a list of releases says.
        let is_deleted = is_gone && self.mode.is_exact();
        let now = if is_gone {
            ""
        } else {
            reading::text(seen.now, holder)
        };
        let before = seen
            .before
            .map_or("", |before| reading::text(before, holder));
        let (reason, words) = match (before, now) {
            ("", _) if is_deleted => (LEASE_DELETED, "deleted".to_owned()),
            (before, _) if is_deleted => (LEASE_DELETED, format!("deleted, held by {before}")),
            (before, now) if before == now => return,
            (before, "") => ("LeaseReleased", format!("released by {before}")),
            ("", now) if seen.action == Action::Appeared => ("LeaseHeld", format!("held by {now}")),
            ("", now) => ("LeaseAcquired", format!("acquired by {now}")),
            (before, now) => ("LeaseAcquired", format!("acquired by {now} after {before}")),
        };
        let draft = Draft::new(source::LEASE_MONITOR, Level::Info, seen.at)
            .about(
                "Lease",
                [("namespace", seen.key.namespace), ("lease", seen.key.name)],
            )
            .shown_by(seen.seq)
            .reason(reason)
            .with("holder", now)
            .with("previousHolder", before)
            .human(words);
        self.ledger.add(&draft);
    }
}
