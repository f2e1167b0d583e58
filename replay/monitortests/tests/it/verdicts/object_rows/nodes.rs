//! Nodes that go away when nobody meant them to.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::json;

fn cordoned(is_cordoned: bool) -> Reel {
    Reel::cluster()
        .change(
            "Node",
            "worker-0",
            json!({"spec": {"unschedulable": is_cordoned}}),
        )
        .at("10:05:00.5")
}

fn not_ready(is_cordoned: bool) -> Reel {
    cordoned(is_cordoned)
        .node_ready("worker-0", false)
        .at("10:06:00")
        .node_ready("worker-0", true)
}

fn unreachable(is_cordoned: bool) -> Reel {
    let taint = json!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"});
    cordoned(is_cordoned).change("Node", "worker-0", json!({"spec": {"taints": [taint]}}))
}

fn disk_pressure(status: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00.5")
        .says("Node", "worker-0", "DiskPressure", status, "Kubelet", "")
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "node-unexpected-not-ready",
            case: "[sig-node] node-lifecycle detects unexpected not ready node",
            bad: || not_ready(false),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "node worker-0 became not ready without a drain or a configuration change",
            good: || not_ready(true),
        },
        Fixture {
            id: "node-unexpected-unreachable",
            case: "[sig-node] node-lifecycle detects unreachable state on node",
            bad: || unreachable(false),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "node worker-0 was marked as unreachable while it was schedulable",
            good: || unreachable(true),
        },
        Fixture {
            id: "node-disk-pressure",
            case: "[Jira:\"Test Framework\"] kubelet should not report DiskPressure",
            bad: || disk_pressure("True"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "node worker-0 began to report DiskPressure",
            good: || disk_pressure("False"),
        },
    ]
}

#[test]
fn nodes_are_judged() {
    super::check(&fixtures());
}
