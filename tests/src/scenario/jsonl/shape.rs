//! The order in which the API server writes the keys of built-in kinds (that of the Go structs),
//! and which parts of them are owned field by field. Custom resources have no shape: their keys are
//! sorted.
//!
//! Owns tables only. A key that a table lacks is written behind the others, in the order of the
//! alphabet, so that nothing is ever lost.

use Child::{Atomic, Each, Keyed, Map, Of, Part, Plain, Values};
use serde_json::Value;

use crate::rest::kind_of;

/// A struct: its keys in order.
#[derive(Debug)]
pub(super) struct Shape {
    keys: &'static [(&'static str, Child)],
    /// Whether the keys are sorted, as those of custom resources.
    pub(super) is_sorted: bool,
}

impl Shape {
    /// The keys in order, those that have a place.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&'static str, Child)> {
        self.keys.iter().copied()
    }

    /// What lies under a key.
    pub(super) fn child(&self, key: &str) -> Child {
        let known = self.keys.iter().find(|(known, _)| *known == key);
        known.map_or(Child::Deep, |(_, child)| *child)
    }

    /// Whether a key has a place.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _)| *known == key)
    }
}

/// What lies under a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Child {
    /// A scalar, or anything with sorted keys that has one owner.
    Plain,
    /// A map with sorted keys, owned key by key.
    Map,
    /// A struct owned field by field.
    Of(&'static Shape),
    /// As [`Child::Of`], and owned itself.
    Part(&'static Shape),
    /// A struct that has one owner.
    Atomic(&'static Shape),
    /// A list of structs that has one owner.
    Each(&'static Shape),
    /// A list of structs told apart by these fields, owned item by item.
    Keyed(&'static Shape, &'static [&'static str]),
    /// A map whose values are structs that are told apart by their keys.
    Values(&'static Shape),
    /// Objects in objects, each owned field by field: what is under no known key.
    Deep,
}

/// Whether a table's name says that it is one of a custom resource.
const fn starts_with_custom(name: &str) -> bool {
    matches!(name.as_bytes(), [b'C', b'U', b'S', b'T', b'O', b'M', ..])
}

macro_rules! shapes {
    ($($name:ident = [$($key:literal $child:expr),* $(,)?];)*) => {
        $(static $name: Shape = Shape {
            keys: &[$(($key, $child)),*],
            is_sorted: starts_with_custom(stringify!($name)),
        };)*
    };
}

shapes! {
    META = [
        "name" Plain, "generateName" Plain, "namespace" Plain, "uid" Plain, "resourceVersion" Plain,
        "generation" Plain, "creationTimestamp" Plain, "deletionTimestamp" Plain,
        "deletionGracePeriodSeconds" Plain, "labels" Map, "annotations" Map,
        "ownerReferences" Keyed(&OWNER, &["uid"]), "finalizers" Plain, "managedFields" Each(&MANAGED),
    ];
    OWNER = [
        "apiVersion" Plain, "kind" Plain, "name" Plain, "uid" Plain, "controller" Plain,
        "blockOwnerDeletion" Plain,
    ];
    MANAGED = [
        "manager" Plain, "operation" Plain, "apiVersion" Plain, "time" Plain, "fieldsType" Plain,
        "fieldsV1" Plain, "subresource" Plain,
    ];
    TEMPLATE = ["metadata" Of(&META), "spec" Of(&POD_SPEC)];
    POD_SPEC = [
        "volumes" Keyed(&VOLUME, &["name"]), "initContainers" Keyed(&CONTAINER, &["name"]),
        "containers" Keyed(&CONTAINER, &["name"]), "restartPolicy" Plain,
        "terminationGracePeriodSeconds" Plain, "activeDeadlineSeconds" Plain, "dnsPolicy" Plain,
        "nodeSelector" Plain, "serviceAccountName" Plain, "serviceAccount" Plain, "nodeName" Plain,
        "hostNetwork" Plain, "securityContext" Plain, "affinity" Part(&AFFINITY), "schedulerName" Plain,
        "tolerations" Each(&TOLERATION), "priorityClassName" Plain, "priority" Plain,
        "enableServiceLinks" Plain, "preemptionPolicy" Plain,
    ];
    AFFINITY = ["nodeAffinity" Part(&NODE_AFFINITY), "podAntiAffinity" Part(&POD_AFFINITY)];
    NODE_AFFINITY = ["requiredDuringSchedulingIgnoredDuringExecution" Plain];
    POD_AFFINITY = ["requiredDuringSchedulingIgnoredDuringExecution" Plain];
    TOLERATION = ["key" Plain, "operator" Plain, "value" Plain, "effect" Plain, "tolerationSeconds" Plain];
    VOLUME = ["name" Plain, "hostPath" Part(&HOST_PATH), "projected" Part(&PROJECTED)];
    HOST_PATH = ["path" Plain, "type" Plain];
    PROJECTED = ["sources" Each(&SOURCE), "defaultMode" Plain];
    SOURCE = [
        "serviceAccountToken" Plain, "configMap" Atomic(&NAMED_ITEMS), "downwardAPI" Atomic(&DOWNWARD),
    ];
    NAMED_ITEMS = ["name" Plain, "items" Plain];
    DOWNWARD = ["items" Each(&DOWNWARD_ITEM)];
    DOWNWARD_ITEM = ["path" Plain, "fieldRef" Plain];
    CONTAINER = [
        "name" Plain, "image" Plain, "command" Plain, "args" Plain, "workingDir" Plain,
        "ports" Keyed(&CONTAINER_PORT, &["containerPort", "protocol"]), "env" Keyed(&ENV, &["name"]),
        "resources" Part(&RESOURCES), "volumeMounts" Keyed(&MOUNT, &["mountPath"]),
        "livenessProbe" Part(&PROBE), "readinessProbe" Part(&PROBE), "startupProbe" Part(&PROBE),
        "terminationMessagePath" Plain, "terminationMessagePolicy" Plain,
        "imagePullPolicy" Plain, "securityContext" Part(&SECURITY),
    ];
    SECURITY = [
        "capabilities" Plain, "privileged" Plain, "readOnlyRootFilesystem" Plain,
        "allowPrivilegeEscalation" Plain,
    ];
    CONTAINER_PORT = ["name" Plain, "hostPort" Plain, "containerPort" Plain, "protocol" Plain];
    ENV = ["name" Plain, "value" Plain, "valueFrom" Part(&VALUE_FROM)];
    VALUE_FROM = ["fieldRef" Plain];
    RESOURCES = ["limits" Map, "requests" Map];
    MOUNT = ["name" Plain, "readOnly" Plain, "mountPath" Plain];
    PROBE = [
        "httpGet" Part(&HTTP_GET), "initialDelaySeconds" Plain, "timeoutSeconds" Plain,
        "periodSeconds" Plain, "successThreshold" Plain, "failureThreshold" Plain,
    ];
    HTTP_GET = ["path" Plain, "port" Plain, "scheme" Plain];
    POD = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&POD_SPEC), "status" Of(&POD_STATUS)];
    POD_STATUS = [
        "observedGeneration" Plain, "phase" Plain, "conditions" Keyed(&POD_CONDITION, &["type"]),
        "message" Plain, "reason" Plain, "hostIP" Plain, "hostIPs" Each(&POD_IP), "podIP" Plain,
        "podIPs" Keyed(&POD_IP, &["ip"]), "startTime" Plain,
        "initContainerStatuses" Each(&CONTAINER_STATUS), "containerStatuses" Each(&CONTAINER_STATUS),
        "qosClass" Plain,
    ];
    POD_IP = ["ip" Plain];
    POD_CONDITION = [
        "type" Plain, "observedGeneration" Plain, "status" Plain, "lastProbeTime" Plain,
        "lastTransitionTime" Plain, "reason" Plain, "message" Plain,
    ];
    CONTAINER_STATUS = [
        "name" Plain, "state" Atomic(&CONTAINER_STATE), "lastState" Atomic(&CONTAINER_STATE), "ready" Plain,
        "restartCount" Plain, "image" Plain, "imageID" Plain, "containerID" Plain, "started" Plain,
    ];
    CONTAINER_STATE = ["waiting" Atomic(&WAITING), "running" Plain, "terminated" Atomic(&TERMINATED)];
    WAITING = ["reason" Plain, "message" Plain];
    TERMINATED = [
        "exitCode" Plain, "reason" Plain, "message" Plain, "startedAt" Plain, "finishedAt" Plain,
        "containerID" Plain,
    ];
    DEPLOYMENT = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&DEPLOYMENT_SPEC),
        "status" Of(&DEPLOYMENT_STATUS),
    ];
    DEPLOYMENT_SPEC = [
        "replicas" Plain, "selector" Plain, "template" Of(&TEMPLATE), "strategy" Of(&STRATEGY),
        "revisionHistoryLimit" Plain, "progressDeadlineSeconds" Plain,
    ];
    STRATEGY = ["type" Plain, "rollingUpdate" Part(&ROLLING)];
    ROLLING = ["partition" Plain, "maxUnavailable" Plain, "maxSurge" Plain];
    DEPLOYMENT_STATUS = [
        "observedGeneration" Plain, "replicas" Plain, "updatedReplicas" Plain, "readyReplicas" Plain,
        "availableReplicas" Plain, "unavailableReplicas" Plain, "terminatingReplicas" Plain,
        "conditions" Keyed(&DEPLOYMENT_CONDITION, &["type"]),
    ];
    DEPLOYMENT_CONDITION = [
        "type" Plain, "status" Plain, "lastUpdateTime" Plain, "lastTransitionTime" Plain, "reason" Plain,
        "message" Plain,
    ];
    REPLICA_SET = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&REPLICA_SET_SPEC),
        "status" Of(&REPLICA_SET_STATUS),
    ];
    REPLICA_SET_SPEC = ["replicas" Plain, "selector" Plain, "template" Of(&TEMPLATE)];
    REPLICA_SET_STATUS = [
        "replicas" Plain, "fullyLabeledReplicas" Plain, "readyReplicas" Plain, "availableReplicas" Plain,
        "terminatingReplicas" Plain, "observedGeneration" Plain,
    ];
    DAEMON_SET = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&DAEMON_SET_SPEC),
        "status" Of(&DAEMON_SET_STATUS),
    ];
    DAEMON_SET_SPEC = [
        "selector" Plain, "template" Of(&TEMPLATE), "updateStrategy" Of(&STRATEGY), "revisionHistoryLimit" Plain,
    ];
    DAEMON_SET_STATUS = [
        "currentNumberScheduled" Plain, "numberMisscheduled" Plain, "desiredNumberScheduled" Plain,
        "numberReady" Plain, "observedGeneration" Plain, "updatedNumberScheduled" Plain,
        "numberAvailable" Plain, "numberUnavailable" Plain,
    ];
    STATEFUL_SET = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&STATEFUL_SET_SPEC),
        "status" Of(&STATEFUL_SET_STATUS),
    ];
    STATEFUL_SET_SPEC = [
        "replicas" Plain, "selector" Plain, "template" Of(&TEMPLATE), "serviceName" Plain,
        "podManagementPolicy" Plain, "updateStrategy" Of(&STRATEGY), "revisionHistoryLimit" Plain,
        "persistentVolumeClaimRetentionPolicy" Part(&RETENTION),
    ];
    RETENTION = ["whenDeleted" Plain, "whenScaled" Plain];
    STATEFUL_SET_STATUS = [
        "observedGeneration" Plain, "replicas" Plain, "readyReplicas" Plain, "currentReplicas" Plain,
        "updatedReplicas" Plain, "currentRevision" Plain, "updateRevision" Plain, "collisionCount" Plain,
        "availableReplicas" Plain,
    ];
    JOB = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&JOB_SPEC), "status" Of(&JOB_STATUS)];
    JOB_SPEC = [
        "parallelism" Plain, "completions" Plain, "backoffLimit" Plain, "selector" Plain,
        "manualSelector" Plain, "template" Of(&TEMPLATE), "completionMode" Plain, "suspend" Plain,
        "podReplacementPolicy" Plain,
    ];
    JOB_STATUS = [
        "conditions" Each(&POD_CONDITION), "startTime" Plain, "completionTime" Plain, "active" Plain,
        "succeeded" Plain, "terminating" Plain, "uncountedTerminatedPods" Plain, "ready" Plain,
    ];
    BUDGET = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&BUDGET_SPEC), "status" Of(&BUDGET_STATUS)];
    BUDGET_SPEC = [
        "minAvailable" Plain, "selector" Plain, "maxUnavailable" Plain, "unhealthyPodEvictionPolicy" Plain,
    ];
    BUDGET_STATUS = [
        "observedGeneration" Plain, "disruptedPods" Plain, "disruptionsAllowed" Plain, "currentHealthy" Plain,
        "desiredHealthy" Plain, "expectedPods" Plain, "conditions" Keyed(&CONDITION, &["type"]),
    ];
    CONDITION = [
        "type" Plain, "status" Plain, "observedGeneration" Plain, "lastTransitionTime" Plain, "reason" Plain,
        "message" Plain,
    ];
    SERVICE = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&SERVICE_SPEC), "status" Of(&EMPTY)];
    SERVICE_SPEC = [
        "ports" Keyed(&SERVICE_PORT, &["port", "protocol"]), "selector" Plain, "clusterIP" Plain,
        "clusterIPs" Plain, "type" Plain, "sessionAffinity" Plain, "ipFamilies" Plain, "ipFamilyPolicy" Plain,
        "internalTrafficPolicy" Plain,
    ];
    SERVICE_PORT = ["name" Plain, "protocol" Plain, "port" Plain, "targetPort" Plain];
    EMPTY = [];
    ENDPOINTS = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "subsets" Each(&SUBSET)];
    SUBSET = ["addresses" Each(&ADDRESS), "notReadyAddresses" Each(&ADDRESS), "ports" Each(&ENDPOINT_PORT)];
    ADDRESS = ["ip" Plain, "nodeName" Plain, "targetRef" Atomic(&REFERENCE)];
    ENDPOINT_PORT = ["name" Plain, "port" Plain, "protocol" Plain];
    REFERENCE = [
        "kind" Plain, "namespace" Plain, "name" Plain, "uid" Plain, "apiVersion" Plain,
        "resourceVersion" Plain, "fieldPath" Plain,
    ];
    SLICE = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "addressType" Plain, "endpoints" Each(&ENDPOINT),
        "ports" Each(&SLICE_PORT),
    ];
    ENDPOINT = [
        "addresses" Plain, "conditions" Plain, "targetRef" Atomic(&REFERENCE), "nodeName" Plain, "zone" Plain,
    ];
    SLICE_PORT = ["name" Plain, "protocol" Plain, "port" Plain];
    EVENT = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "involvedObject" Atomic(&REFERENCE), "reason" Plain,
        "message" Plain, "source" Of(&EVENT_SOURCE), "firstTimestamp" Plain, "lastTimestamp" Plain, "count" Plain,
        "type" Plain, "eventTime" Plain, "reportingComponent" Plain, "reportingInstance" Plain,
    ];
    EVENT_SOURCE = ["component" Plain, "host" Plain];
    LEASE = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&LEASE_SPEC)];
    LEASE_SPEC = [
        "holderIdentity" Plain, "leaseDurationSeconds" Plain, "acquireTime" Plain, "renewTime" Plain,
        "leaseTransitions" Plain,
    ];
    NODE = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&NODE_SPEC), "status" Of(&NODE_STATUS)];
    NODE_SPEC = ["providerID" Plain, "unschedulable" Plain, "taints" Each(&TAINT)];
    TAINT = ["key" Plain, "value" Plain, "effect" Plain, "timeAdded" Plain];
    NODE_STATUS = [
        "capacity" Map, "allocatable" Map, "conditions" Keyed(&NODE_CONDITION, &["type"]),
        "addresses" Keyed(&NODE_ADDRESS, &["type"]), "daemonEndpoints" Of(&DAEMON_ENDPOINTS),
        "nodeInfo" Of(&NODE_INFO), "images" Each(&IMAGE),
    ];
    NODE_CONDITION = [
        "type" Plain, "status" Plain, "lastHeartbeatTime" Plain, "lastTransitionTime" Plain, "reason" Plain,
        "message" Plain,
    ];
    NODE_ADDRESS = ["type" Plain, "address" Plain];
    DAEMON_ENDPOINTS = ["kubeletEndpoint" Of(&DAEMON_ENDPOINT)];
    DAEMON_ENDPOINT = ["Port" Plain];
    NODE_INFO = [
        "machineID" Plain, "systemUUID" Plain, "bootID" Plain, "kernelVersion" Plain, "osImage" Plain,
        "containerRuntimeVersion" Plain, "kubeletVersion" Plain, "kubeProxyVersion" Plain,
        "operatingSystem" Plain, "architecture" Plain,
    ];
    IMAGE = ["names" Plain, "sizeBytes" Plain];
    NAMESPACE = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&NAMESPACE_SPEC), "status" Of(&PHASE)];
    NAMESPACE_SPEC = ["finalizers" Plain];
    PHASE = ["phase" Plain];
    CONFIG_MAP = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "data" Map];
    SECRET = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "data" Map, "type" Plain];
    SERVICE_ACCOUNT = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "secrets" Plain];
    PRIORITY_CLASS = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "value" Plain, "globalDefault" Plain,
        "description" Plain, "preemptionPolicy" Plain,
    ];
    REVISION = ["kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "data" Plain, "revision" Plain];
    DEFINITION = [
        "kind" Plain, "apiVersion" Plain, "metadata" Of(&META), "spec" Of(&DEFINITION_SPEC),
        "status" Of(&DEFINITION_STATUS),
    ];
    DEFINITION_SPEC = [
        "group" Plain, "names" Of(&NAMES), "scope" Plain, "versions" Each(&DEFINED_VERSION), "conversion" Plain,
    ];
    NAMES = [
        "plural" Plain, "singular" Plain, "shortNames" Plain, "kind" Plain, "listKind" Plain, "categories" Plain,
    ];
    DEFINED_VERSION = [
        "name" Plain, "served" Plain, "storage" Plain, "schema" Atomic(&VALIDATION), "subresources" Plain,
        "additionalPrinterColumns" Each(&COLUMN),
    ];
    VALIDATION = ["openAPIV3Schema" Atomic(&SCHEMA)];
    SCHEMA = [
        "description" Plain, "type" Plain, "format" Plain, "required" Plain, "items" Atomic(&SCHEMA),
        "properties" Values(&SCHEMA), "additionalProperties" Plain,
    ];
    COLUMN = [
        "name" Plain, "type" Plain, "format" Plain, "description" Plain, "priority" Plain, "jsonPath" Plain,
    ];
    DEFINITION_STATUS = [
        "conditions" Keyed(&CRD_CONDITION, &["type"]), "acceptedNames" Of(&NAMES), "storedVersions" Plain,
    ];
    CRD_CONDITION = ["type" Plain, "status" Plain, "lastTransitionTime" Plain, "reason" Plain, "message" Plain];
    CUSTOM = ["apiVersion" Plain, "kind" Plain, "metadata" Of(&CUSTOM_META), "spec" Part(&CUSTOM_SPEC), "status" Part(&CUSTOM_STATUS)];
    CUSTOM_META = [
        "annotations" Map, "creationTimestamp" Plain, "deletionGracePeriodSeconds" Plain,
        "deletionTimestamp" Plain, "finalizers" Plain, "generateName" Plain, "generation" Plain, "labels" Map,
        "managedFields" Plain, "name" Plain, "namespace" Plain, "ownerReferences" Keyed(&CUSTOM_OWNER, &["uid"]),
        "resourceVersion" Plain, "uid" Plain,
    ];
    CUSTOM_OWNER = [];
    CUSTOM_SPEC = [];
    CUSTOM_STATUS = ["conditions" Keyed(&CUSTOM_CONDITION, &["type"])];
    CUSTOM_CONDITION = [
        "lastTransitionTime" Plain, "message" Plain, "reason" Plain, "status" Plain, "type" Plain,
    ];
}

