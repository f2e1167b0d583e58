//! The one reading of a workload's state: how many of the wanted replicas are available, and
//! whether a Job ended. `problems` decides what is wrong for too long, and why.

use crate::condition::StatusCondition;
use kubereel_history::RolloutState;
use kubereel_history::counttext::count;
use kubereel_history::field::number;
use serde_json::Value;

/// The state of a workload, with the reason in a few words if it is not as wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkloadStage {
    /// All wanted replicas are available.
    AsWanted,
    /// A Job is complete.
    Complete,
    /// It is progressing.
    Partial(String),
    /// It does not progress.
    Stuck(String),
    /// No replica is available.
    Nothing(String),
}

fn is_true(object: &Value, kind: &str) -> Option<String> {
    let mut all = StatusCondition::all(object);
    let found = all.find(|one| one.kind == kind && one.is("True"))?;
    Some(found.reason.to_owned())
}

/// Returns the condition of a Deployment whose rollout does not progress: its deadline passed, or its `ReplicaSet`
/// cannot be created.
pub fn stuck_rollout(deployment: &Value) -> Option<StatusCondition<'_>> {
    let mut all = StatusCondition::all(deployment);
    all.find(|one| one.kind == "Progressing" && one.is("False"))
}

/// Reads the state of a Deployment.
pub(crate) fn deployment(object: &Value) -> WorkloadStage {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/availableReplicas").unwrap_or(0);
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let rollout = RolloutState::of_named("deployments.apps", object);
    let read = of_counts((wanted, there, updated), "available", rollout.as_ref());
    match stuck_rollout(object) {
        Some(stuck) if !matches!(read, WorkloadStage::Nothing(_)) => {
            WorkloadStage::Stuck(stuck.reason.to_owned())
        }
        _ => read,
    }
}

/// Reads the state of a `StatefulSet`.
pub(crate) fn stateful_set(object: &Value) -> WorkloadStage {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/readyReplicas").unwrap_or(0);
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let rollout = RolloutState::of_named("statefulsets.apps", object);
    of_counts((wanted, there, updated), "ready", rollout.as_ref())
}

/// Reads the state of a `DaemonSet`.
pub(crate) fn daemon_set(object: &Value) -> WorkloadStage {
    let wanted = number(object, "/status/desiredNumberScheduled").unwrap_or(0);
    let there = number(object, "/status/numberAvailable").unwrap_or(0);
    let updated = number(object, "/status/updatedNumberScheduled").unwrap_or(0);
    let rollout = RolloutState::of_named("daemonsets.apps", object);
    of_counts((wanted, there, updated), "available", rollout.as_ref())
}

fn of_counts(
    (wanted, there, updated): (i64, i64, i64),
    what: &str,
    rollout: Option<&RolloutState>,
) -> WorkloadStage {
    let is_rolling = matches!(rollout, Some(RolloutState::Underway(_)));
    let words = format!("{there} of {wanted} {what}");
    if wanted > 0 && there <= 0 {
        WorkloadStage::Nothing(words)
    } else if there < wanted {
        WorkloadStage::Partial(words)
    } else if is_rolling && updated < wanted {
        WorkloadStage::Partial(format!("{updated} of {wanted} updated"))
    } else if is_rolling {
        WorkloadStage::Partial("rollout under way".to_owned())
    } else {
        WorkloadStage::AsWanted
    }
}

/// Reads the state of a Job.
pub(crate) fn job(object: &Value) -> WorkloadStage {
    if let Some(reason) = is_true(object, "Failed") {
        return WorkloadStage::Stuck(format!("Failed {reason}").trim_end().to_owned());
    }
    if is_true(object, "Complete").is_some() {
        return WorkloadStage::Complete;
    }
    let failed = number(object, "/status/failed").unwrap_or(0);
    let words = match failed {
        0 => "running".to_owned(),
        failed => format!("running, {} failed", count(failed.unsigned_abs(), "Pod")),
    };
    WorkloadStage::Partial(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workload_is_as_well_as_its_replicas() {
        let read = |wanted: i64, there: i64| {
            let object = json!({"spec": {"replicas": wanted},
                "status": {"availableReplicas": there, "updatedReplicas": wanted}});
            deployment(&object)
        };
        assert_eq!(read(3, 3), WorkloadStage::AsWanted);
        let partial = WorkloadStage::Partial("2 of 3 available".to_owned());
        assert_eq!(read(3, 2), partial);
        assert!(matches!(read(3, 0), WorkloadStage::Nothing(_)));
        assert_eq!(read(0, 0), WorkloadStage::AsWanted);
    }

    #[test]
    fn a_rollout_that_is_stuck_says_why() {
        let object = json!({"spec": {"replicas": 2},
        "status": {"availableReplicas": 1, "updatedReplicas": 1, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
        ]}});
        let stuck = WorkloadStage::Stuck("ProgressDeadlineExceeded".to_owned());
        assert_eq!(deployment(&object), stuck);
    }

    #[test]
    fn a_job_ends_well_or_badly() {
        let ended = |kind: &str| json!({"status": {"conditions": [{"type": kind, "status": "True", "reason": "Why"}]}});
        assert_eq!(job(&ended("Complete")), WorkloadStage::Complete);
        let failed = WorkloadStage::Stuck("Failed Why".to_owned());
        assert_eq!(job(&ended("Failed")), failed);
        let running = WorkloadStage::Partial("running".to_owned());
        assert_eq!(job(&json!({"status": {"active": 1}})), running);
    }

    #[test]
    fn a_workload_is_rolled_out_when_kubectl_says_so() {
        let daemons = |updated: i64| {
            daemon_set(
                &json!({"status": {"desiredNumberScheduled": 3, "numberAvailable": 3,
                "updatedNumberScheduled": updated}}),
            )
        };
        assert_eq!(daemons(3), WorkloadStage::AsWanted);
        let partial = |words: &str| WorkloadStage::Partial(words.to_owned());
        assert_eq!(daemons(0), partial("0 of 3 updated"));
        let set = |ready: i64, update: &str, strategy: &str| {
            stateful_set(&json!({"metadata": {"generation": 2},
                "spec": {"replicas": 2, "updateStrategy": {"type": strategy}},
                "status": {"readyReplicas": ready, "currentRevision": "a", "updateRevision": update,
                    "observedGeneration": 2}}))
        };
        assert_eq!(set(1, "a", "RollingUpdate"), partial("1 of 2 ready"));
        assert_eq!(set(2, "a", "RollingUpdate"), WorkloadStage::AsWanted);
        // A counter of 0 is left out.
        assert_eq!(set(2, "b", "RollingUpdate"), partial("0 of 2 updated"));
        assert_eq!(set(2, "b", "OnDelete"), WorkloadStage::AsWanted);
        let unobserved = json!({"metadata": {"generation": 2}, "spec": {"replicas": 1},
            "status": {"availableReplicas": 1, "updatedReplicas": 1, "replicas": 1, "observedGeneration": 1}});
        assert_eq!(deployment(&unobserved), partial("rollout under way"));
    }
}
