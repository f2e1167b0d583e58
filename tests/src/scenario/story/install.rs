//! The second chapter: definitions and objects of them at once, operators that come up one by one.

use serde_json::json;

use super::super::file::{Operand, Operator};
use super::super::step::{Act, Gate};
use super::super::workload;
use super::super::{Moment, definitions, operator};
use super::bootstrap::namespace;
use super::installer;
use super::leases::{operator_leader, operator_lease};
use super::machines::{machine, machine_config, pool};
use super::roll::tell_pool_status;
use super::teller::{CVO, Teller, deployment_of};
use crate::kubelet::NodeRole;
use crate::rest::Target;

/// An operator reports for the first time so long before it is available.
const STARTS_BEFORE_SECS: f64 = 13.0;

pub(super) fn tell(teller: &mut Teller<'_>, begins: Moment) {
    let scenario = teller.scenario;
    installer::tell(teller, begins);
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
        let deployment = workload::operator_deployment(&operator.namespace, &made_of);
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
        if let Some(definition) = definitions::definition_of(kind) {
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
