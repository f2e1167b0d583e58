//! Which function reads which kind.

use super::{condition, pod, resource, state, stated, workload};
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{ControllerReport, StateHealth, StateKind, StatedFaults, StatusCondition};
use kubereel_format::ResourceInfo;
use kubereel_history::field::{at, is_being_deleted, number};
use serde_json::{Map, Value};

/// What a version says.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// What is wrong.
    pub(crate) signs: Vec<Sign>,
    /// Whether it says that it is well: what is wrong later did work before.
    pub(crate) is_well: bool,
}

impl Reading {
    pub(crate) fn new(is_well: bool, signs: impl IntoIterator<Item = Sign>) -> Self {
        let signs = signs.into_iter().collect();
        Self { signs, is_well }
    }
}

/// The fields that every object is read for.
const EVERY: &[&str] = &[
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.finalizers",
    "metadata.generation",
    "metadata.ownerReferences",
    "status.conditions.type",
    "status.conditions.status",
    "status.conditions.reason",
    "status.conditions.message",
    "status.conditions.lastTransitionTime",
    "status.observedGeneration",
    "spec.suspend",
    "spec.paused",
];

/// Returns the fields that a resource's signs are read from, as paths with dots.
pub(crate) fn paths(info: &ResourceInfo) -> impl Iterator<Item = &'static str> {
    let own: &'static [&'static str] = match (info.group.as_str(), info.plural.as_str()) {
        ("", "pods") => pod::PATHS,
        ("", "nodes") | ("config.openshift.io", _) => state::PATHS,
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets")
        | ("", "replicationcontrollers")
        | ("batch", "jobs")
        | ("autoscaling", "horizontalpodautoscalers") => workload::PATHS,
        _ => resource::PATHS,
    };
    let reported = match StateKind::of(&info.group, &info.plural) {
        None => ControllerReport::PATHS,
        Some(_) => &[],
    };
    let own = EVERY.iter().chain(own).chain(reported).copied();
    own.chain(StatedFaults::of(info).paths())
}

/// Reads what a version of an object says is wrong.
pub(crate) fn read(info: &ResourceInfo, object: &Value) -> Reading {
    let mut reading = read_kind(info, object);
    if !is_being_deleted(object) {
        let stated = stated::read(info, object);
        reading.is_well &= stated.is_empty();
        reading.signs.extend(stated);
    }
    reading
}

fn read_kind(info: &ResourceInfo, object: &Value) -> Reading {
    let is_deleted = is_being_deleted(object);
    if leaves_status_out(info, object) {
        return Reading::default();
    }
    match (info.group.as_str(), info.plural.as_str()) {
        ("", "pods") => pod::read(object),
        // What is being deleted is not well, and need not be.
        ("", "namespaces") if is_deleted => resource::namespace_deletion(object),
        _ if is_deleted => resource::deletion(object),
        // OLM copies an operator's version into each namespace that the operator manages, with its failure.
        ("operators.coreos.com", "clusterserviceversions")
            if at(object, "/metadata/labels/olm.copiedFrom").is_some() =>
        {
            Reading::default()
        }
        ("apps", "deployments") => workload::with_start(workload::deployment(object), object),
        ("apps", "replicasets") | ("", "replicationcontrollers") => {
            workload::with_start(workload::replica_set(object), object)
        }
        ("apps", "statefulsets") => workload::with_start(workload::stateful_set(object), object),
        ("apps", "daemonsets") => workload::with_start(workload::daemon_set(object), object),
        ("batch", "jobs") => workload::job(object),
        ("autoscaling", "horizontalpodautoscalers") => workload::autoscaler(object),
        ("", "persistentvolumeclaims") => resource::claim(object),
        ("", "persistentvolumes") => resource::volume(object),
        ("", "resourcequotas") => resource::quota(object),
        ("certificates.k8s.io", "certificatesigningrequests") => resource::signing_request(object),
        ("storage.k8s.io", "volumeattachments") => resource::attachment(object),
        ("apiregistration.k8s.io", "apiservices") => resource::api_service(object),
        _ if StatedFaults::of(info).has_log_of_conditions() => Reading::default(),
        _ if !is_judged_by_conditions(info) => Reading::default(),
        (group, plural) => match StateKind::of(group, plural) {
            Some(kind) => state::read(kind, object),
            None => condition::read(object),
        },
    }
}

