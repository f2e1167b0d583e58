//! Workloads, their Pods and Nodes, as the tests put them.

use super::life::{DEPLOYMENTS, JOBS, RecordedResource, condition, owned_by};
use serde_json::{Value, json};

/// A Pod of a workload on a Node, with its phase.
pub fn pod(workload: RecordedResource, name: &str, node: &str, phase: &str) -> Value {
    let owners = owned_by(workload, &format!("shop/{name}"));
    json!({"metadata": {"ownerReferences": owners}, "spec": {"nodeName": node},
        "status": {"phase": phase, "reason": "Evicted", "message": "low on memory"}})
}

/// A Deployment with its replicas: wanted, updated, available.
pub fn deployment(wanted: i64, updated: i64, available: i64) -> Value {
    let is_available = if available * 4 >= wanted * 3 {
        "True"
    } else {
        "False"
    };
    json!({"metadata": {"generation": 1}, "spec": {"replicas": wanted,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}}},
        "status": {"observedGeneration": 1, "replicas": wanted, "updatedReplicas": updated,
            "availableReplicas": available,
            "conditions": [condition("Available", is_available, "Replicas", "replicas")]}})
}

/// A Pod whose container waits, for a reason.
pub fn waiting(reason: &str) -> Value {
    json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Pending",
        "containerStatuses": [{"name": "app", "ready": false, "state": {"waiting": {"reason": reason, "message": "m"}}}]}})
}

pub fn running() -> Value {
    json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "ready": true, "state": {"running": {}}}]}})
}

/// A Node that is ready, and takes Pods or not.
pub fn node(is_cordoned: bool) -> Value {
    json!({"metadata": {}, "spec": {"unschedulable": is_cordoned},
        "status": {"conditions": [condition("Ready", "True", "r", "m")]}})
}

/// A Pod of the Deployment `shop/api` on a Node.
pub fn api_pod(node: &str, ready: &str) -> Value {
    let mut pod = pod(DEPLOYMENTS, "api", node, "Running");
    pod["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
    pod
}

/// A Node that reports `Ready`, and takes Pods or not.
pub fn reported(ready: &str, is_cordoned: bool) -> Value {
    json!({"metadata": {}, "spec": {"unschedulable": is_cordoned},
        "status": {"conditions": [condition("Ready", ready, "NodeStatusUnknown", "stopped posting")]}})
}

/// A Pod of an agent on a Node.
pub fn agent(node: &str, ready: &str) -> Value {
    let mut pod = pod(JOBS, "agent", node, "Running");
    pod["spec"]["containers"] = json!([{"name": "app"}]);
    pod["status"]["conditions"] = json!([condition("Ready", ready, "ContainersNotReady", "m")]);
    pod["status"]["containerStatuses"] =
        json!([{"name": "app", "ready": ready == "True", "state": {"running": {}}}]);
    pod
}
