//! Lays a scenario out as steps: the entries of the base and of the faults that are switched on, by
//! time. Refuses to play them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::cluster_version::ClusterVersion;
use super::super::file::Operator;
use super::super::moment::Dice;
use super::super::operator::{self, OperatorStatus, Progress};
use super::super::plan::{Act, Said, Script, Step};
use super::super::story::namespace;
use super::super::{Moment, ScenarioError, file};
use super::file::{Doing, Entry, Monitored};
use super::release;
use crate::kubelet::NodeRole;
use crate::rest::Target;

/// Who writes what no operator does.
const USER: &str = "oc";
/// From the first moment to the first entries.
const SET_UP_SECS: f64 = 0.5;

impl Monitored {
    /// Lays the base out with some faults; unknown names are refused.
    ///
    /// # Errors
    ///
    /// It contradicts itself.
    pub fn steps(&self, on: &BTreeSet<&str>) -> Result<Vec<Step>, ScenarioError> {
        for name in on {
            if !self.faults.iter().any(|fault| fault.name == *name) {
                let message = format!("no fault is named {name}");
                return Err(ScenarioError::Unreadable { message });
            }
        }
        let faults = || {
            self.faults
                .iter()
                .filter(|fault| on.contains(fault.name.as_str()))
        };
        let gone: BTreeSet<&str> = faults()
            .flat_map(|fault| fault.instead_of.iter().map(String::as_str))
            .collect();
        let is_there = |entry: &&Entry| {
            !entry
                .label
                .as_ref()
                .is_some_and(|label| gone.contains(label.as_str()))
        };
        let mut entries: Vec<&Entry> = self
            .base
            .iter()
            .filter(is_there)
            .chain(faults().flat_map(|fault| &fault.entries))
            .collect();
        // Operators keep what they said before: what is laid out has to be in order.
        entries.sort_by(|one, other| one.at_secs.total_cmp(&other.at_secs));
        let mut state = State::new(self);
        set_up(&mut state);
        for entry in later_halves(&entries) {
            let at = Moment::from_secs(entry.at_secs);
            lay(&mut state, at, &entry.act)?;
        }
        Ok(state.script.into_steps())
    }
}

/// Cuts what lasts into its begin and its end, and sorts again.
fn later_halves(entries: &[&Entry]) -> Vec<Entry> {
    let mut all = Vec::new();
    for entry in entries {
        all.push((*entry).clone());
        if let Doing::RollOperator { name, for_secs } = &entry.act {
            all.push(Entry {
                at_secs: entry.at_secs + for_secs,
                label: None,
                act: Doing::RollOperator {
                    name: name.clone(),
                    for_secs: 0.0,
                },
            });
        }
    }
    all.sort_by(|one, other| one.at_secs.total_cmp(&other.at_secs));
    all
}

/// What is there before anything happens.
fn set_up(state: &mut State<'_>) {
    let at = Moment::from_secs(SET_UP_SECS);
    let of = state.of;
    for name in &of.namespaces {
        state.script.create(at, USER, namespace(name));
    }
    for kind in [
        "ClusterVersion",
        "ClusterOperator",
        "Infrastructure",
        "Network",
    ] {
        if let Some(definition) = file::definition_of(kind) {
            state.script.create(at + 0.1, USER, definition);
        }
    }
    release::install(state, at + 0.3);
    state.install_operators(at + 0.5);
    release::join(state);
}

fn lay(state: &mut State<'_>, at: Moment, act: &Doing) -> Result<(), ScenarioError> {
    match act {
        Doing::Create { object } => state.script.create(at, USER, object.clone()),
        Doing::Merge { target, patch } => {
            state
                .script
                .merge(at, USER, &target.target(), patch.clone());
        }
        Doing::Delete { target, grace_secs } => {
            let (target, grace_secs) = (target.target(), *grace_secs);
            state
                .script
                .act(at, USER, Act::Delete { target, grace_secs });
        }
        Doing::Workload(workload) => {
            for object in workload.objects() {
                state.script.create(at, USER, object);
            }
        }
        Doing::Fate { pods, fate } => {
            let (pods, fate) = (pods.clone(), fate.clone());
            state.script.act(at, "harness", Act::Script { pods, fate });
        }
        Doing::Operator {
            name,
            condition,
            status,
            reason,
            message,
        } => state.change_operator(at, name, |operator| {
            operator.set(at, condition, status, reason, message);
        })?,
        Doing::RollOperator { name, for_secs } => {
            release::roll_operator(state, at, name, *for_secs > 0.0)?;
        }
        Doing::Retrieve {
            attempt,
            for_secs,
            fails,
        } => release::lay(state, at, *attempt, *for_secs, fails.as_deref()),
        Doing::Accept {} => release::accept(state, at),
        Doing::Report { done, waiting } => {
            let names: Vec<&str> = waiting.iter().map(String::as_str).collect();
            let update = &state.of.update;
            let progress = if names.is_empty() {
                Progress::done(update, *done)
            } else {
                Progress::waiting(update, *done, &names)
            };
            state.version.report(at, &progress);
            state.write_version(at);
        }
        Doing::Version {
            condition,
            status,
            reason,
            message,
        } => {
            state.version.set(at, condition, status, reason, message);
            state.write_version(at);
        }
        Doing::Complete {} => release::complete(state, at),
        Doing::Say { .. } => say(state, at, act),
        Doing::Reboot {
            node,
            down_secs,
            not_ready_secs,
        } => release::reboot(state, at, node, *down_secs, *not_ready_secs),
        Doing::RollNode { node, drains_secs } => release::roll(state, at, node, *drains_secs),
    }
    Ok(())
}

