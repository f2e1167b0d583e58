//! The instants of leases: who took one, and who let it go. It does not handle renewals, and the
//! heartbeats of nodes. Upstream reads them from logs, under other names.

use super::ledger::{Draft, Ledger};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;

/// Where nodes show that they live.
const HEARTBEATS: &str = "kube-node-lease";

/// Watches leases.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    ledger: Ledger,
}

impl Leases {
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
        let now = match seen.action {
            Action::Gone => "",
            _ => reading::text(seen.now, holder),
        };
        let before = seen
            .before
            .map_or("", |before| reading::text(before, holder));
        let (reason, words) = match (before, now) {
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
