//! Lays out what becomes of nodes: they join, get a configuration, and fail.
//!
//! Nothing waits here: what takes longer than it may shows, and shifts nothing.

use serde_json::{Value, json};

use super::super::Moment;
use super::super::script::Said;
use super::super::step::Act;
use super::state::State;
use crate::kubelet::NodeSpec;
use crate::rest::Target;

const CONTROLLER: &str = "machine-config-controller";
const DAEMON: &str = "machine-config-daemon";
const DOWN_SECS: f64 = 20.0;
const NOT_READY_SECS: f64 = 8.0;
/// From the return of a node to the end of its update.
const DONE_SECS: f64 = 6.0;

/// All nodes join.
pub(super) fn join(state: &mut State<'_>) {
    for (index, node) in (0_u8..).zip(&state.of.nodes) {
        let config = format!("rendered-{}-1", node.role.name());
        let annotations = [("currentConfig", &config), ("desiredConfig", &config)];
        let mut annotations: Vec<(String, String)> = annotations
            .map(|(name, value)| (key(name), value.clone()))
            .into();
        annotations.push((key("state"), "Done".to_owned()));
        let spec = NodeSpec {
            name: node.name.clone(),
            role: node.role,
            index,
            zone: node.zone.clone(),
            annotations,
        };
        let act = Act::Join {
            node: spec,
            not_ready_secs: 4.0,
        };
        let actor = format!("kubelet {}", node.name);
        state
            .script
            .act(Moment::from_secs(node.joins_secs), &actor, act);
    }
}

/// A node goes down and comes back, and nobody asked it to.
pub(super) fn reboot(
    state: &mut State<'_>,
    at: Moment,
    node: &str,
    down_secs: f64,
    not_ready_secs: f64,
) {
    let act = Act::Reboot {
        node: node.to_owned(),
        down_secs,
        not_ready_secs,
    };
    state.script.act(at, &format!("kubelet {node}"), act);
}

/// A node gets the update's configuration.
pub(super) fn roll(state: &mut State<'_>, at: Moment, node: &str, drains_secs: f64) {
    let role = if node.starts_with("master") {
        "master"
    } else {
        "worker"
    };
    let config = format!("rendered-{role}-2");
    annotate(state, at, CONTROLLER, node, &[("desiredConfig", &config)]);
    let drain = format!("drain-{config}");
    let working = [("desiredDrain", drain.as_str()), ("state", "Working")];
    annotate(state, at + 1.0, DAEMON, node, &working);
    let cordon = json!({"spec": {"unschedulable": true}});
    state
        .script
        .merge(at + 1.8, CONTROLLER, &target(node), cordon);
    say(
        state,
        at + 1.82,
        node,
        "Cordon",
        "Cordoned node to apply update",
    );
    say(
        state,
        at + 1.84,
        node,
        "Drain",
        "Draining node to update config.",
    );
    let drain = Act::Drain {
        node: node.to_owned(),
    };
    state.script.act(at + 1.9, &format!("drain {node}"), drain);
    let drained = at + 1.9 + drains_secs;
    say(
        state,
        drained,
        node,
        "OSUpdateStarted",
        "Changing kernel arguments and operating system",
    );
    say(
        state,
        drained + 10.0,
        node,
        "OSUpdateStaged",
        "Changes to OS staged",
    );
    let told = format!("Node will reboot into config {config}");
    annotate(
        state,
        drained + 10.4,
        DAEMON,
        node,
        &[("state", "Rebooting")],
    );
    say(state, drained + 10.5, node, "Reboot", &told);
    let down = drained + 11.0;
    reboot(state, down, node, DOWN_SECS, NOT_READY_SECS);
    let ends = down + DOWN_SECS + NOT_READY_SECS + DONE_SECS;
    let done = [("currentConfig", config.as_str()), ("state", "Done")];
    annotate(state, ends, DAEMON, node, &done);
    let told = format!("Setting node {node}, currentConfig {config} to Done");
    say(state, ends + 0.02, node, "NodeDone", &told);
    let uncordon = json!({"spec": {"unschedulable": null}});
    state
        .script
        .merge(ends + 1.0, CONTROLLER, &target(node), uncordon);
    let told = format!("Update completed for node {node}");
    say(state, ends + 1.04, node, "Uncordon", &told);
}

fn target(node: &str) -> Target {
    Target::cluster_wide("v1", "Node", node)
}

fn key(name: &str) -> String {
    format!("machineconfiguration.openshift.io/{name}")
}

fn annotate(state: &mut State<'_>, at: Moment, by: &str, node: &str, entries: &[(&str, &str)]) {
    let annotations: serde_json::Map<String, Value> = entries
        .iter()
        .map(|(name, value)| (key(name), json!(value)))
        .collect();
    let patch = json!({"metadata": {"annotations": annotations}});
    state.script.merge(at, by, &target(node), patch);
}

fn say(state: &mut State<'_>, at: Moment, node: &str, reason: &str, message: &str) {
    // These components give the node's name as its uid.
    let about = json!({"apiVersion": "v1", "kind": "Node", "name": node, "uid": node});
    state.script.say(
        at,
        &Said {
            by: DAEMON,
            component: "machineconfigdaemon",
            namespace: "default",
            about,
            is_warning: false,
            reason,
            message: message.to_owned(),
        },
    );
}
