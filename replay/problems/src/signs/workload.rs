//! Workloads: what Deployments, `ReplicaSets`, `StatefulSets`, `DaemonSets`, Jobs and autoscalers say.

use super::Reading;
use super::pod::start_limit;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{StatusCondition, stuck_rollout};
use kubereel_history::field::{ObservedGeneration, at, is_true, items, number, text};
use serde_json::Value;

pub(super) const PATHS: &[&str] = &[
    "spec.replicas",
    "spec.template.spec.containers.startupProbe",
    "status.replicas",
    "status.updatedReplicas",
    "status.updatedNumberScheduled",
    "status.updateRevision",
    "status.currentRevision",
    "spec.strategy",
    "spec.updateStrategy",
    "status.readyReplicas",
    "status.availableReplicas",
    "status.desiredNumberScheduled",
    "status.numberAvailable",
    "status.numberReady",
    "status.active",
    "status.failed",
];

/// The number of Pods that a rollout of a Deployment may take away; a share is rounded down.
const MOST_OF_ROLLOUT: (&str, i64) = ("/spec/strategy/rollingUpdate/maxUnavailable", 0);
/// The number of Pods that an update of a `StatefulSet` or `DaemonSet` may take away; a share is rounded up.
const MOST_OF_UPDATE: (&str, i64) = ("/spec/updateStrategy/rollingUpdate/maxUnavailable", 99);

fn condition<'a>(object: &'a Value, kind: &str, status: &str) -> Option<StatusCondition<'a>> {
    StatusCondition::all(object).find(|one| one.kind == kind && one.is(status))
}

fn of_condition(kind: SignKind, condition: &StatusCondition<'_>) -> Sign {
    Sign::new(kind, condition.reason, condition.message).since(condition.since())
}

/// Gives what a workload lacks the time that the startup probes of its Pods allow.
pub(super) fn with_start(mut reading: Reading, object: &Value) -> Reading {
    let start = at(object, "/spec/template").and_then(start_limit);
    for sign in &mut reading.signs {
        if matches!(sign.kind, SignKind::Unavailable | SignKind::ReplicasMissing) {
            sign.start = start;
        }
    }
    reading
}

/// Returns whether the status is about the present specification.
fn is_observed(object: &Value) -> bool {
    ObservedGeneration::of_status(object) != ObservedGeneration::Older
}

/// Reads how many replicas are wanted and how many there are.
fn missing(wanted: i64, there: i64, what: &str) -> Option<Sign> {
    (there < wanted).then(|| {
        Sign::new(
            SignKind::ReplicasMissing,
            "",
            &format!("{there} of {wanted} {what}"),
        )
    })
}

/// Returns the number of replicas that a rollout may take away: where nothing says it, a quarter of those of a
/// Deployment, and one of others.
fn most_unavailable(object: &Value, (path, rounding): (&str, i64), wanted: i64) -> i64 {
    let most = match at(object, path) {
        Some(Value::String(share)) => {
            let percent = share
                .strip_suffix('%')
                .and_then(|one| one.parse::<i64>().ok());
            let of_all = |percent: i64| wanted.saturating_mul(percent.clamp(0, 100));
            percent.map(|percent| of_all(percent).saturating_add(rounding) / 100)
        }
        Some(number) => number.as_i64(),
        None => None,
    };
    most.unwrap_or(if rounding == 0 { wanted / 4 } else { 1 })
}

/// Returns whether a Deployment is being rolled out, by its condition or, without one, by its counters.
fn is_rolling(object: &Value, wanted: i64, updated: i64) -> bool {
    let progressing = condition(object, "Progressing", "True");
    !is_observed(object)
        || progressing.map_or_else(
            || {
                let all = number(object, "/status/replicas");
                updated < wanted || all.is_some_and(|all| all > updated)
            },
            |one| one.reason != "NewReplicaSetAvailable",
        )
}

/// Marks what a rollout within its bounds makes so: each step of it has a time of its own.
fn marked(mut sign: Sign, is_of_rollout: bool, updated: i64) -> Sign {
    sign.is_under_way = is_of_rollout;
    if is_of_rollout {
        return sign.of_part(&format!("{updated} updated"));
    }
    sign
}

