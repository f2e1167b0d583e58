//! The update itself: the operator of operators first, then level by level, the nodes last.

use serde_json::{Value, json};

use super::super::cluster_version::{loaded, no_channel};
use super::super::file::{NodeEntry, Operand, Release, Scenario};
use super::super::moment::Dice;
use super::super::operator::Progress;
use super::super::plan::{Act, Gate, Said};
use super::super::workload::{new_image, service};
use super::super::{Moment, ScenarioError};
use super::actors::{
    self, Level, OperatorRoll, operator_leader, operator_lease, say_elected, version_leader,
    version_lease,
};
use super::install::{deployment, key, machine_config, node_spec, pool_target, rendered};
use super::teller::{CVO, CVO_NAMESPACE, STATUS_EVERY_SECS, Teller, deployment_of, payload};
use crate::kubelet::{Fate, NodeRole, PodMatcher};
use crate::rest::Target;

/// From the acceptance to the first level of operators: the new process has to take over.
const HAND_OVER_SECS: f64 = 11.0;
/// From the last operator's report to the completion.
const COMPLETES_AFTER_SECS: f64 = 3.0;

/// Tells the update; returns when it is complete.
pub(super) fn tell(teller: &mut Teller<'_>, accepted: Moment) -> Result<Moment, ScenarioError> {
    let scenario = teller.scenario;
    teller.operator(&scenario.faults.degraded.operator)?;
    tell_hand_over(teller, accepted);
    let levels = actors::lay_out(scenario, teller.dice, accepted + HAND_OVER_SECS);
    for level in &levels {
        // The operators of the level before have reported.
        teller
            .script
            .act_after(level.begins, CVO, Gate::Settled, Act::Await);
        level.rolls.iter().for_each(|roll| tell_roll(teller, roll));
    }
    let ends = levels.last().map_or(accepted, |level| level.ends);
    let completes = ends + COMPLETES_AFTER_SECS;
    tell_reports(teller, &levels, accepted + HAND_OVER_SECS, completes);
    teller
        .script
        .act_after(completes, CVO, Gate::Settled, Act::Await);
    teller.version.complete(completes);
    teller.write_version(completes);
    teller.version.allow_minor_updates();
    teller.write_version(completes + 0.01);
    teller.landmark("upgrade completed", completes);
    Ok(completes)
}

/// The operator replaces itself: its Lease changes hands, and its counts start again.
fn tell_hand_over(teller: &mut Teller<'_>, accepted: Moment) {
    let release = &teller.scenario.update;
    let image = release.image.clone();
    patch_image(teller, accepted + 0.3, CVO, &deployment(), Some(image));
    teller.version.report(
        accepted + 0.4,
        &Progress::done(release, release.manifests / 8),
    );
    teller.write_version(accepted + 0.4);
    teller.script.act(
        accepted + 3.0,
        CVO,
        Act::Resign {
            lease: version_lease(),
        },
    );
    say_elected(teller, accepted + 3.02, 2, "stopped leading");
    let takes_over = accepted + (HAND_OVER_SECS - 1.5);
    let lead = Act::Lead {
        lease: version_lease(),
        leader: version_leader(),
    };
    let up = Gate::RolledOut {
        targets: vec![deployment()],
    };
    teller.script.act_after(takes_over, CVO, up, lead);
    say_elected(teller, takes_over + 0.05, 3, "became leader");
    teller.say_payload_loaded(takes_over + 0.1, release);
    for (after, progress) in [
        (0.25, Progress::bare(release)),
        (0.3, Progress::done(release, 1)),
    ] {
        teller.version.report(takes_over + after, &progress);
        teller.write_version(takes_over + after);
    }
}

/// Puts the new image into a Deployment or `DaemonSet`.
fn patch_image(
    teller: &mut Teller<'_>,
    at: Moment,
    actor: &str,
    target: &Target,
    image: Option<String>,
) {
    let Some(current) = teller.workloads.get(target) else {
        return;
    };
    let mut made_of = teller.template(&teller.scenario.update, &target.name);
    if let Some(image) = image {
        made_of.image = image;
    }
    let patch = new_image(&made_of, current);
    teller.script.merge(at, actor, target, patch);
}

