//! The second chapter: definitions and objects of them at once, operators that come up one by one.

use serde_json::{Value, json};

use super::super::file::{NodeEntry, Operand, Operator, Release};
use super::super::operator::Progress;
use super::super::plan::{Act, Gate, Leader};
use super::super::workload::operator_deployment;
use super::super::{Moment, ScenarioError, file, operator, workload};
use super::actors::{operator_leader, operator_lease, say_elected, version_leader, version_lease};
use super::teller::{CVO, CVO_NAMESPACE, STATUS_EVERY_SECS, Teller, deployment_of};
use super::update::tell_pool_status;
use crate::kubelet::{NodeRole, NodeSpec};
use crate::rest::Target;

/// An operator reports for the first time so long before it is available.
const STARTS_BEFORE_SECS: f64 = 13.0;

pub(super) fn tell(teller: &mut Teller<'_>, begins: Moment) {
    let scenario = teller.scenario;
    tell_installer(teller, begins);
    tell_namespaces(teller, begins + 0.8);
    tell_definitions(teller, begins + 1.4);
    for (order, operator) in scenario.operators.iter().enumerate() {
        let stagger = f64::from(u32::try_from(order).unwrap_or_default()) * 0.03;
        let at = begins + 1.8 + stagger;
        teller.script.create(at, CVO, operator::created(operator));
        let target =
            Target::cluster_wide("config.openshift.io/v1", "ClusterOperator", &operator.name);
        teller
            .script
            .update_status(at + 0.05, CVO, &target, operator::related_objects(operator));
        let app = operator.deployment();
        let made_of = teller.template(&scenario.installed, &app);
        let deployment = operator_deployment(&operator.namespace, &made_of);
        teller.create_workload(begins + 3.5 + stagger * 4.0, CVO, deployment);
        tell_operator(teller, begins, operator);
    }
    tell_machines(teller, begins + 30.0);
}

fn tell_namespaces(teller: &mut Teller<'_>, at: Moment) {
    let scenario = teller.scenario;
    let operands = scenario
        .operators
        .iter()
        .flat_map(|operator| &operator.operands);
    let mut names: Vec<&str> = scenario
        .operators
        .iter()
        .map(|operator| operator.namespace.as_str())
        .chain(operands.map(|operand| operand.namespace.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        teller.script.create(at, CVO, namespace(name));
    }
}

/// Each definition is followed by an object of it at once, before it can be served.
fn tell_definitions(teller: &mut Teller<'_>, at: Moment) {
    for kind in [
        "MachineConfigPool",
        "MachineConfig",
        "Machine",
        "Route",
        "FeatureGate",
    ] {
        if let Some(definition) = file::definition_of(kind) {
            teller.script.create(at, CVO, definition);
        }
    }
    for role in [NodeRole::Master, NodeRole::Worker] {
        teller.script.create(at, CVO, pool(role));
    }
    teller.script.create(
        at,
        CVO,
        json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "FeatureGate",
            "metadata": {"name": "cluster"},
            "spec": {"featureSet": ""},
        }),
    );
    let base_domain = &teller.scenario.cluster.base_domain;
    teller.script.create(
        at,
        CVO,
        json!({
            "apiVersion": "route.openshift.io/v1",
            "kind": "Route",
            "metadata": {"name": "console", "namespace": "openshift-console-operator"},
            "spec": {
                "host": format!("console-openshift-console.apps.{base_domain}"),
                "to": {"kind": "Service", "name": "console", "weight": 100},
            },
        }),
    );
}