/// Returns whether a tool kept an object without its status. The API server serves each of these kinds with one, which
/// is empty only until its controller has observed the generation that the server gave it.
pub(crate) fn leaves_status_out(info: &ResourceInfo, object: &Value) -> bool {
    let has_status = matches!(
        (info.group.as_str(), info.plural.as_str()),
        (
            "",
            "pods" | "persistentvolumeclaims" | "replicationcontrollers"
        ) | ("apps", _)
            | ("batch", "jobs")
    );
    let is_absent = match object.get("status") {
        None | Some(Value::Null) => true,
        Some(status) => {
            let is_empty = status.as_object().is_some_and(Map::is_empty);
            is_empty && number(object, "/metadata/generation").is_none()
        }
    };
    has_status && is_absent
}

/// Reads what an object that was well has lost.
pub(crate) fn lost(info: &ResourceInfo, object: &Value) -> Option<Sign> {
    let kind = StateKind::of(&info.group, &info.plural)?;
    (!is_being_deleted(object)).then(|| state::lost(kind, object))?
}

/// Returns whether a version that does not show a sign says that it is over. A condition must be good for it: its
/// controller may not know it, or no longer report it. What is true while something is wrong may be removed
/// when it is right. One without a status says nothing.
pub(crate) fn is_over(info: &ResourceInfo, object: &Value, is_well: bool, sign: &Sign) -> bool {
    if leaves_status_out(info, object) {
        return false;
    }
    let conditions = match sign.kind {
        SignKind::Condition => match ControllerReport::of(object) {
            ControllerReport::Conditions(conditions) => conditions,
            ControllerReport::Suspended(_) | ControllerReport::Outdated => return false,
        },
        SignKind::NodeNotReady
        | SignKind::NodePressure
        | SignKind::OperatorUnavailable
        | SignKind::OperatorDegraded
        | SignKind::VersionFailing
        | SignKind::PoolDegraded => StatusCondition::all(object).collect(),
        _ => return true,
    };
    let kind = StateKind::of_resource(info);
    let is_good = |status| kind.health_of(&sign.part, status) == Some(StateHealth::Good);
    match conditions.iter().find(|one| one.kind == sign.part) {
        Some(one) => is_good(one.status),
        None => is_well || !conditions.is_empty() && is_good("False"),
    }
}

/// Reads what went wrong between two versions of an object and may be over by the second one.
pub(crate) fn passed(info: &ResourceInfo, before: &Value, object: &Value) -> Vec<Sign> {
    match (info.group.as_str(), info.plural.as_str()) {
        ("", "pods") => pod::restarts(before, object),
        ("", "nodes") => state::reboot(before, object).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns whether the conditions of a resource's objects say how these are: a budget that allows
/// no disruption is normal by itself.
pub fn is_judged_by_conditions(info: &ResourceInfo) -> bool {
    let without: &[&str] = match info.group.as_str() {
        "" => &["namespaces", "services", "events", "componentstatuses"],
        // The finer conditions of an operator make the conditions of its ClusterOperator.
        "operator.openshift.io" => return false,
        group => {
            return !["policy", "flowcontrol.apiserver.k8s.io", "events.k8s.io"].contains(&group);
        }
    };
    !without.contains(&info.plural.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    #[test]
    fn an_object_without_a_status_neither_shows_a_sign_nor_ends_one() {
        let info = ResourceInfo::new(ResourceId(1), "apps/v1", "deployments", "");
        let missing = Sign::new(SignKind::ReplicasMissing, "", "");
        let of = |object: Value| {
            let is_over = is_over(&info, &object, false, &missing);
            (read(&info, &object).signs.len(), is_over)
        };
        assert_eq!(of(json!({"spec": {"replicas": 2}})), (0, false));
        assert_eq!(
            of(json!({"spec": {"replicas": 2}, "status": {}})),
            (0, false)
        );
        // A server gives an empty status to a new object, and a generation.
        let fresh = json!({"metadata": {"generation": 1}, "spec": {"replicas": 2}, "status": {}});
        assert_eq!(of(fresh), (1, true));
        let none = json!({"metadata": {"generation": 1}, "spec": {"replicas": 0}, "status": {}});
        assert_eq!(of(none), (0, true));
    }
}
