//! What the cluster's user runs: a shop, one Pod of which crashes and another is deleted by force.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::Moment;
use super::super::file::{Operand, OperandKind, Operator, Scenario, SecretSpec};
use super::super::moment::Dice;
use super::super::operator::Progress;
use super::super::plan::Canary;
use super::super::plan::Said;
use super::super::plan::{Act, Leader};
use super::install::{done, namespace};
use super::teller::{CVO, CVO_NAMESPACE, Teller};
use super::update;
use crate::kubelet::{Fate, PodMatcher};
use crate::rest::Target;

const USER: &str = "oc";

pub(super) fn tell(teller: &mut Teller<'_>) {
    let scenario = teller.scenario;
    let shop = &scenario.shop;
    let ns = shop.namespace.as_str();
    let at = Moment::from_secs(shop.created_secs);
    let crash_loop = &scenario.faults.crash_loop;
    let fate = Fate::CrashLoops {
        exit_code: crash_loop.exit_code,
        runs_secs: crash_loop.runs_secs,
        crashes: None,
    };
    let pods = PodMatcher {
        namespace: ns.to_owned(),
        label: Some(("app".to_owned(), crash_loop.app.clone())),
        ..PodMatcher::default()
    };
    teller.script.act(at, "harness", Act::Script { pods, fate });
    teller.script.create(at + 0.1, USER, namespace(ns));
    teller.create_workload(at + 1.0, USER, deployment(ns, "web", 2));
    teller.create_workload(at + 1.1, USER, deployment(ns, &crash_loop.app, 1));
    teller.script.create(
        at + 1.2,
        USER,
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": ns},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }),
    );
    teller.script.create(at + 1.3, USER, json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": ns},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    }));
    teller.script.create(
        at + 1.4,
        USER,
        json!({
            "apiVersion": "route.openshift.io/v1",
            "kind": "Route",
            "metadata": {"name": "web", "namespace": ns},
            "spec": {
                "host": format!("web-{ns}.apps.{}", scenario.cluster.base_domain),
                "to": {"kind": "Service", "name": "web", "weight": 100},
            },
        }),
    );
    let crashes_from = at + 1.1;
    teller.plant(
        "crash-loop",
        format!("Deployment {ns}/{}", crash_loop.app),
        crashes_from,
        None,
    );
    tell_stateful_set(teller, ns, at + 1.5);
    for (number, at_secs) in (1_u32..).zip(&shop.jobs_secs) {
        teller
            .script
            .create(Moment::from_secs(*at_secs), USER, job(ns, number));
    }
}

/// A Pod that comes back under its old name with a new uid.
fn tell_stateful_set(teller: &mut Teller<'_>, ns: &str, at: Moment) {
    let fault = &teller.scenario.faults.force_delete;
    let (app, deleted) = (fault.app.as_str(), Moment::from_secs(fault.at_secs));
    teller.script.create(
        at,
        USER,
        json!({
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": app, "namespace": ns},
            "spec": {
                "replicas": 1,
                "serviceName": app,
                "selector": {"matchLabels": {"app": app}},
                "template": template(app),
            },
        }),
    );
    let pod = Target::namespaced("v1", "Pod", ns, &format!("{app}-0"));
    teller.plant("force-delete", pod.to_string(), deleted, None);
    teller.script.act(
        deleted,
        USER,
        Act::Delete {
            target: pod,
            grace_secs: Some(0),
        },
    );
}

fn template(app: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {
            "containers": [{
                "name": app,
                "image": format!("registry.kubereel.example/shop/{app}:1.4"),
                "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
            }],
            "nodeSelector": {"node-role.kubernetes.io/worker": ""},
        },
    })
}

fn deployment(ns: &str, app: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app, "namespace": ns},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": template(app)},
    })
}

fn job(ns: &str, number: u32) -> Value {
    let mut template = template("report");
    template["spec"]["restartPolicy"] = json!("Never");
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("report-{number}"), "namespace": ns},
        "spec": {"template": template, "backoffLimit": 2},
    })
}

/// Writes the Secrets, and lists their values.
pub(super) fn tell_secrets(teller: &mut Teller<'_>) -> Vec<Canary> {
    let mut canaries = Vec::new();
    let scenario = teller.scenario;
    for secret in &scenario.secrets {
        let at = Moment::from_secs(secret.created_secs);
        let target = Target::namespaced("v1", "Secret", &secret.namespace, &secret.name);
        list(&mut canaries, secret, &secret.data);
        teller.script.create(at, "oc", object(secret));
        if let Some(rotated) = &secret.rotated {
            list(&mut canaries, secret, &rotated.data);
            let patch = json!({"data": encoded(&rotated.data)});
            teller
                .script
                .merge(Moment::from_secs(rotated.at_secs), "oc", &target, patch);
        }
        if let Some(deleted_secs) = secret.deleted_secs {
            let act = Act::Delete {
                target,
                grace_secs: None,
            };
            teller
                .script
                .act(Moment::from_secs(deleted_secs), "oc", act);
        }
    }
    canaries
}