/// One operator, from its first Pod to its first "available".
fn tell_operator(teller: &mut Teller<'_>, begins: Moment, operator: &Operator) {
    let scenario = teller.scenario;
    let version = &scenario.installed.version;
    let name = &operator.name;
    let app = operator.deployment();
    let available = begins + operator.available_secs;
    let starts = begins + (operator.available_secs - STARTS_BEFORE_SECS).max(8.0);
    let lead = Act::Lead {
        lease: operator_lease(operator),
        leader: operator_leader(operator),
    };
    let up = Gate::RolledOut {
        targets: vec![deployment_of(operator)],
    };
    teller.script.act_after(starts, &app, up, lead);
    teller.change_operator(starts + 0.1, operator, |status| {
        status.start(starts + 0.1, version);
    });
    for operand in &operator.operands {
        let made_of = teller.template(&scenario.installed, &operand.name);
        let object = workload::operand(operand, &made_of);
        teller.create_workload(starts + 0.3, &app, object);
        if let Some(object) = workload::service(operand, version) {
            let act = Act::Apply { object };
            teller.script.act(starts + 0.32, &app, act);
        }
        if let Some(budget) = workload::budget(operand) {
            teller.script.create(starts + 0.35, &app, budget);
        }
    }
    let message = format!("Working towards {version}: operands are being deployed");
    teller.change_operator(starts + 0.5, operator, |status| {
        status.progress(starts + 0.5, "Deploying", &message);
    });
    let arrived = Gate::RolledOut {
        targets: operator.operands.iter().map(Operand::target).collect(),
    };
    teller.change_operator_after(available, operator, arrived, |status| {
        status.arrive(available, version);
    });
    let told = format!(
        "Status for clusteroperator/{name} changed: Available changed from False to True, Progressing changed from True to False"
    );
    teller.say_by(
        available + 0.02,
        operator,
        false,
        "OperatorStatusChanged",
        told,
    );
    let told =
        format!("clusteroperator/{name} version \"operator\" changed from \"\" to \"{version}\"");
    teller.say_by(
        available + 0.04,
        operator,
        false,
        "OperatorVersionChanged",
        told,
    );
}

/// What the operators of machines add: Machines, rendered configurations, the pools' first status.
fn tell_machines(teller: &mut Teller<'_>, at: Moment) {
    let scenario = teller.scenario;
    for (order, role) in [(0.0, NodeRole::Master), (0.2, NodeRole::Worker)] {
        let config = machine_config(teller, &scenario.installed, role);
        teller
            .script
            .create(at + order, "machine-config-controller", config);
        tell_pool_status(teller, at + 0.1 + order, role, &scenario.installed);
    }
    for node in &scenario.cluster.nodes {
        let object = machine(teller, node);
        let Some(target) = Target::of(&object) else {
            continue;
        };
        let ready = Moment::from_secs(node.joins_secs).max(at) + 1.0;
        teller.script.create(at, "machine-api-operator", object);
        teller.script.update_status(
            ready,
            "machine-api-operator",
            &target,
            json!({
                "phase": "Running",
                "lastUpdated": ready.stamp(),
                "nodeRef": {"kind": "Node", "name": node.name},
            }),
        );
    }
}

const BOOTSTRAP: &str = "cluster-bootstrap";

pub(super) fn tell_bootstrap(teller: &mut Teller<'_>) {
    let at = Moment::from_secs(0.4);
    for name in [
        CVO_NAMESPACE,
        "openshift-config",
        "openshift-config-managed",
    ] {
        teller.script.create(at, BOOTSTRAP, namespace(name));
    }
    for kind in [
        "ClusterVersion",
        "ClusterOperator",
        "Infrastructure",
        "Network",
    ] {
        if let Some(definition) = file::definition_of(kind) {
            teller.script.create(at + 0.1, BOOTSTRAP, definition);
        }
    }
    // At once: the definitions are not served yet, and the writer has to try again.
    let cluster_id = teller.dice.uuid(&["cluster"]);
    teller.script.create(
        at + 0.11,
        BOOTSTRAP,
        json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": cluster_id},
        }),
    );
    tell_facts(teller, at + 0.12);
    tell_prerequisites(teller, at + 0.2);
    for (index, node) in (0_u8..).zip(&teller.scenario.cluster.nodes) {
        let annotations = node_annotations(teller, node);
        let act = Act::Join {
            node: node_spec(index, node, annotations),
            not_ready_secs: 4.0,
        };
        teller.script.act(
            Moment::from_secs(node.joins_secs),
            &format!("kubelet {}", node.name),
            act,
        );
    }
    for restart in &teller.scenario.bootstrap.api_restarts {
        let act = Act::RestartApiServer {
            server: restart.server,
        };
        teller
            .script
            .act(Moment::from_secs(restart.at_secs), "harness", act);
    }
    teller.landmark("bootstrap begins", at);
}

pub(in super::super) fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "annotations": {"openshift.io/node-selector": ""},
            "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
        },
    })
}

