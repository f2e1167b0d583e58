//! Which function reads which kind.

use super::{condition, node, openshift, pod, resource, workload};
use crate::sign::{Sign, text};
use kubereel_format::ResourceInfo;
use serde_json::Value;

/// What a version says.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// What is wrong.
    pub(crate) signs: Vec<Sign>,
    /// Whether it says that it is well: what is wrong later did work before.
    pub(crate) is_well: bool,
}

/// The fields that every object is read for.
const EVERY: &[&str] = &[
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
    "status.conditions.observedGeneration",
    "status.observedGeneration",
    "spec.suspend",
    "spec.paused",
];

/// Gives the fields that a resource's signs are read from, as paths with dots.
pub(crate) fn paths(info: &ResourceInfo) -> impl Iterator<Item = &'static str> {
    let own: &'static [&'static str] = match (info.group.as_str(), info.plural.as_str()) {
        ("", "pods") => pod::PATHS,
        ("", "nodes") => node::PATHS,
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets")
        | ("batch", "jobs")
        | ("autoscaling", "horizontalpodautoscalers") => workload::PATHS,
        ("config.openshift.io", _) => openshift::PATHS,
        _ => resource::PATHS,
    };
    EVERY.iter().chain(own).copied()
}

/// Reads what a version of an object says is wrong.
pub(crate) fn read(info: &ResourceInfo, object: &Value) -> Reading {
    let is_deleted = !text(object, "/metadata/deletionTimestamp").is_empty();
    match (info.group.as_str(), info.plural.as_str()) {
        ("", "pods") => pod::read(object),
        // What is being deleted is not well, and need not be.
        _ if is_deleted => resource::deletion(info, object),
        ("", "nodes") => node::read(object),
        ("apps", "deployments") => workload::deployment(object),
        ("apps", "replicasets") => workload::replica_set(object),
        ("apps", "statefulsets") => workload::stateful_set(object),
        ("apps", "daemonsets") => workload::daemon_set(object),
        ("batch", "jobs") => workload::job(object),
        ("autoscaling", "horizontalpodautoscalers") => workload::autoscaler(object),
        ("", "persistentvolumeclaims") => resource::claim(object),
        ("", "persistentvolumes") => resource::volume(object),
        ("storage.k8s.io", "volumeattachments") => resource::attachment(object),
        ("apiregistration.k8s.io", "apiservices") => resource::api_service(object),
        ("config.openshift.io", "clusteroperators") => openshift::operator(object),
        ("config.openshift.io", "clusterversions") => openshift::version(object),
        ("machineconfiguration.openshift.io", "machineconfigpools") => openshift::pool(object),
        ("cert-manager.io", "certificates") => resource::certificate(object),
        // The finer conditions of an operator make the conditions of its ClusterOperator.
        ("operator.openshift.io", _) => Reading::default(),
        (group, plural) if is_without_verdict(group, plural) => Reading::default(),
        _ => condition::read(object),
    }
}

/// Tells whether conditions of a resource say nothing of its health: a budget that allows no disruption is
/// normal by itself.
fn is_without_verdict(group: &str, plural: &str) -> bool {
    match group {
        "" => ["namespaces", "services", "events", "componentstatuses"].contains(&plural),
        group => [
            "policy",
            "flowcontrol.apiserver.k8s.io",
            "events.k8s.io",
            "certificates.k8s.io",
        ]
        .contains(&group),
    }
}
