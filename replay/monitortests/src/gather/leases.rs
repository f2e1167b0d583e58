//! The instants of leases: who took one, and who let it go. It does not handle renewals, and the
//! heartbeats of nodes. Upstream reads them from logs, under other names.

use super::instants::{InstantNotes, InstantRules};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;

/// The reason of a deletion.
pub(crate) const LEASE_DELETED: &str = "LeaseDeleted";

/// Where nodes show that they live.
const HEARTBEATS: &str = "kube-node-lease";

/// Leases.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::LEASE_MONITOR, source::LEASE_STATE],
    state: None,
    group: "coordination.k8s.io",
    plurals: &["leases"],
    paths: &["spec.holderIdentity"],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    if seen.key.namespace == HEARTBEATS {
        return;
    }
    let holder = "/spec/holderIdentity";
    let is_gone = seen.action == Action::Gone;
    // What was deleted is not a lease that nobody holds, as a list of releases says.
    let is_deleted = is_gone && notes.mode.is_exact();
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
    notes.add(&draft);
}