/// One operator's update.
fn tell_roll(teller: &mut Teller<'_>, roll: &OperatorRoll) {
    let operator = &roll.operator;
    let version = &teller.scenario.update.version;
    let before = &teller.scenario.installed.version;
    let (name, app) = (&operator.name, operator.deployment());
    patch_image(teller, roll.patched, CVO, &deployment_of(operator), None);
    // The old Pod gives the Lease up while the new one starts.
    teller.script.act(
        roll.patched + 2.0,
        &app,
        Act::Resign {
            lease: operator_lease(operator),
        },
    );
    let at = roll.progressing;
    let up = Gate::RolledOut {
        targets: vec![deployment_of(operator)],
    };
    let lead = Act::Lead {
        lease: operator_lease(operator),
        leader: operator_leader(operator),
    };
    teller.script.act_after(at, &app, up, lead);
    let message = format!("Working towards {version}: operands are being updated");
    teller.change_operator(at + 0.1, operator, |status| {
        status.progress(at + 0.1, "RollingOut", &message);
    });
    let told = format!(
        "Status for clusteroperator/{name} changed: Progressing changed from False to True (\"{message}\")"
    );
    teller.say_by(at + 0.12, operator, false, "OperatorStatusChanged", told);
    for operand in &operator.operands {
        if let Some(object) = service(operand, version) {
            teller.script.act(at + 0.18, &app, Act::Apply { object });
        }
        patch_image(teller, at + 0.2, &app, &operand.target(), None);
    }
    if let Some((from, until)) = roll.degraded {
        tell_degraded(teller, roll, from, until);
    }
    if name == actors::MACHINE_CONFIG {
        tell_node_rolls(teller, at + 1.0);
    }
    let arrived = Gate::RolledOut {
        targets: operator.operands.iter().map(Operand::target).collect(),
    };
    teller.change_operator_after(roll.done, operator, arrived, |status| {
        status.arrive(roll.done, version);
    });
    let told = format!(
        "Status for clusteroperator/{name} changed: Progressing changed from True to False"
    );
    teller.say_by(
        roll.done + 0.02,
        operator,
        false,
        "OperatorStatusChanged",
        told,
    );
    let told = format!(
        "clusteroperator/{name} version \"operator\" changed from \"{before}\" to \"{version}\""
    );
    teller.say_by(
        roll.done + 0.04,
        operator,
        false,
        "OperatorVersionChanged",
        told,
    );
}

/// The operator is degraded for a while, with one message after the other.
fn tell_degraded(teller: &mut Teller<'_>, roll: &OperatorRoll, from: Moment, until: Moment) {
    let operator = &roll.operator;
    let fault = &teller.scenario.faults.degraded;
    let count = u32::try_from(fault.messages.len()).unwrap_or(1).max(1);
    for (index, message) in (0_u32..).zip(&fault.messages) {
        let at = from + fault.for_secs * f64::from(index) / f64::from(count);
        teller.change_operator(at, operator, |status| {
            status.degrade(at, &fault.reason, message);
        });
        let told = format!(
            "Status for clusteroperator/{} changed: Degraded message changed to \"{message}\"",
            operator.name
        );
        teller.say_by(at + 0.02, operator, true, "OperatorStatusChanged", told);
    }
    teller.change_operator(until, operator, |status| status.recover(until));
    let told = format!(
        "Status for clusteroperator/{} changed: Degraded changed from True to False",
        operator.name
    );
    teller.say_by(until + 0.02, operator, false, "OperatorStatusChanged", told);
    teller.plant(
        "degraded",
        format!("ClusterOperator {}", operator.name),
        from,
        Some(until),
    );
}

