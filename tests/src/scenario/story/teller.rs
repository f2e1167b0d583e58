//! What the chapters share, and their order.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::cluster_version::{ClusterVersion, loaded};
use super::super::file::{Operator, Release, Scenario};
use super::super::moment::Dice;
use super::super::operator::Conditions;
use super::super::operator::OperatorStatus;
use super::super::plan::{Act, Gate};
use super::super::plan::{Landmark, Outcome, Plan, PlantedFault};
use super::super::plan::{Said, Script};
use super::super::workload::Template;
use super::super::{Moment, ScenarioError};
use super::{actors, install, update};
use crate::rest::Target;

/// The name in the cluster-version operator's writes.
pub(super) const CVO: &str = "cluster-version-operator";
/// Its namespace.
pub(super) const CVO_NAMESPACE: &str = "openshift-cluster-version";
/// It writes its status this often at most.
pub(super) const STATUS_EVERY_SECS: f64 = 15.0;

/// What the chapters share.
pub(super) struct Teller<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) dice: Dice,
    pub(super) script: Script,
    pub(super) version: ClusterVersion,
    pub(super) operators: BTreeMap<String, OperatorStatus>,
    /// Deployments and `DaemonSets` as they were created, to patch them later.
    pub(super) workloads: BTreeMap<Target, Value>,
    pub(super) faults: Vec<PlantedFault>,
    pub(super) landmarks: Vec<Landmark>,
    pub(super) version_pods: Vec<String>,
    /// The conditions of the pools, by role.
    pub(super) pools: BTreeMap<&'static str, Conditions>,
}

/// Tells a scenario from its beginning to its end.
pub(in super::super) fn tell(scenario: &Scenario) -> Result<Plan, ScenarioError> {
    let dice = Dice::new(scenario.seed);
    let begins = Moment::from_secs(scenario.install.begins_secs);
    let mut teller = Teller {
        scenario,
        dice,
        script: Script::new(dice),
        version: ClusterVersion::installing(begins + 0.5, &scenario.installed),
        operators: scenario
            .operators
            .iter()
            .map(|operator| (operator.name.clone(), OperatorStatus::new(operator)))
            .collect(),
        workloads: BTreeMap::new(),
        faults: Vec::new(),
        landmarks: Vec::new(),
        version_pods: Vec::new(),
        pools: BTreeMap::new(),
    };
    install::tell_bootstrap(&mut teller);
    install::tell(&mut teller, begins);
    install::tell_quiet(&mut teller)?;
    actors::tell(&mut teller);
    let accepted = update::tell_retrieval(&mut teller);
    let completed = update::tell(&mut teller, accepted)?;
    actors::tell_leases(&mut teller);
    let canaries = actors::tell_secrets(&mut teller);
    let end = Moment::from_secs(scenario.end_secs);
    if completed >= end {
        return Err(ScenarioError::TooShort {
            name: scenario.name.clone(),
            completed,
            end,
        });
    }
    Ok(Plan {
        name: scenario.name.clone(),
        speed: scenario.speed,
        end,
        steps: teller.script.into_steps(),
        faults: teller.faults,
        landmarks: teller.landmarks,
        canaries,
        outcome: Outcome {
            from_version: scenario.installed.version.clone(),
            version: scenario.update.version.clone(),
            operators: scenario
                .operators
                .iter()
                .map(|operator| operator.name.clone())
                .collect(),
            nodes: scenario
                .cluster
                .nodes
                .iter()
                .map(|node| node.name.clone())
                .collect(),
            version_pods: teller.version_pods,
        },
        operators: teller.operators,
    })
}

