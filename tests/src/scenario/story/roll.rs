//! Pools roll their nodes: cordon, drain, reboot, ready, uncordon, one node of a pool at a time.

use serde_json::{Value, json};

use super::super::Moment;
use super::super::file::{NodeEntry, Release, Scenario};
use super::super::script::Said;
use super::super::step::{Act, Gate};
use super::machines::{key, machine_config, node_spec, pool_target, rendered};
use super::teller::Teller;
use crate::kubelet::NodeRole;
use crate::rest::Target;

const CONTROLLER: &str = "machine-config-controller";
const DAEMON: &str = "machine-config-daemon";

/// From one node of a pool to the next.
const NODE_SECS: f64 = 36.0;
/// The workers' pool begins so much later than the masters'.
const WORKERS_LATER_SECS: f64 = 5.0;
/// From a node's new configuration to the end of its drain.
const DRAINED_AFTER_SECS: f64 = 16.0;
const DOWN_SECS: f64 = 8.0;
const NOT_READY_SECS: f64 = 4.0;

/// How long the masters take, from the rendered configuration to the last uncordon.
pub(super) fn masters_secs(scenario: &Scenario) -> f64 {
    let masters = scenario
        .cluster
        .nodes
        .iter()
        .filter(|node| node.role == NodeRole::Master)
        .count();
    3.0 + NODE_SECS * f64::from(u32::try_from(masters).unwrap_or_default())
}

/// Tells the roll of both pools.
pub(super) fn tell(teller: &mut Teller<'_>, at: Moment) {
    let scenario = teller.scenario;
    teller.landmark("node roll begins", at);
    for (role, begins) in [
        (NodeRole::Master, at),
        (NodeRole::Worker, at + WORKERS_LATER_SECS),
    ] {
        let config = machine_config(teller, &scenario.update, role);
        let name = rendered(teller, &scenario.update, role);
        teller.script.create(begins, CONTROLLER, config);
        let patch = json!({"spec": {"configuration": {"name": name}}});
        teller
            .script
            .merge(begins + 0.3, CONTROLLER, &pool_target(role), patch);
        let nodes: Vec<(u8, &NodeEntry)> = (0..)
            .zip(&scenario.cluster.nodes)
            .filter(|(_, node)| node.role == role)
            .collect();
        let mut pool = Pool::new(role, nodes.len());
        let mut next = begins + 1.0;
        for (index, node) in nodes {
            pool.unavailable = 1;
            write_pool(teller, next, &pool);
            tell_node(teller, next + 0.2, index, node, &name);
            next = next + NODE_SECS;
            pool.unavailable = 0;
            pool.updated += 1;
        }
        write_pool(teller, next, &pool);
        teller.landmark(
            if role == NodeRole::Master {
                "masters rolled"
            } else {
                "workers rolled"
            },
            next,
        );
    }
}

/// One node, from its new configuration to the end of its update.
fn tell_node(teller: &mut Teller<'_>, at: Moment, index: u8, node: &NodeEntry, config: &str) {
    tell_cordon_and_drain(teller, at, node, config);
    let drained = at + DRAINED_AFTER_SECS;
    tell_reboot(teller, drained, node, config);
    let boot_id = node_spec(index, node, Vec::new()).boot_id(2);
    let gate = Gate::NodeReady {
        node: node.name.clone(),
        boot_id,
    };
    let ready = drained + 0.6 + DOWN_SECS + NOT_READY_SECS + 3.0;
    teller.script.act_after(ready, DAEMON, gate, Act::Await);
    tell_uncordon(teller, ready + 0.5, node, config);
}

fn tell_cordon_and_drain(teller: &mut Teller<'_>, at: Moment, node: &NodeEntry, config: &str) {
    let target = node_target(node);
    annotate(
        teller,
        at,
        CONTROLLER,
        &target,
        &[("desiredConfig", config.to_owned())],
    );
    let working = [
        ("desiredDrain", format!("drain-{config}")),
        ("state", "Working".to_owned()),
    ];
    annotate(teller, at + 1.0, DAEMON, &target, &working);
    let cordon = json!({"spec": {"unschedulable": true}});
    teller.script.merge(at + 1.8, CONTROLLER, &target, cordon);
    let told = "Cordoned node to apply update".to_owned();
    say(teller, at + 1.82, CONTROLLER, node, "Cordon", told);
    let told = "Draining node to update config.".to_owned();
    say(teller, at + 1.84, DAEMON, node, "Drain", told);
    let drain = Act::Drain {
        node: node.name.clone(),
    };
    teller
        .script
        .act(at + 1.9, &format!("drain {}", node.name), drain);
}

fn tell_reboot(teller: &mut Teller<'_>, at: Moment, node: &NodeEntry, config: &str) {
    let target = node_target(node);
    let gate = Gate::Drained {
        node: node.name.clone(),
    };
    teller.script.act_after(at, CONTROLLER, gate, Act::Await);
    let drained = [("lastAppliedDrain", format!("drain-{config}"))];
    annotate(teller, at + 0.01, CONTROLLER, &target, &drained);
    teller
        .script
        .act_after(at + 0.4, DAEMON, Gate::Settled, Act::Await);
    annotate(
        teller,
        at + 0.5,
        DAEMON,
        &target,
        &[("state", "Rebooting".to_owned())],
    );
    let told = "Changes to OS staged".to_owned();
    say(teller, at + 0.52, DAEMON, node, "OSUpdateStaged", told);
    let told = format!("Node will reboot into config {config}");
    say(teller, at + 0.54, DAEMON, node, "Reboot", told);
    let reboot = Act::Reboot {
        node: node.name.clone(),
        down_secs: DOWN_SECS,
        not_ready_secs: NOT_READY_SECS,
    };
    teller.script.act_after(
        at + 0.6,
        &format!("kubelet {}", node.name),
        Gate::Settled,
        reboot,
    );
}