pub(super) fn deployment(object: &Value) -> Reading {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/availableReplicas").unwrap_or(0);
    let is_available = condition(object, "Available", "True").is_some();
    let mut reading = Reading::new(there >= wanted && is_available, []);
    if let Some(stuck) = stuck_rollout(object) {
        let kind = match stuck.reason {
            // It tries again after a moment.
            "ReplicaSetCreateError" => SignKind::CreateFailed,
            _ => SignKind::RolloutStuck,
        };
        reading.signs.push(of_condition(kind, &stuck));
    }
    if let Some(refused) = condition(object, "ReplicaFailure", "True") {
        reading
            .signs
            .push(of_condition(SignKind::CreateFailed, &refused));
    }
    if wanted == 0 || is_true(object, "/spec/paused") {
        return reading;
    }
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let is_rolling = is_rolling(object, wanted, updated);
    if let Some(gone) = condition(object, "Available", "False") {
        let sign = of_condition(SignKind::Unavailable, &gone);
        let is_recreated = is_rolling && text(object, "/spec/strategy/type") == "Recreate";
        reading.signs.push(marked(sign, is_recreated, updated));
    }
    let most = most_unavailable(object, MOST_OF_ROLLOUT, wanted);
    let is_of_rollout = is_rolling && wanted.saturating_sub(there) <= most;
    let missing = missing(wanted, there, "replicas are available");
    let missing = missing.map(|sign| marked(sign, is_of_rollout, updated));
    reading.signs.extend(missing);
    reading
}

/// Reads a `ReplicaSet` or `ReplicationController`. How many replicas one of a Deployment has, the Deployment
/// tells.
pub(super) fn replica_set(object: &Value) -> Reading {
    let refused = condition(object, "ReplicaFailure", "True");
    let refused = refused.map(|refused| of_condition(SignKind::CreateFailed, &refused));
    let mut owners = items(object, "/metadata/ownerReferences").iter();
    let is_of_deployment =
        owners.any(|owner| ["Deployment", "DeploymentConfig"].contains(&text(owner, "/kind")));
    if is_of_deployment {
        return Reading::new(false, refused);
    }
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/availableReplicas").unwrap_or(0);
    let missing = missing(wanted, there, "replicas are available").filter(|_| is_observed(object));
    Reading::new(there >= wanted, refused.into_iter().chain(missing))
}

pub(super) fn stateful_set(object: &Value) -> Reading {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/readyReplicas").unwrap_or(0);
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let is_rolling =
        text(object, "/status/updateRevision") != text(object, "/status/currentRevision");
    let most = most_unavailable(object, MOST_OF_UPDATE, wanted);
    let is_of_rollout = is_rolling && wanted.saturating_sub(there) <= most;
    let missing = missing(wanted, there, "replicas are ready").filter(|_| is_observed(object));
    let missing = missing.map(|sign| marked(sign, is_of_rollout, updated));
    Reading::new(there >= wanted, missing)
}

pub(super) fn daemon_set(object: &Value) -> Reading {
    let wanted = number(object, "/status/desiredNumberScheduled").unwrap_or(0);
    let there = number(object, "/status/numberAvailable").unwrap_or(0);
    let updated = number(object, "/status/updatedNumberScheduled").unwrap_or(0);
    let most = most_unavailable(object, MOST_OF_UPDATE, wanted);
    let is_of_rollout = updated < wanted && wanted.saturating_sub(there) <= most;
    let missing = missing(wanted, there, "Nodes run an available Pod");
    let missing = missing.filter(|_| is_observed(object));
    let missing = missing.map(|sign| marked(sign, is_of_rollout, updated));
    Reading::new(there >= wanted && wanted > 0, missing)
}

/// Returns whether a workload lacks more Pods than an update or a lost Node may take away from it at a moment.
pub(crate) fn lacks_more_than_update(object: &Value) -> bool {
    let first = |fields: &[&str]| fields.iter().find_map(|field| number(object, field));
    let wanted = first(&["/status/desiredNumberScheduled", "/spec/replicas"]).unwrap_or(1);
    let there = first(&[
        "/status/numberAvailable",
        "/status/readyReplicas",
        "/status/availableReplicas",
    ]);
    let lacking = wanted.saturating_sub(there.unwrap_or(0));
    // A Deployment says itself whether that is too much, and since when.
    condition(object, "Available", "True").is_none()
        && lacking > most_unavailable(object, MOST_OF_UPDATE, wanted)
}

