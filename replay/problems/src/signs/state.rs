//! Nodes and what OpenShift adds: the kinds whose conditions `kubereel_cluster` gives a health.

use super::Reading;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{StateHealth, StateKind, StatusCondition, is_being_removed, is_cordoned};
use kubereel_history::field::text;
use serde_json::Value;

pub(super) const PATHS: &[&str] = &[
    "spec.unschedulable",
    "spec.taints.key",
    "status.nodeInfo.bootID",
    "status.history.startedTime",
];

/// The reason for a condition that an object no longer reports.
const NOT_REPORTED: &str = "NotReported";

/// Returns what a condition of a kind says if it is bad.
fn sign_kind(kind: StateKind, condition: &str) -> Option<SignKind> {
    Some(match (kind, condition) {
        (StateKind::Node, "Ready") => SignKind::NodeNotReady,
        (StateKind::Node, _) => SignKind::NodePressure,
        (StateKind::Operator, "Available") => SignKind::OperatorUnavailable,
        (StateKind::Operator, "Degraded") => SignKind::OperatorDegraded,
        (StateKind::Version, "ReleaseAccepted") => SignKind::ReleaseNotAccepted,
        (StateKind::Version, "Failing" | "Invalid") => SignKind::VersionFailing,
        (StateKind::Pool, "Degraded") => SignKind::PoolDegraded,
        _ => return None,
    })
}

/// Returns what a condition says if it is bad. An operator, and the cluster version operator of itself, must know: it
/// suspects by `Failing=Unknown` that an update does not go on.
fn sign_of(kind: StateKind, condition: &StatusCondition<'_>) -> Option<SignKind> {
    let sign = sign_kind(kind, condition.kind)?;
    let is_bad = match kind.health_of(condition.kind, condition.status)? {
        StateHealth::Bad | StateHealth::Down => true,
        StateHealth::Unknown => kind == StateKind::Operator || sign == SignKind::VersionFailing,
        StateHealth::Absent | StateHealth::Good | StateHealth::Changing => false,
    };
    is_bad.then_some(sign)
}

pub(super) fn read(kind: StateKind, object: &Value) -> Reading {
    let well = match kind {
        StateKind::Node => "Ready",
        StateKind::Pool => "Updated",
        _ => "Available",
    };
    let mut reading = Reading::default();
    for condition in StatusCondition::all(object) {
        reading.is_well |= condition.kind == well && condition.is("True");
        let Some(sign) = sign_of(kind, &condition) else {
            continue;
        };
        let part = match sign {
            // The next release is another matter once one was accepted.
            SignKind::ReleaseNotAccepted => text(object, "/status/history/0/startedTime"),
            _ => condition.kind,
        };
        let words = worded(object, kind, &condition);
        let mut sign = Sign::new(sign, words.reason, words.message)
            .of_part(part)
            .since(condition.since());
        let is_pressure = sign.kind == SignKind::NodePressure;
        let is_unclear = kind != StateKind::Node && condition.is("Unknown");
        if is_unclear || is_pressure && !sign.message.contains(condition.kind) {
            let words = format!("{}={}: {}", condition.kind, condition.status, sign.message);
            words.trim_end_matches(": ").clone_into(&mut sign.message);
        }
        reading.signs.push(sign);
    }
    if kind == StateKind::Operator {
        reading.is_well &= reading.signs.is_empty();
    }
    if kind == StateKind::Node {
        reading.signs.extend(cordon(object));
    }
    reading
}

/// Reads what an object that was well has lost: it no longer reports that it is well or, as a cluster that is being
/// installed does all the time, reports the opposite.
pub(super) fn lost(kind: StateKind, object: &Value) -> Option<Sign> {
    let (condition, sign) = match kind {
        StateKind::Version => ("Available", SignKind::VersionFailing),
        StateKind::Operator => ("Available", SignKind::OperatorUnavailable),
        StateKind::Node => ("Ready", SignKind::NodeNotReady),
        _ => return None,
    };
    let reported = StatusCondition::all(object).find(|one| one.kind == condition);
    let (reason, words) = match reported {
        None => (
            NOT_REPORTED,
            format!("the condition {condition} is no longer reported"),
        ),
        Some(one) if kind == StateKind::Version && one.is("False") => {
            let words = format!("{condition}=False: {}", one.message);
            (one.reason, words.trim_end_matches(": ").to_owned())
        }
        Some(_) => return None,
    };
    Some(Sign::new(sign, reason, &words).of_part(condition))
}

/// Returns whether a sign says what an object has lost.
pub(crate) fn is_loss(sign: &Sign) -> bool {
    sign.reason == NOT_REPORTED || sign.kind == SignKind::VersionFailing && sign.part == "Available"
}