/// The objects that say what cluster this is.
fn tell_facts(teller: &mut Teller<'_>, at: Moment) {
    let cluster = &teller.scenario.cluster;
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
        "spec": {"platformSpec": {"type": "AWS"}},
    });
    let status = json!({
        "apiServerURL": format!("https://api.{}:6443", cluster.base_domain),
        "apiServerInternalURI": format!("https://api-int.{}:6443", cluster.base_domain),
        "infrastructureName": cluster.infrastructure_name,
        "controlPlaneTopology": "HighlyAvailable",
        "infrastructureTopology": "HighlyAvailable",
        "platform": "AWS",
        "platformStatus": {"type": "AWS", "aws": {"region": "region-1"}},
    });
    let target = Target::cluster_wide("config.openshift.io/v1", "Infrastructure", "cluster");
    teller.script.create(at, BOOTSTRAP, infrastructure);
    teller
        .script
        .update_status(at + 0.02, BOOTSTRAP, &target, status);
    teller.script.create(
        at + 0.03,
        BOOTSTRAP,
        json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "Network",
            "metadata": {"name": "cluster"},
            "spec": {
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "networkType": "OVNKubernetes",
                "serviceNetwork": ["172.30.0.0/16"],
            },
        }),
    );
    let config = format!(
        "apiVersion: v1\nbaseDomain: {}\nplatform:\n  aws:\n    region: region-1\n",
        cluster.base_domain
    );
    teller.script.create(
        at + 0.04,
        BOOTSTRAP,
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cluster-config-v1", "namespace": "kube-system"},
            "data": {"install-config": config},
        }),
    );
}

/// What the version Pods of an update will need.
fn tell_prerequisites(teller: &mut Teller<'_>, at: Moment) {
    teller.script.create(
        at,
        BOOTSTRAP,
        json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "openshift-user-critical"},
            "value": 1_000_000_000,
            "description": "Work of the platform that users depend on.",
        }),
    );
    teller.script.create(
        at + 0.01,
        BOOTSTRAP,
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "update-payload", "namespace": CVO_NAMESPACE},
        }),
    );
}

/// From the last operator's report to the completion.
const COMPLETES_AFTER_SECS: f64 = 4.0;

/// The Deployment of the cluster-version operator.
pub(super) fn deployment() -> Target {
    Target::namespaced("apps/v1", "Deployment", CVO_NAMESPACE, CVO)
}

pub(super) fn tell_installer(teller: &mut Teller<'_>, begins: Moment) {
    let scenario = teller.scenario;
    let release = &scenario.installed;
    let bootstrap = format!("bootstrap_{}", teller.dice.uuid(&["bootstrap"]));
    let lead = Act::Lead {
        lease: version_lease(),
        leader: Leader::Outsider { name: bootstrap },
    };
    teller.landmark("install begins", begins);
    teller.script.act(begins, CVO, lead);
    say_elected(teller, begins + 0.05, 1, "became leader");
    teller.say_payload_loaded(begins + 0.3, release);
    teller.write_version(begins + 0.5);
    teller.version.both_reasons(begins + 0.53);
    teller.write_version(begins + 0.53);
    teller.version.payload_is_read(
        begins + 0.6,
        teller.dice.hex(11, &["hash", &release.version]),
    );
    teller
        .version
        .report(begins + 0.6, &Progress::done(release, 5));
    teller.write_version(begins + 0.6);
    let object = own_deployment(teller, release);
    teller.create_workload(begins + 1.5, CVO, object);

    let hand_over = Moment::from_secs(scenario.install.bootstrap_ends_secs);
    let takes_over = Moment::from_secs(scenario.install.cluster_takes_over_secs);
    report_until(teller, begins, begins + STATUS_EVERY_SECS, hand_over);
    tell_hand_over(teller, begins, hand_over);
    tell_take_over(teller, takes_over);
    let last = scenario
        .operators
        .iter()
        .map(|operator| operator.available_secs)
        .fold(0.0, f64::max);
    let completes = begins + last + COMPLETES_AFTER_SECS;
    report_until(teller, begins, takes_over + STATUS_EVERY_SECS, completes);
    teller.version.complete(completes);
    teller.write_version(completes);
    teller.version.allow_minor_updates();
    teller.write_version(completes + 0.01);
    teller.landmark("installed", completes);
}

fn own_deployment(teller: &Teller<'_>, release: &Release) -> Value {
    let mut made_of = teller.template(release, CVO);
    made_of.image.clone_from(&release.image);
    let mut object = operator_deployment(CVO_NAMESPACE, &made_of);
    object["spec"]["template"]["spec"]["hostNetwork"] = true.into();
    object["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet".into();
    object
}

/// The names of the operators that are not available at a time.
fn missing<'s>(teller: &Teller<'s>, begins: Moment, at: Moment) -> Vec<&'s str> {
    let operators = teller.scenario.operators.iter();
    operators
        .filter(|operator| begins + operator.available_secs > at)
        .map(|operator| operator.name.as_str())
        .collect()
}