fn tell_uncordon(teller: &mut Teller<'_>, at: Moment, node: &NodeEntry, config: &str) {
    let target = node_target(node);
    let done = [
        ("currentConfig", config.to_owned()),
        ("desiredDrain", format!("uncordon-{config}")),
        ("state", "Done".to_owned()),
    ];
    annotate(teller, at, DAEMON, &target, &done);
    let told = format!("Setting node {}, currentConfig {config} to Done", node.name);
    say(teller, at + 0.02, DAEMON, node, "NodeDone", told);
    let uncordon = json!({"spec": {"unschedulable": null}});
    teller.script.merge(at + 1.0, CONTROLLER, &target, uncordon);
    let uncordoned = [("lastAppliedDrain", format!("uncordon-{config}"))];
    annotate(teller, at + 1.02, CONTROLLER, &target, &uncordoned);
    let told = format!("Update completed for node {}", node.name);
    say(teller, at + 1.04, CONTROLLER, node, "Uncordon", told);
}

fn node_target(node: &NodeEntry) -> Target {
    Target::cluster_wide("v1", "Node", &node.name)
}

fn annotate(
    teller: &mut Teller<'_>,
    at: Moment,
    actor: &str,
    node: &Target,
    entries: &[(&str, String)],
) {
    let annotations: serde_json::Map<String, Value> = entries
        .iter()
        .map(|(name, value)| (key(name), json!(value)))
        .collect();
    teller.script.merge(
        at,
        actor,
        node,
        json!({"metadata": {"annotations": annotations}}),
    );
}

fn say(
    teller: &mut Teller<'_>,
    at: Moment,
    by: &str,
    node: &NodeEntry,
    reason: &str,
    message: String,
) {
    let component = if by == DAEMON {
        "machineconfigdaemon"
    } else {
        "machineconfigcontroller-nodecontroller"
    };
    // These components give the node's name as its uid.
    let about = json!({"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.name});
    teller.script.say(
        at,
        &Said {
            by,
            component,
            namespace: "default",
            about,
            is_warning: false,
            reason,
            message,
        },
    );
}

/// How far a pool is.
struct Pool {
    role: NodeRole,
    machines: usize,
    updated: usize,
    unavailable: usize,
}

impl Pool {
    fn new(role: NodeRole, machines: usize) -> Self {
        Self {
            role,
            machines,
            updated: 0,
            unavailable: 0,
        }
    }
}

/// The first status of a pool: everything is at the installed release.
pub(super) fn tell_pool_status(
    teller: &mut Teller<'_>,
    at: Moment,
    role: NodeRole,
    release: &Release,
) {
    let config = rendered(teller, release, role);
    let machines = teller
        .scenario
        .cluster
        .nodes
        .iter()
        .filter(|node| node.role == role)
        .count();
    let spec = json!({"spec": {"configuration": {"name": config}}});
    teller
        .script
        .merge(at, CONTROLLER, &pool_target(role), spec);
    let pool = Pool {
        role,
        machines,
        updated: machines,
        unavailable: 0,
    };
    write_pool_at(teller, at + 0.1, &pool, &config, release);
}

fn write_pool(teller: &mut Teller<'_>, at: Moment, pool: &Pool) {
    let scenario = teller.scenario;
    let is_updated = pool.updated == pool.machines;
    let release = if is_updated {
        &scenario.update
    } else {
        &scenario.installed
    };
    let config = rendered(teller, release, pool.role);
    write_pool_at(teller, at, pool, &config, &scenario.update);
}

/// Writes a pool's status; `config` is what all its nodes are at, `towards` the release they go to.
fn write_pool_at(
    teller: &mut Teller<'_>,
    at: Moment,
    pool: &Pool,
    config: &str,
    towards: &Release,
) {
    let is_updated = pool.updated == pool.machines;
    let aim = rendered(teller, towards, pool.role);
    let conditions = teller.pools.entry(pool.role.name()).or_default();
    for kind in ["RenderDegraded", "NodeDegraded", "Degraded"] {
        conditions.set(at, kind, "False", "", "");
    }
    let all = format!("All nodes are updated with MachineConfig {aim}");
    let towards = format!("All nodes are updating to MachineConfig {aim}");
    if is_updated {
        conditions.set(at, "Updated", "True", "", &all);
        conditions.set(at, "Updating", "False", "", "");
    } else {
        conditions.set(at, "Updated", "False", "", "");
        conditions.set(at, "Updating", "True", "", &towards);
    }
    let status = json!({
        "conditions": conditions.to_json(),
        "configuration": {"name": config},
        "degradedMachineCount": 0,
        "machineCount": pool.machines,
        "readyMachineCount": pool.machines - pool.unavailable,
        "unavailableMachineCount": pool.unavailable,
        "updatedMachineCount": pool.updated,
    });
    teller
        .script
        .update_status(at, CONTROLLER, &pool_target(pool.role), status);
}