fn object(secret: &SecretSpec) -> Value {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret.name, "namespace": secret.namespace},
        "type": "Opaque",
        "data": encoded(&secret.data),
    });
    if secret.applied {
        let applied = format!("{object}\n");
        object["metadata"]["annotations"] =
            json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    }
    object
}

fn encoded(data: &[(String, String)]) -> Map<String, Value> {
    data.iter()
        .map(|(key, value)| (key.clone(), json!(STANDARD.encode(value))))
        .collect()
}

fn list(canaries: &mut Vec<Canary>, secret: &SecretSpec, data: &[(String, String)]) {
    canaries.extend(data.iter().map(|(key, plain)| Canary {
        namespace: secret.namespace.clone(),
        name: secret.name.clone(),
        key: key.clone(),
        plain: plain.clone(),
    }));
}

/// Leaders renew this often.
const RENEW_EVERY_SECS: f64 = 26.0;

/// The Lease of the cluster-version operator.
pub(super) fn version_lease() -> Target {
    Target::namespaced("coordination.k8s.io/v1", "Lease", CVO_NAMESPACE, "version")
}

/// The cluster-version operator in the cluster: known by its node.
pub(super) fn version_leader() -> Leader {
    Leader::NodeOf {
        namespace: CVO_NAMESPACE.to_owned(),
        app: CVO.to_owned(),
    }
}

/// The Lease of an operator.
pub(super) fn operator_lease(operator: &Operator) -> Target {
    let name = format!("{}-lock", operator.deployment());
    Target::namespaced(
        "coordination.k8s.io/v1",
        "Lease",
        &operator.namespace,
        &name,
    )
}

/// Whose Pod leads an operator.
pub(super) fn operator_leader(operator: &Operator) -> Leader {
    Leader::PodOf {
        namespace: operator.namespace.clone(),
        app: operator.deployment(),
    }
}

/// Renews from `from` on until `until`.
pub(super) fn renew(
    teller: &mut Teller<'_>,
    lease: &Target,
    leader: &Leader,
    actor: &str,
    from: Moment,
    until: Moment,
) {
    let mut at = from + RENEW_EVERY_SECS + teller.dice.secs(2.0, &["renew", &lease.to_string()]);
    while at < until {
        teller.script.act(
            at,
            actor,
            Act::Lead {
                lease: lease.clone(),
                leader: leader.clone(),
            },
        );
        at = at + RENEW_EVERY_SECS;
    }
}

/// Says that somebody leads the cluster-version operator, or does no longer.
///
/// `term` counts who led: two leaders are two messages, whoever they will be.
pub(super) fn say_elected(teller: &mut Teller<'_>, at: Moment, term: u32, what: &str) {
    let about = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "namespace": CVO_NAMESPACE,
        "name": "version",
        "uid": format!("{{{{uid coordination.k8s.io/v1 Lease {CVO_NAMESPACE} version}}}}"),
    });
    let said = Said {
        by: CVO,
        component: "openshift-cluster-version",
        namespace: CVO_NAMESPACE,
        about,
        is_warning: false,
        reason: "LeaderElection",
        message: format!("{{{{holder {CVO_NAMESPACE} version {term}}}}} {what}"),
    };
    teller.script.say(at, &said);
}

/// All renewals of those who lead in the cluster. What changes the leader is told where it happens.
pub(super) fn tell_leases(teller: &mut Teller<'_>) {
    let end = Moment::from_secs(teller.scenario.end_secs);
    let scenario = teller.scenario;
    let takes_over = Moment::from_secs(scenario.install.cluster_takes_over_secs);
    renew(
        teller,
        &version_lease(),
        &version_leader(),
        CVO,
        takes_over,
        end,
    );
    for operator in &scenario.operators {
        let from = Moment::from_secs(scenario.install.begins_secs) + operator.available_secs;
        renew(
            teller,
            &operator_lease(operator),
            &operator_leader(operator),
            &operator.deployment(),
            from,
            end,
        );
    }
}

/// Who leads in the cluster: the name in the writes, the Lease, and the leader.
pub(in super::super) fn leaders(scenario: &Scenario) -> Vec<(String, Target, Leader)> {
    let operators = scenario.operators.iter().map(|operator| {
        (
            operator.deployment(),
            operator_lease(operator),
            operator_leader(operator),
        )
    });
    std::iter::once((CVO.to_owned(), version_lease(), version_leader()))
        .chain(operators)
        .collect()
}

