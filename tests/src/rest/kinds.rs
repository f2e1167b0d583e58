//! Which path a kind is served under: the kinds the players write, and no others.

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
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "Service", "services"),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "Deployment", "deployments"),
    namespaced("apps/v1", "DaemonSet", "daemonsets"),
    namespaced("apps/v1", "StatefulSet", "statefulsets"),
    namespaced("batch/v1", "Job", "jobs"),
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

/// Looks a kind up by its `apiVersion` and `kind`.
pub fn kind_of(api_version: &str, kind: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|known| known.api_version == api_version && known.kind == kind)
}

#[cfg(test)]
mod tests {
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