pub(super) fn job(object: &Value) -> Reading {
    let failed =
        condition(object, "Failed", "True").or_else(|| condition(object, "FailureTarget", "True"));
    let failed = failed.map(|failed| of_condition(SignKind::JobFailed, &failed));
    Reading::new(condition(object, "Complete", "True").is_some(), failed)
}

pub(super) fn autoscaler(object: &Value) -> Reading {
    let broken = StatusCondition::all(object).find(|one| {
        let is_broken = one.is("False")
            && (one.reason.starts_with("FailedGet")
                || one.reason.starts_with("FailedCompute")
                || ["FailedUpdateScale", "InvalidSelector"].contains(&one.reason));
        is_broken && ["AbleToScale", "ScalingActive"].contains(&one.kind)
    });
    let has_conditions = !text(object, "/status/conditions/0/type").is_empty();
    let signs = broken.map(|broken| {
        let mut sign = of_condition(SignKind::Autoscaler, &broken).of_part(broken.kind);
        // Metrics may be late; what it scales is there or not.
        sign.is_failure = broken.kind == "AbleToScale";
        sign
    });
    Reading::new(broken.is_none() && has_conditions, signs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rollout_past_its_deadline_is_a_sign_and_an_old_replica_set_still_serves() {
        let object = json!({"spec": {"replicas": 2}, "status": {"availableReplicas": 2, "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "m"},
        ]}});
        let reading = deployment(&object);
        let kinds: Vec<SignKind> = reading.signs.iter().map(|sign| sign.kind).collect();
        assert_eq!(kinds, [SignKind::RolloutStuck]);
        assert!(reading.is_well);
    }

    #[test]
    fn a_deployment_whose_replica_set_cannot_be_created_creates_no_pods() {
        let object = json!({"spec": {"replicas": 2}, "status": {"availableReplicas": 2, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": "denied"},
        ]}});
        let signs = deployment(&object).signs;
        let signs = signs.iter().map(|sign| (sign.kind, sign.reason.as_str()));
        assert_eq!(
            signs.collect::<Vec<_>>(),
            [(SignKind::CreateFailed, "ReplicaSetCreateError")]
        );
    }

    #[test]
    fn what_is_scaled_to_zero_or_paused_misses_nothing() {
        let none = json!({"spec": {"replicas": 0}, "status": {}});
        let paused = json!({"spec": {"replicas": 2, "paused": true}, "status": {}});
        assert!(deployment(&none).signs.is_empty());
        assert!(deployment(&paused).signs.is_empty());
    }

    #[test]
    fn more_is_missing_than_an_update_takes_away() {
        let set = |ready: i64, strategy: Value| {
            let spec = json!({"replicas": 3, "updateStrategy": strategy});
            lacks_more_than_update(&json!({"spec": spec, "status": {"readyReplicas": ready}}))
        };
        assert!(set(1, json!({})) && !set(2, json!({})));
        assert!(!set(1, json!({"rollingUpdate": {"maxUnavailable": 2}})));
        let daemons = |there: i64| {
            let status = json!({"desiredNumberScheduled": 3, "numberAvailable": there});
            lacks_more_than_update(&json!({"status": status}))
        };
        assert!(daemons(1) && !daemons(2));
        let served = json!({"spec": {"replicas": 8}, "status": {"availableReplicas": 6,
            "conditions": [{"type": "Available", "status": "True"}]}});
        assert!(!lacks_more_than_update(&served));
    }

    #[test]
    fn a_replica_set_without_a_deployment_must_have_its_replicas() {
        let mut object = json!({"spec": {"replicas": 2}, "status": {"availableReplicas": 1}});
        let of = |object: &Value| -> Vec<String> {
            let signs = replica_set(object).signs.into_iter();
            signs.map(|sign| sign.message).collect()
        };
        assert_eq!(of(&object), ["1 of 2 replicas are available"]);
        object["metadata"] = json!({"ownerReferences": [{"kind": "Deployment", "name": "web"}]});
        assert!(of(&object).is_empty());
    }

    #[test]
    fn counters_of_an_older_specification_are_no_sign() {
        let object = json!({"metadata": {"generation": 3},
            "spec": {"replicas": 3}, "status": {"observedGeneration": 2, "readyReplicas": 1}});
        assert!(stateful_set(&object).signs.is_empty());
    }
}