/// Returns the condition that has the words for a bad one: a pool says why it is degraded in a condition for its Nodes, or
/// for its configuration.
fn worded<'a>(
    object: &'a Value,
    kind: StateKind,
    bad: &StatusCondition<'a>,
) -> StatusCondition<'a> {
    let mut parts = StatusCondition::all(object)
        .filter(|one| one.is("True") && ["NodeDegraded", "RenderDegraded"].contains(&one.kind));
    let part = || parts.find(|one| !one.message.is_empty());
    let is_wordless = kind == StateKind::Pool && bad.message.is_empty();
    is_wordless.then(part).flatten().unwrap_or(*bad)
}

/// Reads why a Node takes no Pods by somebody's will.
fn cordon(node: &Value) -> Option<Sign> {
    let words = if is_cordoned(node) {
        "spec.unschedulable is true"
    } else if is_being_removed(node) {
        "the cluster autoscaler removes it"
    } else {
        return None;
    };
    Some(Sign::new(SignKind::NodeCordoned, "", words))
}

/// Reads whether a Node was rebooted between two versions: it may be ready again by the second one.
pub(super) fn reboot(before: &Value, node: &Value) -> Option<Sign> {
    let [old, new] = [before, node].map(|one| text(one, "/status/nodeInfo/bootID"));
    let is_other = !old.is_empty() && !new.is_empty() && old != new;
    is_other.then(|| {
        let words = format!("the boot ID changed from {old} to {new}");
        Sign::new(SignKind::NodeRebooted, "", &words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kinds(kind: StateKind, conditions: &Value) -> Vec<SignKind> {
        let object = json!({"status": {"conditions": conditions}});
        let signs = read(kind, &object).signs.into_iter();
        signs.map(|sign| sign.kind).collect()
    }

    #[test]
    fn a_pool_is_worded_by_the_condition_that_says_why() {
        let pool = json!({"status": {"conditions": [
            {"type": "Degraded", "status": "True", "reason": "", "message": ""},
            {"type": "NodeDegraded", "status": "True", "reason": "1 nodes are reporting degraded status",
                "message": "Node worker-1 is reporting: failed to drain"},
        ]}});
        let signs = read(StateKind::Pool, &pool).signs;
        let words: Vec<&str> = signs.iter().map(|sign| sign.message.as_str()).collect();
        assert_eq!(words, ["Node worker-1 is reporting: failed to drain"]);
    }

    #[test]
    fn what_is_bad_for_a_lane_is_a_sign() {
        let node = json!([
            {"type": "Ready", "status": "Unknown"},
            {"type": "DiskPressure", "status": "True"},
            {"type": "MemoryPressure", "status": "Unknown"},
            {"type": "Special", "status": "True"},
        ]);
        let expected = [SignKind::NodeNotReady, SignKind::NodePressure];
        assert_eq!(kinds(StateKind::Node, &node), expected);
        let operator = json!([
            {"type": "Available", "status": "False"},
            {"type": "Degraded", "status": "True"},
            {"type": "Upgradeable", "status": "False"},
            {"type": "Progressing", "status": "True"},
        ]);
        let expected = [SignKind::OperatorUnavailable, SignKind::OperatorDegraded];
        assert_eq!(kinds(StateKind::Operator, &operator), expected);
        let version = json!([
            {"type": "ReleaseAccepted", "status": "False"},
            {"type": "Failing", "status": "True"},
        ]);
        let expected = [SignKind::ReleaseNotAccepted, SignKind::VersionFailing];
        assert_eq!(kinds(StateKind::Version, &version), expected);
    }

    #[test]
    fn what_is_not_known_of_an_operator_or_of_an_update_is_a_sign() {
        let operator = json!([
            {"type": "Available", "status": "Unknown"},
            {"type": "Degraded", "status": "Unknown"},
            {"type": "Progressing", "status": "Unknown"},
        ]);
        let expected = [SignKind::OperatorUnavailable, SignKind::OperatorDegraded];
        assert_eq!(kinds(StateKind::Operator, &operator), expected);
        let version = |kind: &str, message: &str| {
            json!({"status": {"conditions": [{"type": kind, "status": "Unknown",
                "reason": "SlowClusterOperator", "message": message}]}})
        };
        let slow = version("Failing", "waiting on dns over 30 minutes");
        let signs = read(StateKind::Version, &slow).signs;
        let words: Vec<_> = signs.iter().map(|one| (one.kind, &*one.message)).collect();
        let expected = "Failing=Unknown: waiting on dns over 30 minutes";
        assert_eq!(words, [(SignKind::VersionFailing, expected)]);
        let retrieved = version("ReleaseAccepted", "");
        assert!(read(StateKind::Version, &retrieved).signs.is_empty());
    }

    #[test]
    fn an_operator_is_well_without_a_sign_and_a_node_while_it_is_ready() {
        let of = |kind, conditions: Value| {
            read(kind, &json!({"status": {"conditions": conditions}})).is_well
        };
        let available = json!({"type": "Available", "status": "True"});
        let degraded = json!({"type": "Degraded", "status": "True"});
        assert!(of(StateKind::Operator, json!([available])));
        assert!(!of(StateKind::Operator, json!([available, degraded])));
        let pressed = json!([{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}]);
        assert!(of(StateKind::Node, pressed));
    }
}