/// The shape of a kind; that of custom resources for all that is not built in.
pub(super) fn shape_of(kind: &str) -> &'static Shape {
    match kind {
        "Pod" => &POD,
        "Deployment" => &DEPLOYMENT,
        "ReplicaSet" => &REPLICA_SET,
        "DaemonSet" => &DAEMON_SET,
        "StatefulSet" => &STATEFUL_SET,
        "Job" => &JOB,
        "PodDisruptionBudget" => &BUDGET,
        "Service" => &SERVICE,
        "Endpoints" => &ENDPOINTS,
        "EndpointSlice" => &SLICE,
        "Event" => &EVENT,
        "Lease" => &LEASE,
        "Node" => &NODE,
        "Namespace" => &NAMESPACE,
        "ConfigMap" => &CONFIG_MAP,
        "Secret" => &SECRET,
        "ServiceAccount" => &SERVICE_ACCOUNT,
        "PriorityClass" => &PRIORITY_CLASS,
        "ControllerRevision" => &REVISION,
        "CustomResourceDefinition" => &DEFINITION,
        _ => &CUSTOM,
    }
}

/// Where a kind is served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    api_version: &'static str,
    pub(super) plural: &'static str,
    /// Whether the server counts the generations of its objects.
    pub(super) has_generation: bool,
}