fn say(state: &mut State<'_>, at: Moment, act: &Doing) {
    let Doing::Say {
        about,
        namespace,
        component,
        reason,
        message,
        is_warning,
        times,
        every_secs,
    } = act
    else {
        return;
    };
    let place = namespace
        .as_deref()
        .or(about.namespace.as_deref())
        .unwrap_or("default");
    let said = Said {
        by: component,
        component,
        namespace: place,
        about: reference(&about.target()),
        is_warning: *is_warning,
        reason,
        message: message.clone(),
    };
    for nth in 0..*times {
        state.script.say(at + f64::from(nth) * every_secs, &said);
    }
}

/// What an Event names. Components give a node's name as its uid, and `ClusterVersion` none.
fn reference(target: &Target) -> Value {
    let mut about = json!({
        "apiVersion": target.api_version,
        "kind": target.kind,
        "name": target.name,
    });
    if let Some(namespace) = &target.namespace {
        about["namespace"] = json!(namespace);
    }
    match target.kind.as_str() {
        "ClusterVersion" => {}
        "Node" => about["uid"] = json!(target.name),
        kind => {
            let namespace = target.namespace.as_deref().unwrap_or("-");
            about["uid"] = json!(format!(
                "{{{{uid {} {kind} {namespace} {}}}}}",
                target.api_version, target.name
            ));
        }
    }
    about
}

/// Who writes `ClusterVersion`.
pub(super) const CVO: &str = "cluster-version-operator";
/// Where the operator of operators lives.
pub(super) const CVO_NAMESPACE: &str = "openshift-cluster-version";

/// What has been said so far, and the list into which more is written.
pub(super) struct State<'m> {
    pub(super) of: &'m Monitored,
    pub(super) script: Script,
    pub(super) dice: Dice,
    pub(super) version: ClusterVersion,
    operators: BTreeMap<String, OperatorStatus>,
}

impl<'m> State<'m> {
    pub(super) fn new(of: &'m Monitored) -> Self {
        let dice = Dice::new(of.seed);
        let operators = of.operators.iter().map(|component| {
            let operator = Operator {
                name: component.name.clone(),
                namespace: component.namespace.clone(),
                level: 0,
                available_secs: 0.0,
                operands: Vec::new(),
            };
            (component.name.clone(), OperatorStatus::new(&operator))
        });
        Self {
            of,
            script: Script::new(dice),
            dice,
            version: ClusterVersion::installing(Moment::default(), &of.installed),
            operators: operators.collect(),
        }
    }

    /// An operator is there and well.
    pub(super) fn install_operators(&mut self, at: Moment) {
        let names: Vec<String> = self.operators.keys().cloned().collect();
        for name in names {
            if let Some(status) = self.operators.get(&name) {
                self.script
                    .create(at, CVO, operator::created(status.operator()));
            }
            let version = self.of.installed.version.clone();
            self.change_operator(at + 0.1, &name, |status| {
                status.start(at, &version);
                status.arrive(at, &version);
            })
            .unwrap_or_default();
        }
    }

    /// Changes what an operator says of itself, and writes it.
    pub(super) fn change_operator(
        &mut self,
        at: Moment,
        name: &str,
        change: impl FnOnce(&mut OperatorStatus),
    ) -> Result<(), ScenarioError> {
        let Some(status) = self.operators.get_mut(name) else {
            return Err(ScenarioError::NoSuchOperator {
                name: name.to_owned(),
            });
        };
        change(status);
        let (target, actor) = (status.target(), status.actor());
        self.script
            .update_status(at, &actor, &target, status.to_status());
        Ok(())
    }

    /// Writes what the operator of operators says.
    pub(super) fn write_version(&mut self, at: Moment) {
        self.script
            .update_status(at, CVO, &version_target(), self.version.to_status());
    }
}

/// The one `ClusterVersion`.
pub(super) fn version_target() -> Target {
    Target::cluster_wide("config.openshift.io/v1", "ClusterVersion", "version")
}