/// The status writes of the new process: a snapshot every so often, when something changed.
fn tell_reports(teller: &mut Teller<'_>, levels: &[Level], from: Moment, until: Moment) {
    let scenario = teller.scenario;
    let mut at = from + 4.0;
    while at < until {
        if let Some(progress) = actors::progress_at(scenario, levels, at)
            && teller.version.report(at, &progress)
        {
            teller.write_version(at);
        }
        at = at + STATUS_EVERY_SECS;
    }
}

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
pub(super) fn tell_node_rolls(teller: &mut Teller<'_>, at: Moment) {
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

/// From the creation of a version Pod to its pull error.
const PULL_FAILS_AFTER_SECS: f64 = 4.0;
/// From the creation of a version Pod to its success.
const SUCCEEDS_AFTER_SECS: f64 = 13.0;

/// Tells the retrieval; returns when the release is accepted.
pub(super) fn tell_retrieval(teller: &mut Teller<'_>) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let asked = Moment::from_secs(scenario.upgrade.asked_secs);
    teller.landmark("upgrade asked", asked);
    teller.script.merge(
        asked,
        "oc",
        &Teller::version_target(),
        json!({"spec": {"desiredUpdate": {
            "architecture": "",
            "force": false,
            "image": release.image,
            "version": release.version,
        }}}),
    );
    let mut at = asked + 0.3;
    let mut attempt = 1;
    for message in &scenario.upgrade.failed_pulls {
        at = tell_failed_attempt(teller, at, attempt, message);
        attempt += 1;
    }
    let succeeded = tell_attempt(teller, at, attempt, None) + SUCCEEDS_AFTER_SECS;
    tell_acceptance(teller, succeeded)
}

/// Begins an attempt; returns the time of the new Pod. Older version Pods go first.
fn tell_attempt(
    teller: &mut Teller<'_>,
    at: Moment,
    attempt: u32,
    pull_error: Option<&str>,
) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let of = payload(release);
    teller.say_about_version(
        at,
        false,
        "RetrievePayload",
        format!("Retrieving and verifying payload {of}"),
    );
    let created = at + 0.15;
    let name = name(teller.dice, release, attempt);
    if let Some(message) = pull_error {
        let pods = PodMatcher {
            namespace: CVO_NAMESPACE.to_owned(),
            name_prefix: Some(name.clone()),
            ..PodMatcher::default()
        };
        let fate = Fate::PullFails {
            message: message.to_owned(),
            failures: None,
        };
        teller.script.act(at, CVO, Act::Script { pods, fate });
    }
    if let Some(before) = teller.version_pods.last() {
        let target = target(before);
        teller.script.act(
            at + 0.02,
            CVO,
            Act::Delete {
                target,
                grace_secs: None,
            },
        );
    }
    let node = scenario
        .cluster
        .nodes
        .iter()
        .find(|node| node.role == NodeRole::Master);
    let node = node.map(|node| node.name.as_str()).unwrap_or_default();
    let pod = object(teller.dice, release, &name, node);
    teller.script.create(created, CVO, pod);
    teller.version_pods.push(name);
    created
}

/// An attempt that fails fast; returns when the next may begin: at once, as the message is a new one.
fn tell_failed_attempt(teller: &mut Teller<'_>, at: Moment, attempt: u32, message: &str) -> Moment {
    let release = &teller.scenario.update;
    let created = tell_attempt(teller, at, attempt, Some(message));
    let fails = created + PULL_FAILS_AFTER_SECS;
    let name = name(teller.dice, release, attempt);
    let pod = target(&name);
    teller.plant("failed-pull", pod.to_string(), created, Some(fails));
    // Nothing is written while an attempt runs; then the Event goes out just before the status.
    let failure = failure(release, &name, "ErrImagePull", message);
    let gate = Gate::PodWaits {
        pod,
        reason: "ErrImagePull".to_owned(),
    };
    teller.script.act_after(fails, CVO, gate, Act::Await);
    teller.say_about_version(
        fails + 0.005,
        true,
        "RetrievePayloadFailed",
        failure.clone(),
    );
    teller.version.refuse(fails + 0.01, &failure);
    teller.write_version(fails + 0.01);
    fails + 0.03
}

/// Payload and preconditions are well: the two writes of an acceptance, and one that follows.
fn tell_acceptance(teller: &mut Teller<'_>, at: Moment) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let of = payload(release);
    let Some(name) = teller.version_pods.last().cloned() else {
        return at;
    };
    let gate = Gate::PodPhase {
        pod: target(&name),
        phase: "Succeeded".to_owned(),
    };
    teller.script.act_after(at, CVO, gate, Act::Await);
    teller.say_about_version(
        at + 0.01,
        false,
        "LoadPayload",
        format!("Loading payload {of}"),
    );
    let warning = no_channel(&scenario.installed.version, &release.version);
    let told = format!("precondition warning for payload loaded {of}: {warning}");
    teller.say_about_version(at + 0.10, true, "PreconditionWarn", told);
    let told = format!("preconditions passed for payload loaded {of}");
    teller.say_about_version(at + 0.11, false, "PreconditionsPassed", told);
    teller.version.accept(at + 0.12, release);
    teller.write_version(at + 0.12);
    teller.say_about_version(at + 0.121, false, "PayloadLoaded", loaded(release));
    let begins = at + 0.13;
    teller.version.begin_update(
        begins,
        release,
        2,
        teller.dice.hex(11, &["hash", &release.version]),
    );
    teller.write_version(begins);
    teller.version.block_minor_updates(begins + 0.02);
    teller.write_version(begins + 0.02);
    teller.landmark("upgrade accepted", begins);
    begins
}

