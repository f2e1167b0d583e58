//! The instants of a pod as a whole: scheduled, pending, failed, deleted. It does not handle its
//! containers.

use super::watch::{WatchedPod, mirror};
use crate::gather::ledger::Ledger;
use crate::interval::Level;
use crate::reading;
use kubereel_history::field::is_being_deleted;
use serde_json::Value;

const PHASE: &str = "/status/phase";
const NODE: &str = "/spec/nodeName";
const GRACE: &str = "/metadata/deletionGracePeriodSeconds";

/// Notes that a pod got a node.
pub(super) fn scheduled(pod: WatchedPod<'_>, before: Option<&Value>, ledger: &mut Ledger) {
    let node = reading::text(pod.now(), NODE);
    let had = before.is_some_and(|before| !reading::text(before, NODE).is_empty());
    if !had && !node.is_empty() {
        let draft = pod.draft(Level::Info).reason("Scheduled");
        ledger.add(&draft.with("node", node));
    }
}

/// Notes that a pod became pending, or is it no more; of a new one, which of both it is.
pub(super) fn pending(pod: WatchedPod<'_>, before: Option<&Value>, ledger: &mut Ledger) {
    let is = |pod: &Value| reading::text(pod, PHASE) == "Pending";
    let reason = match (before.map(is), is(pod.now())) {
        (None | Some(false), true) => "PodIsPending",
        (None | Some(true), false) => "PodIsNotPending",
        _ => return,
    };
    ledger.add(&pod.draft(Level::Info).reason(reason));
}

/// Notes changes of the phase that should not be.
pub(super) fn phase(pod: WatchedPod<'_>, before: &Value, ledger: &mut Ledger) {
    let (old, new) = (
        reading::text(before, PHASE),
        reading::text(pod.now(), PHASE),
    );
    if old == new || old.is_empty() {
        return;
    }
    match new {
        "Pending" if old != "Unknown" => {
            // Upstream leaves the places of both phases unfilled in its own words.
            let words = if is_being_deleted(pod.now()) {
                "invariant violation (bug): pod should not transition %s->%s even when terminated"
            } else if !mirror(pod.now()).is_empty() {
                "invariant violation (bug): static pod should not transition %s->%s with same UID"
            } else {
                "pod moved back to Pending"
            };
            ledger.add(&pod.draft(Level::Warning).human(words));
        }
        "Unknown" => {
            let words = "pod moved to the Unknown phase";
            ledger.add(&pod.draft(Level::Warning).human(words));
        }
        "Failed" => failed(pod, ledger),
        _ => {}
    }
}

fn failed(pod: WatchedPod<'_>, ledger: &mut Ledger) {
    let reason = reading::text(pod.now(), "/status/reason");
    let message = reading::text(pod.now(), "/status/message");
    let draft = match reason {
        "Evicted" => pod.draft(Level::Warning).reason("Evicted").human(message),
        "Preempting" => pod.draft(Level::Error).reason("Preempted").human(message),
        _ => {
            let words = format!("({reason}): {message}");
            pod.draft(Level::Error).reason("Failed").human(words)
        }
    };
    ledger.add(&draft);
    for (list, what) in [
        ("/status/initContainerStatuses", "init container"),
        ("/status/containerStatuses", "container"),
    ] {
        for status in reading::list(pod.now(), list) {
            let code = reading::number(status, "/state/terminated/exitCode").unwrap_or(0);
            if code == 0 {
                continue;
            }
            let words = format!(
                "{what} exited with code {code} ({}): {}",
                reading::text(status, "/state/terminated/reason"),
                reading::text(status, "/state/terminated/message"),
            );
            let name = reading::text(status, "/name");
            ledger.add(&pod.container(name, Level::Error).human(words));
        }
    }
}

/// Notes that a pod's deletion was asked for.
pub(super) fn deletion(pod: WatchedPod<'_>, before: &Value, ledger: &mut Ledger) {
    let (old, new) = (
        reading::number(before, GRACE),
        reading::number(pod.now(), GRACE),
    );
    match (old, new) {
        (None, Some(grace)) => {
            let phase = reading::text(pod.now(), PHASE);
            let node = reading::text(pod.now(), NODE);
            // A pod without a node, or one that is done, is gone at once.
            if node.is_empty() || matches!(phase, "Failed" | "Succeeded") {
                return;
            }
            // The end of the grace, not the time of the change: it is shown however close it is.
            let by = reading::text(pod.now(), "/metadata/deletionTimestamp");
            let by = (pod.mode.is_exact() && !by.is_empty()).then(|| by.to_owned());
            let draft = pod.draft(Level::Info);
            let draft = draft.own_time_of("deletionTimestamp", by);
            if grace == 0 {
                let is_static = !mirror(pod.now()).is_empty();
                let draft = draft.reason("ForceDelete");
                ledger.add(&draft.with("mirrored", is_static.to_string()));
            } else {
                let draft = draft.reason("GracefulDelete");
                ledger.add(&draft.with("duration", format!("{grace}s")));
            }
        }
        (Some(_), None) => {
            let words = "invariant violation: pod was marked for deletion and then deletion grace period was cleared";
            ledger.add(&pod.draft(Level::Error).human(words));
        }
        _ => {}
    }
}

/// Notes that the status of a container was taken away.
pub(super) fn lost_statuses(pod: WatchedPod<'_>, before: &Value, ledger: &mut Ledger) {
    for (list, words) in [
        (
            "/status/containerStatuses",
            "invariant violation: container statuses were removed",
        ),
        (
            "/status/initContainerStatuses",
            "invariant violation: init container statuses were removed",
        ),
    ] {
        if reading::list(pod.now(), list).len() < reading::list(before, list).len() {
            ledger.add(&pod.draft(Level::Error).human(words));
        }
    }
}

/// Notes that a pod moved from one node to another.
pub(super) fn node(pod: WatchedPod<'_>, before: &Value, ledger: &mut Ledger) {
    let (old, new) = (reading::text(before, NODE), reading::text(pod.now(), NODE));
    if !old.is_empty() && old != new {
        let words = format!(
            "invariant violation, pod once assigned to a node must stay on it. The pod previously scheduled to {old}, has just been assigned to a new node {new}"
        );
        ledger.add(&pod.draft(Level::Error).human(words));
    }
}

/// Notes that a pod is gone.
pub(super) fn gone(pod: WatchedPod<'_>, ledger: &mut Ledger) {
    ledger.add(&pod.draft(Level::Info).reason("Deleted"));
    let phase = reading::text(pod.now(), PHASE);
    let reason = if reading::text(pod.now(), NODE).is_empty() {
        "DeletedBeforeScheduling"
    } else if matches!(phase, "Failed" | "Succeeded") {
        "DeletedAfterCompletion"
    } else {
        return;
    };
    ledger.add(&pod.draft(Level::Info).reason(reason));
}