/// A Deployment or the like.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Workload {
    pub(super) namespace: String,
    pub(super) name: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default = "two")]
    replicas: u32,
    #[serde(default = "worker")]
    on: NodeRole,
    /// All replicas go to this node.
    #[serde(default)]
    node: Option<String>,
    #[serde(default)]
    lacks: Vec<Lack>,
    /// The budget's spec, without the selector.
    #[serde(default)]
    budget: Option<Value>,
}

const fn two() -> u32 {
    2
}

const fn worker() -> NodeRole {
    NodeRole::Worker
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    #[default]
    Deployment,
    StatefulSet,
    DaemonSet,
}

/// What a workload may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lack {
    Budget,
    /// It has one, but for another app.
    AntiAffinity,
    Liveness,
    Readiness,
    Startup,
    Priority,
    Requests,
    ServiceAccount,
    RequiredScc,
    TerminationPolicy,
}

impl Workload {
    fn has(&self, what: Lack) -> bool {
        !self.lacks.contains(&what)
    }

    /// The objects, in the order in which they are created.
    pub(super) fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        if self.has(Lack::ServiceAccount) {
            objects.push(json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": self.name, "namespace": self.namespace},
            }));
        }
        objects.extend(self.budget());
        objects.push(self.object());
        objects
    }

    fn budget(&self) -> Option<Value> {
        if self.kind == Kind::DaemonSet || self.replicas < 2 || !self.has(Lack::Budget) {
            return None;
        }
        let mut spec = self
            .budget
            .clone()
            .unwrap_or_else(|| json!({"maxUnavailable": 1}));
        spec["selector"] = json!({"matchLabels": {"app": self.name}});
        spec["unhealthyPodEvictionPolicy"] = json!("AlwaysAllow");
        Some(json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        }))
    }

    fn object(&self) -> Value {
        let mut spec = json!({
            "selector": {"matchLabels": {"app": self.name}},
            "template": self.template(),
        });
        let kind = match self.kind {
            Kind::Deployment => {
                spec["replicas"] = json!(self.replicas);
                spec["strategy"] = json!({
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
                });
                "Deployment"
            }
            Kind::StatefulSet => {
                spec["replicas"] = json!(self.replicas);
                spec["serviceName"] = json!(self.name);
                "StatefulSet"
            }
            Kind::DaemonSet => {
                spec["updateStrategy"] =
                    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "33%"}});
                "DaemonSet"
            }
        };
        json!({
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        })
    }

    fn template(&self) -> Value {
        let mut meta = json!({"labels": {"app": self.name}});
        if self.has(Lack::RequiredScc) {
            meta["annotations"] = json!({"openshift.io/required-scc": "restricted-v2"});
        }
        let mut spec = json!({
            "containers": [self.container()],
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
            ],
        });
        if self.has(Lack::Priority) {
            spec["priorityClassName"] = json!("system-cluster-critical");
        }
        if self.has(Lack::ServiceAccount) {
            spec["serviceAccountName"] = json!(self.name);
        }
        if self.kind == Kind::DaemonSet {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        } else {
            let mut selector = json!({});
            selector[format!("node-role.kubernetes.io/{}", self.on.name())] = json!("");
            spec["nodeSelector"] = selector;
            self.place(&mut spec);
        }
        json!({"metadata": meta, "spec": spec})
    }

    fn place(&self, spec: &mut Value) {
        let hard = "requiredDuringSchedulingIgnoredDuringExecution";
        if self.replicas > 1 {
            let app = if self.has(Lack::AntiAffinity) {
                &self.name
            } else {
                "another"
            };
            spec["affinity"]["podAntiAffinity"][hard] = json!([{
                "labelSelector": {"matchLabels": {"app": app}},
                "topologyKey": "kubernetes.io/hostname",
            }]);
        }
        if let Some(node) = &self.node {
            spec["affinity"]["nodeAffinity"][hard]["nodeSelectorTerms"] = json!([{
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}],
            }]);
        }
    }

    fn container(&self) -> Value {
        let mut container = json!({
            "name": self.name,
            "image": format!("registry.kubereel.example/payload/{}:4", self.name),
            "ports": [{"name": "https", "containerPort": 8443}],
            "resources": {},
        });
        if self.has(Lack::Requests) {
            container["resources"] = json!({"requests": {"cpu": "10m", "memory": "50Mi"}});
        }
        for (lack, probe, path) in [
            (Lack::Liveness, "livenessProbe", "/healthz"),
            (Lack::Readiness, "readinessProbe", "/readyz"),
            (Lack::Startup, "startupProbe", "/healthz"),
        ] {
            if self.has(lack) {
                container[probe] = json!({"httpGet": {"path": path, "port": 8443}});
            }
        }
        if self.has(Lack::TerminationPolicy) {
            container["terminationMessagePolicy"] = json!("FallbackToLogsOnError");
        }
        container
    }
}