/// How many manifests are done while so many operators are missing.
pub(super) fn done(release: &Release, operators: usize, missing: usize) -> u32 {
    let (operators, missing) = (
        u32::try_from(operators).unwrap_or(1).max(1),
        u32::try_from(missing).unwrap_or(0),
    );
    let settled = release.manifests / 12;
    let rest = release.manifests - settled - 2;
    settled + rest * (operators - missing.min(operators)) / operators
}

/// The status writes of one process: at most one every so often, and only when something changed.
fn report_until(teller: &mut Teller<'_>, begins: Moment, from: Moment, until: Moment) {
    let release = &teller.scenario.installed;
    let mut at = from;
    while at < until {
        let missing = missing(teller, begins, at);
        let done = done(release, teller.scenario.operators.len(), missing.len());
        let progress = if missing.is_empty() || missing.len() > 8 {
            Progress::done(release, done)
        } else {
            Progress::waiting(release, done, &missing)
        };
        if teller.version.report(at, &progress) {
            teller.write_version(at);
        }
        at = at + STATUS_EVERY_SECS;
    }
}

/// The bootstrap operator is told to stop: its last status write shows a failure that is none.
fn tell_hand_over(teller: &mut Teller<'_>, begins: Moment, at: Moment) {
    let missing = missing(teller, begins, at);
    teller.version.report(
        at,
        &Progress::not_available(&teller.scenario.installed, &missing),
    );
    teller.write_version(at);
    teller.script.act(
        at + 0.01,
        CVO,
        Act::Resign {
            lease: version_lease(),
        },
    );
    say_elected(teller, at + 0.02, 1, "stopped leading");
}

/// The operator in the cluster takes over and begins anew.
fn tell_take_over(teller: &mut Teller<'_>, at: Moment) {
    let release = &teller.scenario.installed;
    let lead = Act::Lead {
        lease: version_lease(),
        leader: version_leader(),
    };
    let up = Gate::RolledOut {
        targets: vec![deployment()],
    };
    teller.script.act_after(at, CVO, up, lead);
    say_elected(teller, at + 0.05, 2, "became leader");
    teller.say_payload_loaded(at + 0.1, release);
    teller.version.report(at + 0.25, &Progress::bare(release));
    teller.write_version(at + 0.25);
    teller.version.report(at + 0.3, &Progress::done(release, 4));
    teller.write_version(at + 0.3);
}

const API: &str = "machineconfiguration.openshift.io/v1";

/// The key of a machine-config annotation.
pub(super) fn key(name: &str) -> String {
    format!("machineconfiguration.openshift.io/{name}")
}

/// The name of the configuration that a release renders for a role.
pub(super) fn rendered(teller: &Teller<'_>, release: &Release, role: NodeRole) -> String {
    let hash = teller
        .dice
        .hex(32, &["rendered", role.name(), &release.version]);
    format!("rendered-{}-{hash}", role.name())
}

/// What a node is annotated with when it comes.
pub(super) fn node_annotations(teller: &Teller<'_>, node: &NodeEntry) -> Vec<(String, String)> {
    let config = rendered(teller, &teller.scenario.installed, node.role);
    vec![
        (key("currentConfig"), config.clone()),
        (key("desiredConfig"), config.clone()),
        (key("desiredDrain"), format!("uncordon-{config}")),
        (key("lastAppliedDrain"), format!("uncordon-{config}")),
        (key("reason"), String::new()),
        (key("state"), "Done".to_owned()),
    ]
}

/// A node as the kubelets know it.
pub(super) fn node_spec(
    index: u8,
    node: &NodeEntry,
    annotations: Vec<(String, String)>,
) -> NodeSpec {
    NodeSpec {
        name: node.name.clone(),
        role: node.role,
        index,
        zone: node.zone.clone(),
        annotations,
    }
}

