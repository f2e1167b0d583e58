//! Lays out what becomes of the release: the cluster's facts, the acceptance of the update, the
//! operators' way to it, its completion.

use serde_json::{Value, json};

use super::super::plan::{Act, Said};
use super::super::story::update;
use super::super::{Moment, ScenarioError};
use super::lay::{CVO, CVO_NAMESPACE, State, version_target};
use crate::kubelet::{Fate, NodeSpec, PodMatcher};
use crate::rest::Target;

const CONFIG: &str = "config.openshift.io/v1";
const INSTALLER: &str = "cluster-bootstrap";

/// The cluster's own facts, and the first release installed.
pub(super) fn install(state: &mut State<'_>, at: Moment) {
    let script = &mut state.script;
    script.create(
        at,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "Infrastructure",
            "metadata": {"name": "cluster"},
            "spec": {"platformSpec": {"type": "AWS"}},
        }),
    );
    let infrastructure = Target::cluster_wide(CONFIG, "Infrastructure", "cluster");
    let facts = json!({
        "controlPlaneTopology": "HighlyAvailable",
        "infrastructureTopology": "HighlyAvailable",
        "infrastructureName": "reel-monitored",
        "platform": "AWS",
        "platformStatus": {"type": "AWS", "aws": {"region": "region-1"}},
    });
    script.update_status(at + 0.02, INSTALLER, &infrastructure, facts);
    script.create(
        at + 0.03,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "Network",
            "metadata": {"name": "cluster"},
            "spec": {
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "networkType": "OVNKubernetes",
            },
        }),
    );
    let network = Target::cluster_wide(CONFIG, "Network", "cluster");
    let facts = json!({
        "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
        "networkType": "OVNKubernetes",
    });
    script.update_status(at + 0.04, INSTALLER, &network, facts);
    script.create(
        at + 0.05,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": state.dice.uuid(&["cluster"])},
        }),
    );
    state.version.complete(at + 0.06);
    state.version.allow_minor_updates();
    state.write_version(at + 0.06);
}

/// The update is accepted: two writes.
pub(super) fn accept(state: &mut State<'_>, at: Moment) {
    let update = state.of.update.clone();
    let hash = state.dice.hex(22, &["payload", &update.version]);
    state.version.accept(at, &update);
    state.write_version(at);
    state.version.begin_update(at + 0.01, &update, 2, hash);
    state.version.block_minor_updates(at + 0.01);
    state.write_version(at + 0.01);
}

/// The update is complete: two writes.
pub(super) fn complete(state: &mut State<'_>, at: Moment) {
    state.version.complete(at);
    state.write_version(at);
    state.version.allow_minor_updates();
    state.write_version(at + 0.01);
}

/// An operator begins to go to the update's version, or has come to it.
pub(super) fn roll_operator(
    state: &mut State<'_>,
    at: Moment,
    name: &str,
    begins: bool,
) -> Result<(), ScenarioError> {
    let version = state.of.update.version.clone();
    let message = format!("Working towards {version}: operands are being updated");
    state.change_operator(at, name, |status| {
        if begins {
            status.progress(at, "RollingOut", &message);
        } else {
            status.arrive(at, &version);
        }
    })
}

/// Somebody asks for the update.
pub(super) fn ask(state: &mut State<'_>, at: Moment) {
    let update = &state.of.update;
    let patch =
        json!({"spec": {"desiredUpdate": {"image": update.image, "version": update.version}}});
    state.script.merge(at, "oc", &version_target(), patch);
}

/// One attempt: it lasts so long, and fails with these words of the runtime if there are any.
pub(super) fn lay(
    state: &mut State<'_>,
    at: Moment,
    attempt: u32,
    for_secs: f64,
    fails: Option<&str>,
) {
    let update = state.of.update.clone();
    let name = update::name(state.dice, &update, attempt);
    if attempt == 1 {
        ask(state, at);
    } else {
        let target = update::target(&update::name(state.dice, &update, attempt - 1));
        let grace_secs = None;
        state
            .script
            .act(at, CVO, Act::Delete { target, grace_secs });
    }
    let payload = format!("version=\"{}\" image=\"{}\"", update.version, update.image);
    say(
        state,
        at + 0.02,
        false,
        "RetrievePayload",
        format!("Retrieving and verifying payload {payload}"),
    );
    let pods = PodMatcher {
        namespace: CVO_NAMESPACE.to_owned(),
        name_prefix: Some(name.clone()),
        ..PodMatcher::default()
    };
    if let Some(message) = fails {
        let fate = Fate::PullFails {
            message: message.to_owned(),
            failures: None,
        };
        state.script.act(at, "harness", Act::Script { pods, fate });
    }
    let node = state.of.nodes.first().map(|node| node.name.clone());
    let node = node.unwrap_or_default();
    let pod = update::object(state.dice, &update, &name, &node);
    state.script.create(at + 0.05, CVO, pod);
    let ends = at + for_secs;
    match fails {
        Some(message) => {
            let told = update::failure(&update, &name, "ErrImagePull", message);
            say(state, ends, true, "RetrievePayloadFailed", told.clone());
            state.version.refuse(ends, &told);
            state.write_version(ends);
        }
        None => say(
            state,
            ends,
            false,
            "PayloadLoaded",
            format!("Payload loaded {payload}"),
        ),
    }
}

fn say(state: &mut State<'_>, at: Moment, is_warning: bool, reason: &str, message: String) {
    let about: Value = json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "namespace": CVO_NAMESPACE,
        "name": "version",
    });
    state.script.say(
        at,
        &Said {
            by: CVO,
            component: CVO_NAMESPACE,
            namespace: CVO_NAMESPACE,
            about,
            is_warning,
            reason,
            message,
        },
    );
}

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
    say_of_node(
        state,
        at + 1.82,
        node,
        "Cordon",
        "Cordoned node to apply update",
    );
    say_of_node(
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
    say_of_node(
        state,
        drained,
        node,
        "OSUpdateStarted",
        "Changing kernel arguments and operating system",
    );
    say_of_node(
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
    say_of_node(state, drained + 10.5, node, "Reboot", &told);
    let down = drained + 11.0;
    reboot(state, down, node, DOWN_SECS, NOT_READY_SECS);
    let ends = down + DOWN_SECS + NOT_READY_SECS + DONE_SECS;
    let done = [("currentConfig", config.as_str()), ("state", "Done")];
    annotate(state, ends, DAEMON, node, &done);
    let told = format!("Setting node {node}, currentConfig {config} to Done");
    say_of_node(state, ends + 0.02, node, "NodeDone", &told);
    let uncordon = json!({"spec": {"unschedulable": null}});
    state
        .script
        .merge(ends + 1.0, CONTROLLER, &target(node), uncordon);
    let told = format!("Update completed for node {node}");
    say_of_node(state, ends + 1.04, node, "Uncordon", &told);
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

fn say_of_node(state: &mut State<'_>, at: Moment, node: &str, reason: &str, message: &str) {
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
