//! Owns the rows of JUnit names that need only API objects.

use crate::builtin::row::{Row, Way};

const CVO: &str = "legacy-cvo-invariants";
const CHECKER: &str = "cluster-version-checker";
const NODE: &str = "node-lifecycle";
const LEGACY_NODE: &str = "legacy-node-invariants";
const CONTAINERS: &str = "kubelet-container-restarts";

/// What every rule about a running cluster differs in.
const AFTER_INSTALL: &str = "The installation is not judged: upstream's monitor starts after it.";

/// Rows 1 to 24 and 26 to 28.
pub(super) const OBJECTS: &[Row] = &[
    Row {
        number: 1,
        id: "operator-available",
        monitor: CVO,
        junit: "[bz-{component}] clusteroperator/{operator} should not change condition/Available",
        way: Way::Yaml,
        differs: "A bad spell is one finding, where upstream counts its instant and its bar. Upgrades are taken \
from the Events of the end-to-end suite, or else from the ClusterVersion's history; what is outside of them is \
held against the exceptions of a stable cluster. What was bad when the recording began is judged too. The \
installation is not judged: upstream's monitor starts after it.",
    },
    Row {
        number: 2,
        id: "operator-degraded",
        monitor: CVO,
        junit: "[bz-{component}] clusteroperator/{operator} should not change condition/Degraded",
        way: Way::Yaml,
        differs: "As row 1.",
    },
    Row {
        number: 3,
        id: "operator-progresses-in-upgrade",
        monitor: CVO,
        junit: "[bz-{component}] clusteroperator/{operator} must go Progressing=True during an upgrade test",
        way: Way::Yaml,
        differs: "What the cluster version waits for is read from every change of its message; upstream's monitor \
records changes of the status alone.",
    },
    Row {
        number: 4,
        id: "operator-rests-while-nodes-update",
        monitor: CVO,
        junit: "[bz-{component}] clusteroperator/{operator} should stay Progressing=False while MCO is Progressing=True",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 5,
        id: "os-update-staged-in-time",
        monitor: CVO,
        junit: "[bz-Machine Config Operator] Nodes should reach OSUpdateStaged in a timely fashion",
        way: Way::Yaml,
        differs: "Each update of a node is judged, not its last one alone.",
    },
    Row {
        number: 6,
        id: "os-update-start-is-told",
        monitor: CVO,
        junit: "OSUpdateStarted event should be recorded for nodes that reach OSUpdateStaged",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 7,
        id: "slow-operators-are-named",
        monitor: CHECKER,
        junit: "[bz-Cluster Version Operator] cluster version should not report Failing=Unknown during a normal cluster upgrade",
        way: Way::Rust {
            because: "the names in the message are taken apart and looked up",
        },
        differs: "A change of the message alone is read as well.",
    },
    Row {
        number: 8,
        id: "operator-changes-version-in-time",
        monitor: CHECKER,
        junit: "[bz-{component}] clusteroperator/{operator} must complete version change within limited time",
        way: Way::Rust {
            because: "one message of the cluster version is about several operators: several cases of one interval",
        },
        differs: "As row 7.",
    },
    Row {
        number: 9,
        id: "pod-not-pending-forever",
        monitor: "pod-lifecycle",
        junit: "[sig-node] pods should not be stuck in Pending state forever",
        way: Way::Yaml,
        differs: "A pod that was created in the last minute of the recording is not stuck: upstream's own bars leave \
out what was pending for less.",
    },
    Row {
        number: 10,
        id: "informers-match-live",
        monitor: "pod-lifecycle",
        junit: "[sig-apimachinery] informers must match live results at the same resource version",
        way: Way::NotPossible {
            because: "it compares a client's cache with the live server; a recording holds no second answer of the \
server to compare with",
        },
        differs: "",
    },
    Row {
        number: 11,
        id: "node-unexpected-not-ready",
        monitor: NODE,
        junit: "[sig-node] node-lifecycle detects unexpected not ready node",
        way: Way::Yaml,
        differs: "A machine that is being deleted excuses its node only while it is; upstream joins both bounds by OR, \
so that any deletion of the machine excuses everything. The installation is not judged.",
    },
    Row {
        number: 12,
        id: "node-unexpected-unreachable",
        monitor: NODE,
        junit: "[sig-node] node-lifecycle detects unreachable state on node",
        way: Way::Yaml,
        differs: "As row 11.",
    },
    Row {
        number: 13,
        id: "node-disk-pressure",
        monitor: NODE,
        junit: "[Jira:\"Test Framework\"] kubelet should not report DiskPressure",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 14,
        id: "node-unready-once-per-upgrade",
        monitor: LEGACY_NODE,
        junit: "[sig-node] nodes should not go unready after being upgraded and go unready only once",
        way: Way::Rust {
            because: "it counts anew from each upgrade's begin to the next one's",
        },
        differs: "Upstream compares a condition with a text that never occurs and always passes; here it is judged as \
its name says, from the begin of an upgrade to the next one or the end.",
    },
    Row {
        number: 15,
        id: "generation-at-most-3",
        monitor: "generation-analyzer",
        junit: "objects in ns/{namespace} should not have a generation greater than 3",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 16,
        id: "crd-new-version-not-stored",
        monitor: "crd-version-checker",
        junit: "[sig-api-machinery] CRDs with new API versions should not change storage version immediately",
        way: Way::Rust {
            because: "it compares each definition with its first content, not with its last one",
        },
        differs: "A new version that was the storage version for a while only is found as well, with both times; \
upstream sees the first and the last content alone.",
    },
    Row {
        number: 17,
        id: "monitoring-statefulsets-not-recreated",
        monitor: "monitoring-statefulsets-recreation",
        junit: "[sig-instrumentation] Monitoring statefulsets are not recreated after upgrade",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 18,
        id: "termination-message-policy",
        monitor: "termination-message-policy",
        junit: "[sig-arch] all containers in ns/{namespace} must have terminationMessagePolicy=FallbackToLogsOnError",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 19,
        id: "required-scc-annotation",
        monitor: "required-scc-annotation-checker",
        junit: "[sig-auth] all workloads in ns/{namespace} must set the 'openshift.io/required-scc' annotation",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 20,
        id: "no-default-service-account",
        monitor: "no-default-service-account-operator-checker",
        junit: "[sig-auth] all pods in {namespace} namespace must not use the default service account.",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 21,
        id: "containers-start",
        monitor: CONTAINERS,
        junit: "[sig-architecture] platform pods in ns/{namespace} should not fail to start",
        way: Way::Yaml,
        differs: AFTER_INSTALL,
    },
    Row {
        number: 22,
        id: "containers-exit-excessively",
        monitor: CONTAINERS,
        junit: "[sig-architecture] platform pods in ns/{namespace} should not exit an excessive amount of times",
        way: Way::Yaml,
        differs: "Each exit is counted once, as the pod's status tells it: upstream counts the first one again when the \
container runs again, misses those whose state nobody saw, and counts bars computed from them. The installation is not judged.",
    },
    Row {
        number: 23,
        id: "containers-exit-moderately",
        monitor: CONTAINERS,
        junit: "[sig-architecture] platform pods in ns/{namespace} should not exit a moderate amount of times",
        way: Way::Yaml,
        differs: "A container that fails row 22 flakes here as well. Exits are counted as in row 22.",
    },
    Row {
        number: 24,
        id: "pod-node-name-is-immutable",
        monitor: "legacy-kube-apiserver-invariants",
        junit: "[sig-api-machinery] the pod.spec.nodeName field is immutable, once set cannot be changed",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 26,
        id: "pod-not-force-deleted",
        monitor: LEGACY_NODE,
        junit: "[sig-architecture] platform pods should not be force deleted with gracePeriod 0",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 27,
        id: "pod-not-pending-again",
        monitor: LEGACY_NODE,
        junit: "[sig-node] pods should never transition back to pending",
        way: Way::Yaml,
        differs: "",
    },
    Row {
        number: 28,
        id: "pod-ip-used-once",
        monitor: "legacy-networking-invariants",
        junit: "[bz-networking] pod IPs should not be used by two pods at the same time",
        way: Way::Yaml,
        differs: "",
    },
];