/// The init containers, in order.
const INIT_CONTAINERS: [&str; 4] = [
    "cleanup",
    "make-temporary-directory",
    "copy-operator-manifests-to-temporary-directory",
    "copy-release-manifests-to-temporary-directory",
];
const PAYLOADS: &str = "/etc/cvo/updatepayloads";

/// The name of an attempt's Pod.
pub(in super::super) fn name(dice: Dice, release: &Release, attempt: u32) -> String {
    let suffix = dice.suffix(&["version pod", &release.version, &attempt.to_string()]);
    format!("version-{}-{suffix}", release.version)
}

/// The Pod, by name.
pub(in super::super) fn target(name: &str) -> Target {
    Target::namespaced("v1", "Pod", CVO_NAMESPACE, name)
}

/// The Pod, bound to a node by its creator.
pub(in super::super) fn object(dice: Dice, release: &Release, name: &str, node: &str) -> Value {
    let folder = format!(
        "{PAYLOADS}/{}",
        dice.hex(22, &["payload folder", &release.image])
    );
    let temporary = format!("{folder}-{}", name.rsplit('-').next().unwrap_or_default());
    let container = |name: &str, command: Value| {
        json!({
            "name": name,
            "image": release.image,
            "imagePullPolicy": "IfNotPresent",
            "command": command,
            "resources": {"requests": {"cpu": "10m", "ephemeral-storage": "2Mi", "memory": "50Mi"}},
            "securityContext": {"privileged": true, "readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"name": "payloads", "mountPath": PAYLOADS}],
        })
    };
    let commands = [
        json!(["sh", "-c", "rm -fR ./*"]),
        json!(["mkdir", temporary]),
        json!(["cp", "-r", "/manifests", format!("{temporary}/manifests")]),
        json!([
            "cp",
            "-r",
            "/release-manifests",
            format!("{temporary}/release-manifests")
        ]),
    ];
    let mut init: Vec<Value> = INIT_CONTAINERS
        .iter()
        .zip(commands)
        .map(|(name, command)| container(name, command))
        .collect();
    if let Some(cleanup) = init.first_mut() {
        cleanup["workingDir"] = json!(format!("{PAYLOADS}/"));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": CVO_NAMESPACE,
            "labels": {"k8s-app": "retrieve-openshift-release"},
            "annotations": {"openshift.io/required-scc": "privileged"},
        },
        "spec": {
            "activeDeadlineSeconds": 120,
            "initContainers": init,
            "containers": [container("rename-to-final-location", json!(["mv", temporary, folder]))],
            "nodeName": node,
            "nodeSelector": {"node-role.kubernetes.io/master": ""},
            "priorityClassName": "openshift-user-critical",
            "restartPolicy": "OnFailure",
            "serviceAccountName": "update-payload",
            "tolerations": [{"key": "node-role.kubernetes.io/master"}],
            "volumes": [{"name": "payloads", "hostPath": {"path": PAYLOADS, "type": ""}}],
        },
    })
}

/// What is said about an attempt that failed while its first container could not be pulled.
pub(in super::super) fn failure(
    release: &Release,
    pod: &str,
    reason: &str,
    message: &str,
) -> String {
    let cleanup = INIT_CONTAINERS.first().copied().unwrap_or_default();
    format!(
        "Retrieving payload failed version=\"{}\" image=\"{}\" failure=Unable to download and prepare the update: fetching update payload: pod {pod} failed at pending with reason \"\" and message \"\" and status initcontainer {cleanup} is waiting with reason \"{reason}\" and message \"{message}\"",
        release.version, release.image
    )
}
