//! The one reading of a workload's state: how many of the wanted replicas are available, and
//! whether a Job ended. `problems` decides what is wrong for too long, and why.

use crate::condition::StatusCondition;
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

fn number(object: &Value, path: &str) -> Option<i64> {
    object.pointer(path).and_then(Value::as_i64)
}

fn is_true(object: &Value, kind: &str) -> Option<String> {
    let mut all = StatusCondition::all(object);
    let found = all.find(|one| one.kind == kind && one.is("True"))?;
    Some(found.reason.to_owned())
}

/// Reads the state of a Deployment.
pub(crate) fn deployment(object: &Value) -> WorkloadStage {
    let mut all = StatusCondition::all(object);
    let stuck = all.find(|one| one.kind == "Progressing" && one.is("False"));
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let there = number(object, "/status/availableReplicas").unwrap_or(0);
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let read = of_counts(wanted, there, updated, "available");
    match stuck {
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
    let updated = number(object, "/status/updatedReplicas").unwrap_or(wanted);
    of_counts(wanted, there, updated, "ready")
}

/// Reads the state of a `DaemonSet`.
pub(crate) fn daemon_set(object: &Value) -> WorkloadStage {
    let wanted = number(object, "/status/desiredNumberScheduled").unwrap_or(0);
    let there = number(object, "/status/numberAvailable").unwrap_or(0);
    let updated = number(object, "/status/updatedNumberScheduled").unwrap_or(wanted);
    of_counts(wanted, there, updated, "available")
}

fn of_counts(wanted: i64, there: i64, updated: i64, what: &str) -> WorkloadStage {
    let words = format!("{there} of {wanted} {what}");
    if wanted > 0 && there <= 0 {
        WorkloadStage::Nothing(words)
    } else if there < wanted {
        WorkloadStage::Partial(words)
    } else if updated < wanted {
        WorkloadStage::Partial(format!("{updated} of {wanted} updated"))
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
        1 => "running, 1 Pod failed".to_owned(),
        failed => format!("running, {failed} Pods failed"),
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
        let all = json!({"status": {"desiredNumberScheduled": 3, "numberAvailable": 3}});
        assert_eq!(daemon_set(&all), WorkloadStage::AsWanted);
        let set = json!({"spec": {"replicas": 2}, "status": {"readyReplicas": 1}});
        let partial = WorkloadStage::Partial("1 of 2 ready".to_owned());
        assert_eq!(stateful_set(&set), partial);
    }
}
