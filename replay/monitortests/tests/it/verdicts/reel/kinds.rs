//! The kinds that a test's reel can hold. It does not handle others: add them here.

use kubereel_format::{ResourceId, ResourceInfo};

/// `apiVersion`, kind, plural and whether its objects live in namespaces.
const KINDS: &[(&str, &str, &str, bool)] = &[
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Event", "events", true),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "Node", "nodes", false),
    ("v1", "Pod", "pods", true),
    ("v1", "Service", "services", true),
    ("v1", "ServiceAccount", "serviceaccounts", true),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        false,
    ),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("batch/v1", "Job", "jobs", true),
    (
        "config.openshift.io/v1",
        "ClusterOperator",
        "clusteroperators",
        false,
    ),
    (
        "config.openshift.io/v1",
        "ClusterVersion",
        "clusterversions",
        false,
    ),
    (
        "config.openshift.io/v1",
        "Infrastructure",
        "infrastructures",
        false,
    ),
    ("config.openshift.io/v1", "Network", "networks", false),
    ("coordination.k8s.io/v1", "Lease", "leases", true),
    (
        "discovery.k8s.io/v1",
        "EndpointSlice",
        "endpointslices",
        true,
    ),
    ("image.openshift.io/v1", "ImageStream", "imagestreams", true),
    ("machine.openshift.io/v1beta1", "Machine", "machines", true),
    (
        "machineconfiguration.openshift.io/v1",
        "MachineConfig",
        "machineconfigs",
        false,
    ),
    (
        "machineconfiguration.openshift.io/v1",
        "MachineConfigPool",
        "machineconfigpools",
        false,
    ),
    (
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        true,
    ),
];

/// Returns every resource, numbered in the order of the table.
pub fn all() -> Vec<ResourceInfo> {
    let rows = KINDS.iter().zip(0..);
    rows.map(|((api_version, kind, plural, namespaced), number)| {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        ResourceInfo {
            id: ResourceId(number),
            group: group.to_owned(),
            version: version.to_owned(),
            plural: (*plural).to_owned(),
            singular: kind.to_lowercase(),
            kind: (*kind).to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: *namespaced,
            verbs: vec!["list".to_owned(), "watch".to_owned()],
            storage_hash: None,
        }
    })
    .collect()
}

/// Returns the resource of a kind, and the `apiVersion` of its objects.
pub fn of_kind(kind: &str) -> ResourceInfo {
    let mut all = all().into_iter();
    let found = all.find(|info| info.kind == kind);
    found.unwrap_or_else(|| panic!("no reel can hold a {kind}: add it to KINDS"))
}