impl Served {
    /// Looks a kind up; `None` for one that nobody writes.
    pub(super) fn of(api_version: &str, kind: &str) -> Option<Self> {
        let (api_version, plural) = match (api_version, kind) {
            ("apps/v1", "ReplicaSet") => ("apps/v1", "replicasets"),
            ("v1", "Endpoints") => ("v1", "endpoints"),
            ("discovery.k8s.io/v1", "EndpointSlice") => ("discovery.k8s.io/v1", "endpointslices"),
            ("apps/v1", "ControllerRevision") => ("apps/v1", "controllerrevisions"),
            (api_version, kind) => {
                let known = kind_of(api_version, kind)?;
                (known.api_version, known.plural)
            }
        };
        let has_generation = !matches!(
            kind,
            "Node"
                | "Namespace"
                | "Service"
                | "ConfigMap"
                | "Secret"
                | "ServiceAccount"
                | "Event"
                | "Lease"
                | "Endpoints"
                | "PriorityClass"
                | "ControllerRevision"
        );
        Some(Self {
            api_version,
            plural,
            has_generation,
        })
    }

    pub(super) fn group_version(&self) -> (&'static str, &'static str) {
        self.api_version
            .split_once('/')
            .unwrap_or(("", self.api_version))
    }
}

/// Writes a document as the API server does.
pub(super) fn write(value: &Value, shape: &'static Shape, out: &mut String) {
    let Value::Object(fields) = value else {
        return plain(value, out);
    };
    out.push('{');
    let mut is_first = true;
    let mut key = |name: &str, out: &mut String| {
        if !is_first {
            out.push(',');
        }
        is_first = false;
        text(name, out);
        out.push(':');
    };
    if shape.is_sorted {
        for (name, value) in fields {
            key(name, out);
            write_child(value, shape.child(name), out);
        }
        out.push('}');
        return;
    }
    for (name, child) in shape.keys() {
        if let Some(value) = fields.get(name) {
            key(name, out);
            write_child(value, child, out);
        }
    }
    for (name, value) in fields.iter().filter(|(name, _)| !shape.knows(name)) {
        key(name, out);
        plain(value, out);
    }
    out.push('}');
}