/// How one operator goes through an update.
#[derive(Debug, Clone)]
pub(super) struct OperatorRoll {
    pub(super) operator: Operator,
    /// Its Deployment gets the new image.
    pub(super) patched: Moment,
    /// Its new Pod reports.
    pub(super) progressing: Moment,
    /// Its operands are all new, and it reports the new version.
    pub(super) done: Moment,
    /// It is degraded within its own update.
    pub(super) degraded: Option<(Moment, Moment)>,
}

/// A level: its operators go side by side, and the next waits for all of them.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) begins: Moment,
    pub(super) ends: Moment,
    pub(super) rolls: Vec<OperatorRoll>,
}

/// The operator whose update includes the nodes.
pub(super) const MACHINE_CONFIG: &str = "machine-config";

/// From the last operator of a level to the first write of the next.
const BETWEEN_LEVELS_SECS: f64 = 0.8;

/// Lays all levels out, the first beginning at `from`.
pub(super) fn lay_out(scenario: &Scenario, dice: Dice, from: Moment) -> Vec<Level> {
    let mut numbers: Vec<u32> = scenario
        .operators
        .iter()
        .map(|operator| operator.level)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut begins = from;
    let mut levels = Vec::new();
    for number in numbers {
        let members = scenario
            .operators
            .iter()
            .filter(|operator| operator.level == number);
        let rolls: Vec<OperatorRoll> = members
            .map(|operator| roll_of(scenario, dice, begins, operator))
            .collect();
        let settled = |roll: &OperatorRoll| {
            roll.degraded
                .map_or(roll.done, |(_, until)| until.max(roll.done))
        };
        let ends = rolls.iter().map(settled).max().unwrap_or(begins);
        levels.push(Level {
            begins,
            ends,
            rolls,
        });
        begins = ends + BETWEEN_LEVELS_SECS;
    }
    levels
}

fn roll_of(scenario: &Scenario, dice: Dice, begins: Moment, operator: &Operator) -> OperatorRoll {
    let name = operator.name.as_str();
    let patched = begins + 0.05 + dice.secs(0.1, &["patched", name]);
    let progressing = patched + 7.0 + dice.secs(1.5, &["progressing", name]);
    let operands = operator
        .operands
        .iter()
        .map(rolls_within_secs)
        .fold(1.0, f64::max);
    let nodes = if name == MACHINE_CONFIG {
        update::masters_secs(scenario)
    } else {
        0.0
    };
    let mut done = progressing + operands.max(nodes) + 1.0 + dice.secs(2.0, &["done", name]);
    let fault = &scenario.faults.degraded;
    let degraded = (fault.operator == name).then(|| {
        let from = progressing + fault.after_secs;
        (from, from + fault.for_secs)
    });
    if let Some((_, until)) = degraded {
        done = done.max(until + 0.1);
    }
    OperatorRoll {
        operator: operator.clone(),
        patched,
        progressing,
        done,
        degraded,
    }
}

/// How long an operand takes to roll, so that the story seldom has to wait for the cluster.
fn rolls_within_secs(operand: &Operand) -> f64 {
    match operand.kind {
        OperandKind::Deployment { replicas, .. } => 8.0 * f64::from(replicas),
        OperandKind::DaemonSet {} => 22.0,
    }
}

/// What the cluster-version operator says of an update at a time; `None` before and after.
pub(super) fn progress_at(scenario: &Scenario, levels: &[Level], at: Moment) -> Option<Progress> {
    let level = levels
        .iter()
        .find(|level| level.begins <= at && at < level.ends)?;
    let finished = levels
        .iter()
        .flat_map(|level| &level.rolls)
        .filter(|roll| roll.done <= at)
        .count();
    let operators = scenario.operators.len();
    let done = done(&scenario.update, operators, operators - finished);
    let pending: Vec<&str> = level
        .rolls
        .iter()
        .filter(|roll| roll.done > at)
        .map(|roll| roll.operator.name.as_str())
        .collect();
    let degraded = level
        .rolls
        .iter()
        .find(|roll| {
            roll.degraded
                .is_some_and(|(from, until)| from <= at && at < until)
        })
        .map(|roll| roll.operator.name.as_str());
    Some(match degraded {
        Some(operator) if pending.iter().all(|pending| *pending == operator) => {
            Progress::degraded(&scenario.update, done, operator)
        }
        Some(operator) => Progress::degraded_among_others(&scenario.update, operator),
        None => Progress::waiting(&scenario.update, done, &pending),
    })
}