impl Teller<'_> {
    pub(super) fn landmark(&mut self, what: &'static str, at: Moment) {
        self.landmarks.push(Landmark { what, at });
    }

    pub(super) fn plant(&mut self, kind: &str, object: String, at: Moment, until: Option<Moment>) {
        self.faults.push(PlantedFault {
            kind: kind.to_owned(),
            object,
            at,
            until,
        });
    }

    /// The one `ClusterVersion`.
    pub(super) fn version_target() -> Target {
        Target::cluster_wide("config.openshift.io/v1", "ClusterVersion", "version")
    }

    /// Writes the status of `ClusterVersion` as it is now.
    pub(super) fn write_version(&mut self, at: Moment) {
        let status = self.version.to_status();
        self.script
            .update_status(at, CVO, &Self::version_target(), status);
    }

    /// Says something about `ClusterVersion`: such Events name a namespace and no uid.
    pub(super) fn say_about_version(
        &mut self,
        at: Moment,
        is_warning: bool,
        reason: &str,
        message: String,
    ) {
        let about = json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "namespace": CVO_NAMESPACE,
            "name": "version",
        });
        let said = Said {
            by: CVO,
            component: "openshift-cluster-version",
            namespace: CVO_NAMESPACE,
            about,
            is_warning,
            reason,
            message,
        };
        self.script.say(at, &said);
    }

    /// What every new process of the cluster-version operator says about its own image.
    pub(super) fn say_payload_loaded(&mut self, at: Moment, release: &Release) {
        let of = payload(release);
        self.say_about_version(
            at,
            false,
            "RetrievePayload",
            format!("Retrieving and verifying payload {of}"),
        );
        self.say_about_version(
            at + 0.014,
            false,
            "LoadPayload",
            format!("Loading payload {of}"),
        );
        self.say_about_version(at + 0.09, false, "PayloadLoaded", loaded(release));
    }

    /// Writes the status of an operator as it is now, in the operator's name.
    pub(super) fn write_operator(&mut self, at: Moment, operator: &Operator) {
        let Some(status) = self.operators.get(&operator.name) else {
            return;
        };
        let (target, status) = (status.target(), status.to_status());
        self.script
            .update_status(at, &operator.deployment(), &target, status);
    }

    /// Has something happen to an operator's status, then writes it.
    pub(super) fn change_operator(
        &mut self,
        at: Moment,
        operator: &Operator,
        change: impl FnOnce(&mut OperatorStatus),
    ) {
        if let Some(status) = self.operators.get_mut(&operator.name) {
            change(status);
        }
        self.write_operator(at, operator);
    }

    /// The same, once the cluster has come so far.
    pub(super) fn change_operator_after(
        &mut self,
        at: Moment,
        operator: &Operator,
        gate: Gate,
        change: impl FnOnce(&mut OperatorStatus),
    ) {
        let Some(status) = self.operators.get_mut(&operator.name) else {
            return;
        };
        change(status);
        let act = Act::UpdateStatus {
            target: status.target(),
            status: status.to_status(),
        };
        self.script.act_after(at, &operator.deployment(), gate, act);
    }

    /// Says something in an operator's name.
    pub(super) fn say_by(
        &mut self,
        at: Moment,
        operator: &Operator,
        is_warning: bool,
        reason: &str,
        message: String,
    ) {
        if let Some(status) = self.operators.get(&operator.name) {
            status.say(&mut self.script, at, is_warning, reason, message);
        }
    }

    /// An operator of the file.
    pub(super) fn operator(&self, name: &str) -> Result<Operator, ScenarioError> {
        self.scenario
            .operators
            .iter()
            .find(|operator| operator.name == name)
            .cloned()
            .ok_or_else(|| ScenarioError::NoSuchOperator {
                name: name.to_owned(),
            })
    }

    /// The image of a component in a release.
    pub(super) fn image(&self, release: &Release, component: &str) -> String {
        let digest = self.dice.hex(64, &["image", &release.version, component]);
        format!("registry.kubereel.example/payload@sha256:{digest}")
    }

    /// What the Pods of an operator or an operand are made of in a release.
    pub(super) fn template<'t>(&self, release: &'t Release, app: &'t str) -> Template<'t> {
        Template {
            app,
            container: app,
            image: self.image(release, app),
            version: &release.version,
        }
    }

    /// Creates a Deployment or `DaemonSet`, and remembers it.
    pub(super) fn create_workload(&mut self, at: Moment, actor: &str, object: Value) {
        if let Some(target) = Target::of(&object) {
            self.workloads.insert(target, object.clone());
        }
        self.script.create(at, actor, object);
    }
}

/// A release as Events name it.
pub(super) fn payload(release: &Release) -> String {
    format!(
        "version=\"{}\" image=\"{}\"",
        release.version, release.image
    )
}

/// The Deployment of an operator.
pub(super) fn deployment_of(operator: &Operator) -> Target {
    Target::namespaced(
        "apps/v1",
        "Deployment",
        &operator.namespace,
        &operator.deployment(),
    )
}