fn write_child(value: &Value, child: Child, out: &mut String) {
    match (child, value) {
        (Of(shape) | Part(shape) | Atomic(shape), value) => {
            write(value, shape, out);
        }
        (Each(shape) | Keyed(shape, _), Value::Array(items)) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                write(item, shape, out);
            }
            out.push(']');
        }
        (Values(shape), Value::Object(fields)) => {
            out.push('{');
            for (nth, (name, value)) in fields.iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                text(name, out);
                out.push(':');
                write(value, shape, out);
            }
            out.push('}');
        }
        _ => plain(value, out),
    }
}

/// Writes a document with sorted keys.
fn plain(value: &Value, out: &mut String) {
    match value {
        Value::String(content) => text(content, out),
        // Writing a document out cannot fail.
        other => out.push_str(&other.to_string()),
    }
}

fn text(content: &str, out: &mut String) {
    let is_simple = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if content.bytes().all(is_simple) {
        out.push('"');
        out.push_str(content);
        out.push('"');
    } else {
        out.push_str(&Value::from(content).to_string());
    }
}

#[cfg(test)]
mod order_tests {
    use super::shape_of;
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_of_built_in_kinds_are_in_the_order_of_the_server() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "zz": 1,
            "metadata": {"uid": "u", "name": "a\"b", "labels": {"b": "", "a": ""}},
            "status": {"conditions": [{"status": "True", "type": "Ready"}]},
        });
        let mut out = String::new();
        write(&pod, shape_of("Pod"), &mut out);
        assert_eq!(
            out,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\"b","uid":"u","labels":{"a":"","b":""}},"status":{"conditions":[{"type":"Ready","status":"True"}]},"zz":1}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), pod);
    }

    #[test]
    fn keys_of_custom_resources_are_sorted() {
        let custom = json!({"kind": "X", "apiVersion": "a/v1", "metadata": {"uid": "u", "name": "n"}, "status": {"z": 1, "conditions": [], "a": 2}});
        let mut out = String::new();
        write(&custom, shape_of("X"), &mut out);
        assert_eq!(
            out,
            r#"{"apiVersion":"a/v1","kind":"X","metadata":{"name":"n","uid":"u"},"status":{"a":2,"conditions":[],"z":1}}"#
        );
    }
}
