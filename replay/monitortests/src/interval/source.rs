//! The words for who made an interval: upstream's own, and ours for what upstream has none. It does
//! not handle completeness: files may name any source.

/// Condition changes of `ClusterOperator` and `ClusterVersion` objects.
pub const CLUSTER_OPERATOR_MONITOR: &str = "ClusterOperatorMonitor";
/// The cluster's own Events.
pub const KUBE_EVENT: &str = "KubeEvent";
/// Changes of nodes.
pub const NODE_MONITOR: &str = "NodeMonitor";
/// Nodes that went not ready outside an update.
pub const NODE_UNEXPECTED_NOT_READY: &str = "NodeUnexpectedNotReady";
/// Nodes that the cluster does not reach.
pub const NODE_UNREACHABLE: &str = "NodeUnreachable";
/// Changes of pods and their containers.
pub const POD_MONITOR: &str = "PodMonitor";
/// Changes and phases of machines.
pub const MACHINE_MONITOR: &str = "MachineMonitor";
/// Workloads whose generation is high or fell.
pub const GENERATION_MONITOR: &str = "GenerationMonitor";
/// Times in which an operator was unavailable, progressing or degraded.
pub const OPERATOR_STATE: &str = "OperatorState";
/// Times in which the version operator waited for operators.
pub const VERSION_STATE: &str = "VersionState";
/// Times in which a node was not ready, updated, drained or rebooted.
pub const NODE_STATE: &str = "NodeState";
/// Times in which a pod or container was in a state.
pub const POD_STATE: &str = "PodState";
/// Shutdowns of API servers.
pub const API_SERVER_GRACEFUL_SHUTDOWN: &str = "APIServerGracefulShutdown";
/// Times in which an API server did not answer; here the recorder.
pub const API_UNREACHABLE_FROM_CLIENT: &str = "APIUnreachableFromClient";
/// Installer pods and static pods; upstream reads the kubelet's log, here pods tell.
pub const STATIC_POD_INSTALL_MONITOR: &str = "StaticPodInstallMonitor";

/// Condition changes of machine config pools. Not upstream's.
pub const POOL_MONITOR: &str = "MachineConfigPoolMonitor";
/// Times in which a machine config pool was updating or degraded. Not upstream's.
pub const POOL_STATE: &str = "MachineConfigPoolState";
/// Changes of a lease's holder. Not upstream's.
pub const LEASE_MONITOR: &str = "LeaseMonitor";
/// Times in which someone, or nobody, held a lease. Not upstream's.
pub const LEASE_STATE: &str = "LeaseState";
/// Installations and upgrades by the history of the `ClusterVersion`. Not upstream's.
pub const CLUSTER_PHASE: &str = "ClusterPhase";
/// Times in which changes may be missing from the recording. Not upstream's.
pub const RECORDING_GAP: &str = "RecordingGap";

/// All of them that kubereel makes of a recording; a file of intervals may have any.
pub const ALL: [&str; 21] = [
    CLUSTER_OPERATOR_MONITOR,
    KUBE_EVENT,
    NODE_MONITOR,
    NODE_UNEXPECTED_NOT_READY,
    NODE_UNREACHABLE,
    POD_MONITOR,
    MACHINE_MONITOR,
    GENERATION_MONITOR,
    OPERATOR_STATE,
    VERSION_STATE,
    NODE_STATE,
    POD_STATE,
    API_SERVER_GRACEFUL_SHUTDOWN,
    API_UNREACHABLE_FROM_CLIENT,
    STATIC_POD_INSTALL_MONITOR,
    POOL_MONITOR,
    POOL_STATE,
    LEASE_MONITOR,
    LEASE_STATE,
    CLUSTER_PHASE,
    RECORDING_GAP,
];

const OPERATORS: &str = "clusteroperators.config.openshift.io";
const VERSIONS: &str = "clusterversions.config.openshift.io";
const POOLS: &str = "machineconfigpools.machineconfiguration.openshift.io";
const LEASES: &str = "leases.coordination.k8s.io";
const WORKLOADS: [&str; 3] = ["daemonsets.apps", "deployments.apps", "statefulsets.apps"];

/// Sources, and the resources of whose objects their intervals are made.
const MADE_OF: [(&str, &[&str]); 19] = [
    (CLUSTER_OPERATOR_MONITOR, &[OPERATORS, VERSIONS]),
    (OPERATOR_STATE, &[OPERATORS]),
    (VERSION_STATE, &[VERSIONS]),
    (CLUSTER_PHASE, &[VERSIONS]),
    (KUBE_EVENT, &["events"]),
    (API_SERVER_GRACEFUL_SHUTDOWN, &["events"]),
    (NODE_MONITOR, &["nodes"]),
    (NODE_UNEXPECTED_NOT_READY, &["nodes"]),
    (NODE_UNREACHABLE, &["nodes"]),
    (NODE_STATE, &["events", "nodes"]),
    (POD_MONITOR, &["pods"]),
    (POD_STATE, &["pods"]),
    (STATIC_POD_INSTALL_MONITOR, &["pods"]),
    (MACHINE_MONITOR, &["machines.machine.openshift.io"]),
    (POOL_MONITOR, &[POOLS]),
    (POOL_STATE, &[POOLS]),
    (GENERATION_MONITOR, &WORKLOADS),
    (LEASE_MONITOR, &[LEASES]),
    (LEASE_STATE, &[LEASES]),
];

/// Returns the resources of whose objects the intervals of a source are made, as `plural` or
/// `plural.group`.
pub(crate) fn made_of(source: &str) -> &'static [&'static str] {
    let mut all = MADE_OF.iter();
    let made_of = all.find(|(known, _)| *known == source);
    made_of.map_or(&[], |(_, resources)| resources)
}
