//! Which object is meant: its kind, namespace and name, and the path that follows from them.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// Names one object of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Target {
    /// Group and version as in `apiVersion`.
    pub api_version: String,
    /// The kind as in `kind`.
    pub kind: String,
    /// The namespace; `None` for objects of the cluster.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

impl Target {
    /// Names an object of a namespace.
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// Names an object of the cluster.
    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }

    /// Names the object that a document is; `None` when it lacks a kind or a name.
    pub fn of(object: &Value) -> Option<Self> {
        Some(Self {
            api_version: object["apiVersion"].as_str()?.to_owned(),
            kind: object["kind"].as_str()?.to_owned(),
            namespace: object["metadata"]["namespace"]
                .as_str()
                .map(ToOwned::to_owned),
            name: object["metadata"]["name"].as_str()?.to_owned(),
        })
    }

    /// Where this kind is served; `None` for a kind the players do not know.
    pub fn kind(&self) -> Option<&'static Kind> {
        kind_of(&self.api_version, &self.kind)
    }

    /// The path of the collection the object is in.
    pub fn collection_path(&self) -> Option<String> {
        let kind = self.kind()?;
        let root = if kind.api_version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        match (kind.namespaced, &self.namespace) {
            (true, Some(namespace)) => Some(format!(
                "{root}/{}/namespaces/{namespace}/{}",
                kind.api_version, kind.plural
            )),
            (false, None) => Some(format!("{root}/{}/{}", kind.api_version, kind.plural)),
            _ => None,
        }
    }

    /// The path of the object itself.
    pub fn path(&self) -> Option<String> {
        self.collection_path()
            .map(|collection| format!("{collection}/{}", self.name))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(out, "{} {namespace}/{}", self.kind, self.name),
            None => write!(out, "{} {}", self.kind, self.name),
        }
    }
}

/// Where a kind is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Group and version as in `apiVersion`.
    pub api_version: &'static str,
    /// The kind as in `kind`.
    pub kind: &'static str,
    /// The name in the path.
    pub plural: &'static str,
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
}

const fn namespaced(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind {
        api_version,
        kind,
        plural,
        namespaced: true,
    }
}

const fn cluster_wide(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind {
        api_version,
        kind,
        plural,
        namespaced: false,
    }
}

const CONFIG: &str = "config.openshift.io/v1";
const MACHINE_CONFIG: &str = "machineconfiguration.openshift.io/v1";

const KINDS: &[Kind] = &[
    cluster_wide("v1", "Namespace", "namespaces"),
    cluster_wide("v1", "Node", "nodes"),
    namespaced("v1", "Pod", "pods"),
    namespaced("v1", "Event", "events"),
    namespaced("v1", "LimitRange", "limitranges"),
    cluster_wide("v1", "PersistentVolume", "persistentvolumes"),
    namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    namespaced("v1", "ResourceQuota", "resourcequotas"),
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "Service", "services"),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "Deployment", "deployments"),
    namespaced("apps/v1", "DaemonSet", "daemonsets"),
    namespaced("apps/v1", "ReplicaSet", "replicasets"),
    namespaced("apps/v1", "StatefulSet", "statefulsets"),
    namespaced("batch/v1", "CronJob", "cronjobs"),
    namespaced("batch/v1", "Job", "jobs"),
    namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    namespaced("rbac.authorization.k8s.io/v1", "Role", "roles"),
    namespaced(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "rolebindings",
    ),
    cluster_wide("storage.k8s.io/v1", "StorageClass", "storageclasses"),
    cluster_wide("apiregistration.k8s.io/v1", "APIService", "apiservices"),
    cluster_wide(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    namespaced("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    namespaced("coordination.k8s.io/v1", "Lease", "leases"),
    cluster_wide("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    cluster_wide(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    ),
    cluster_wide(CONFIG, "ClusterVersion", "clusterversions"),
    cluster_wide(CONFIG, "ClusterOperator", "clusteroperators"),
    cluster_wide(CONFIG, "Infrastructure", "infrastructures"),
    cluster_wide(CONFIG, "Network", "networks"),
    cluster_wide(CONFIG, "FeatureGate", "featuregates"),
    cluster_wide(MACHINE_CONFIG, "MachineConfigPool", "machineconfigpools"),
    cluster_wide(MACHINE_CONFIG, "MachineConfig", "machineconfigs"),
    namespaced("machine.openshift.io/v1beta1", "Machine", "machines"),
    namespaced("route.openshift.io/v1", "Route", "routes"),
];

/// Looks a kind up by its `kind` alone, among those that only one group has.
pub fn kind_named(kind: &str) -> Option<&'static Kind> {
    let mut named = KINDS.iter().filter(|known| known.kind == kind);
    named.next().filter(|_| named.next().is_none())
}

/// Looks a kind up by its `apiVersion` and `kind`.
pub fn kind_of(api_version: &str, kind: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|known| known.api_version == api_version && known.kind == kind)
}

#[cfg(test)]
mod target_tests {
    use super::*;

    #[test]
    fn paths_follow_the_kind() {
        let pod = Target::namespaced("v1", "Pod", "shop", "web");
        assert_eq!(pod.path().unwrap(), "/api/v1/namespaces/shop/pods/web");
        let operator = Target::cluster_wide("config.openshift.io/v1", "ClusterOperator", "etcd");
        assert_eq!(
            operator.path().unwrap(),
            "/apis/config.openshift.io/v1/clusteroperators/etcd"
        );
        assert_eq!(
            Target::cluster_wide("v1", "Pod", "no-namespace").path(),
            None
        );
        assert_eq!(Target::cluster_wide("v1", "Unheard", "of").path(), None);
    }
}

#[cfg(test)]
mod kinds_tests {
    use super::*;

    #[test]
    fn no_kind_is_listed_twice() {
        for (index, kind) in KINDS.iter().enumerate() {
            assert!(
                !KINDS[..index]
                    .iter()
                    .any(|other| other.kind == kind.kind && other.api_version == kind.api_version),
                "{kind:?}"
            );
        }
    }
}
