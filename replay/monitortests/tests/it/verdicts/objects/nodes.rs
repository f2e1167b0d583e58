//! Rows 11 to 13.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::json;

const NOT_READY: &str = "[sig-node] node-lifecycle detects unexpected not ready node";
const UNREACHABLE: &str = "[sig-node] node-lifecycle detects unreachable state on node";
const DISK: &str = "[Jira:\"Test Framework\"] kubelet should not report DiskPressure";

/// The machine of worker-0 in a phase.
fn machine(reel: Reel, phase: &str) -> Reel {
    reel.put(json!({
        "kind": "Machine",
        "metadata": {"namespace": "openshift-machine-api", "name": "m-0"},
        "status": {"phase": phase, "nodeRef": {"kind": "Node", "name": "worker-0"}},
    }))
}

#[test]
fn a_node_that_goes_away_by_itself_fails() {
    let reel = Reel::cluster()
        .at("10:05:00")
        .node_ready("worker-0", false)
        .at("10:06:00")
        .node_ready("worker-0", true);
    let verdicts = judged(reel, "node-unexpected-not-ready");
    verdicts.fails(NOT_READY, "10:05:00", "node worker-0");
}

#[test]
fn a_node_that_is_drained_or_reconfigured_may_go_away() {
    let drained = Reel::cluster()
        .at("10:05:00")
        .change("Node", "worker-0", json!({"spec": {"unschedulable": true}}))
        .at("10:06:00")
        .node_ready("worker-0", false)
        .at("10:07:00")
        .node_ready("worker-0", true);
    judged(drained, "node-unexpected-not-ready").passes(NOT_READY);
    let reconfigured = Reel::cluster()
        .at("10:05:00")
        .node_config("worker-0", "desiredConfig", "rendered-worker-2")
        .at("10:06:00")
        .node_ready("worker-0", false);
    judged(reconfigured, "node-unexpected-not-ready").passes(NOT_READY);
}

#[test]
fn a_machine_that_is_being_deleted_excuses_its_node_while_it_is() {
    let deleted = |at: &str| {
        let reel = machine(Reel::cluster(), "Running").at("10:05:00");
        let reel = machine(reel, "Deleting").at(at);
        reel.node_ready("worker-0", false).until("10:30:00")
    };
    judged(deleted("10:06:00"), "node-unexpected-not-ready").passes(NOT_READY);
    // Upstream lets any deletion excuse everything.
    let before = machine(Reel::cluster(), "Running")
        .at("10:04:00")
        .node_ready("worker-0", false)
        .at("10:05:00");
    let before = machine(before, "Deleting");
    judged(before, "node-unexpected-not-ready").fails(NOT_READY, "10:04:00", "worker-0");
}

#[test]
fn a_schedulable_node_that_cannot_be_reached_fails() {
    let taint = json!({"spec": {"taints": [{
        "key": "node.kubernetes.io/unreachable",
        "effect": "NoExecute",
    }]}});
    let reel = Reel::cluster()
        .at("10:05:00")
        .change("Node", "worker-0", taint.clone());
    judged(reel, "node-unexpected-unreachable").fails(UNREACHABLE, "10:05:00", "worker-0");
    let drained = Reel::cluster()
        .at("10:05:00")
        .change("Node", "worker-0", json!({"spec": {"unschedulable": true}}))
        .at("10:06:00")
        .change("Node", "worker-0", taint);
    judged(drained, "node-unexpected-unreachable").passes(UNREACHABLE);
}

#[test]
fn a_full_disk_fails() {
    let reel = Reel::cluster().at("10:05:00").says(
        "Node",
        "worker-1",
        "DiskPressure",
        "True",
        "KubeletHasDiskPressure",
        "",
    );
    judged(reel, "node-disk-pressure").fails(DISK, "10:05:00", "worker-1");
    judged(Reel::cluster(), "node-disk-pressure").passes(DISK);
}

#[test]
fn what_was_not_seen_is_not_passed() {
    let reel = Reel::cluster()
        .at("10:05:00")
        .until("11:00:00")
        .gap("Node", "10:10:00", "10:20:00");
    judged(reel, "node-unexpected-not-ready").is(NOT_READY, "unknown");
    let without = Reel::cluster().at("10:05:00").without("Node");
    judged(without, "node-unexpected-not-ready").is(NOT_READY, "skipped");
}

#[test]
fn while_a_cluster_is_installed_nodes_may_go_away() {
    let installed = || {
        Reel::cluster()
            .put(json!({
                "kind": "ClusterVersion",
                "metadata": {"name": "version"},
                "status": {"history": [{
                    "state": "Partial",
                    "version": "5.0.9",
                    "startedTime": "2026-11-21T09:59:00Z",
                    "completionTime": null,
                }]},
            }))
            .at("10:05:00")
            .node_ready("worker-0", false)
            .at("10:06:00")
            .node_ready("worker-0", true)
            .at("10:10:00")
            .upgrade_ends()
    };
    let id = "node-unexpected-not-ready";
    judged(installed(), id).passes(NOT_READY);
    let later = installed().at("10:20:00").node_ready("worker-0", false);
    judged(later, id).fails(NOT_READY, "10:20:00", "worker-0");
}