/// The rendered configuration of a release for a role.
pub(super) fn machine_config(teller: &Teller<'_>, release: &Release, role: NodeRole) -> Value {
    let mut annotations = json!({});
    annotations[key("generated-by-controller-version")] =
        json!(teller.dice.hex(40, &["commit", &release.version]));
    annotations[key("release-image-version")] = json!(release.version);
    json!({
        "apiVersion": API,
        "kind": "MachineConfig",
        "metadata": {"name": rendered(teller, release, role), "annotations": annotations},
        "spec": {
            "config": {"ignition": {"version": "3.5.0"}},
            "kernelArguments": [],
            "osImageURL": teller.image(release, "machine-os"),
        },
    })
}

/// The pool of a role, as the payload has it: without a configuration.
pub(super) fn pool(role: NodeRole) -> Value {
    let mut node_labels = json!({});
    node_labels[format!("node-role.kubernetes.io/{}", role.name())] = json!("");
    let mut config_labels = json!({});
    config_labels[key("role")] = json!(role.name());
    let mut labels = json!({});
    labels[key("mco-built-in")] = json!("");
    json!({
        "apiVersion": API,
        "kind": "MachineConfigPool",
        "metadata": {"name": role.name(), "labels": labels},
        "spec": {
            "machineConfigSelector": {"matchLabels": config_labels},
            "maxUnavailable": 1,
            "nodeSelector": {"matchLabels": node_labels},
            "paused": false,
        },
    })
}

/// The pool of a role, by name.
pub(super) fn pool_target(role: NodeRole) -> Target {
    Target::cluster_wide(API, "MachineConfigPool", role.name())
}

/// The Machine behind a node.
pub(super) fn machine(teller: &Teller<'_>, node: &NodeEntry) -> Value {
    let cluster = &teller.scenario.cluster.infrastructure_name;
    json!({
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": machine_name(teller, node),
            "namespace": "openshift-machine-api",
            "labels": {
                "machine.openshift.io/cluster-api-cluster": cluster,
                "machine.openshift.io/cluster-api-machine-role": node.role.name(),
                "machine.openshift.io/zone": node.zone,
            },
        },
        "spec": {"providerID": format!("aws:///{}/i-{}", node.zone, teller.dice.hex(17, &["instance", &node.name]))},
    })
}

pub(super) fn machine_name(teller: &Teller<'_>, node: &NodeEntry) -> String {
    format!(
        "{}-{}",
        teller.scenario.cluster.infrastructure_name, node.name
    )
}

/// Controllers repeat themselves this often; the Event's count rises.
const GRUMBLE_EVERY_SECS: f64 = 7.0;

pub(super) fn tell_quiet(teller: &mut Teller<'_>) -> Result<(), ScenarioError> {
    let scenario = teller.scenario;
    let flap = &scenario.faults.flap;
    let operator = teller.operator(&flap.operator)?;
    let at = Moment::from_secs(flap.at_secs);
    let until = at + flap.for_secs;
    teller.change_operator(at, &operator, |status| {
        status.fail(at, &flap.reason, &flap.message);
    });
    let told = format!(
        "Status for clusteroperator/{} changed: Available changed from True to False (\"{}\")",
        flap.operator, flap.message
    );
    teller.say_by(at + 0.02, &operator, true, "OperatorStatusChanged", told);
    teller.change_operator(until, &operator, |status| status.serve_again(until));
    let told = format!(
        "Status for clusteroperator/{} changed: Available changed from False to True",
        flap.operator
    );
    teller.say_by(
        until + 0.02,
        &operator,
        false,
        "OperatorStatusChanged",
        told,
    );
    teller.plant(
        "flap",
        format!("ClusterOperator {}", flap.operator),
        at,
        Some(until),
    );
    tell_grumbling(teller);
    Ok(())
}

/// A few controllers say the same thing again and again, from the installation to the end.
fn tell_grumbling(teller: &mut Teller<'_>) {
    let scenario = teller.scenario;
    let grumblers: Vec<_> = scenario.operators.iter().take(6).collect();
    let mut at = Moment::from_secs(scenario.install.begins_secs) + 90.0;
    let end = Moment::from_secs(scenario.end_secs);
    let mut round = 0;
    while at < end && !grumblers.is_empty() {
        let Some(operator) = grumblers.get(round % grumblers.len()) else {
            break;
        };
        let told = "Controller \"StatusSyncer\" resync interval is set to 10s which might lead to client request throttling";
        teller.say_by(at, operator, true, "FastControllerResync", told.to_owned());
        at = at + GRUMBLE_EVERY_SECS;
        round += 1;
    }
}
