//! `ClusterOperators`: what the cluster-version operator makes of them, and their operators' own writes.

use serde_json::{Value, json};

use super::Moment;
use super::conditions::Conditions;
use super::file::Operator;
use super::script::{Said, Script};
use crate::rest::Target;

const API: &str = "config.openshift.io/v1";

/// The status of one `ClusterOperator`.
#[derive(Debug, Clone)]
pub(super) struct OperatorStatus {
    operator: Operator,
    conditions: Conditions,
    version: Option<String>,
}

impl OperatorStatus {
    pub(super) fn new(operator: &Operator) -> Self {
        Self {
            operator: operator.clone(),
            conditions: Conditions::default(),
            version: None,
        }
    }

    pub(super) fn target(&self) -> Target {
        Target::cluster_wide(API, "ClusterOperator", &self.operator.name)
    }

    /// Who writes it.
    pub(super) fn actor(&self) -> String {
        self.operator.deployment()
    }

    /// Who it is.
    pub(super) const fn operator(&self) -> &Operator {
        &self.operator
    }

    /// Says one thing of itself.
    pub(super) fn set(
        &mut self,
        at: Moment,
        kind: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) {
        self.conditions.set(at, kind, status, reason, message);
    }

    /// The first report of a new operator.
    pub(super) fn start(&mut self, at: Moment, version: &str) {
        let name = self.operator.name.clone();
        self.conditions
            .set(at, "Degraded", "False", "AsExpected", "All is well");
        let working = format!("Working towards {version}");
        self.conditions
            .set(at, "Progressing", "True", "Initializing", &working);
        self.conditions.set(
            at,
            "Available",
            "False",
            "Initializing",
            &format!("{name} has not reported yet"),
        );
        self.conditions
            .set(at, "Upgradeable", "True", "AsExpected", "All is well");
        self.conditions
            .set(at, "EvaluationConditionsDetected", "Unknown", "NoData", "");
    }

    pub(super) fn progress(&mut self, at: Moment, reason: &str, message: &str) {
        self.conditions
            .set(at, "Progressing", "True", reason, message);
    }

    /// Everything runs at this version.
    pub(super) fn arrive(&mut self, at: Moment, version: &str) {
        let name = self.operator.name.clone();
        let message = format!("All replicas are at {version}");
        self.conditions
            .set(at, "Progressing", "False", "AsExpected", &message);
        self.conditions.set(
            at,
            "Available",
            "True",
            "AsExpected",
            &format!("{name} is available at {version}"),
        );
        self.version = Some(version.to_owned());
    }

    pub(super) fn degrade(&mut self, at: Moment, reason: &str, message: &str) {
        self.conditions.set(at, "Degraded", "True", reason, message);
    }

    pub(super) fn recover(&mut self, at: Moment) {
        self.conditions
            .set(at, "Degraded", "False", "AsExpected", "All is well");
    }

    pub(super) fn fail(&mut self, at: Moment, reason: &str, message: &str) {
        self.conditions
            .set(at, "Available", "False", reason, message);
    }

    pub(super) fn serve_again(&mut self, at: Moment) {
        let name = self.operator.name.clone();
        let version = self.version.clone().unwrap_or_default();
        self.conditions.set(
            at,
            "Available",
            "True",
            "AsExpected",
            &format!("{name} is available at {version}"),
        );
    }

    /// The whole status, with the related objects that the cluster-version operator wrote first.
    pub(super) fn to_status(&self) -> Value {
        let mut status = related_objects(&self.operator);
        status["conditions"] = self.conditions.to_json();
        if let Some(version) = &self.version {
            let mut versions = vec![json!({"name": "operator", "version": version})];
            versions.extend(
                self.operator
                    .operands
                    .iter()
                    .map(|operand| json!({"name": operand.name, "version": version})),
            );
            status["versions"] = Value::Array(versions);
        }
        status
    }

    /// Says what happened, as the operator's own Event about its Deployment.
    pub(super) fn say(
        &self,
        script: &mut Script,
        at: Moment,
        is_warning: bool,
        reason: &str,
        message: String,
    ) {
        let deployment = self.operator.deployment();
        let namespace = &self.operator.namespace;
        let about = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": namespace,
            "name": deployment,
            "uid": format!("{{{{uid apps/v1 Deployment {namespace} {deployment}}}}}"),
        });
        script.say(
            at,
            &Said {
                by: &deployment,
                component: &deployment,
                namespace,
                about,
                is_warning,
                reason,
                message,
            },
        );
    }
}

/// The object as the cluster-version operator creates it from the payload: without a status.
pub(super) fn created(operator: &Operator) -> Value {
    json!({
        "apiVersion": API,
        "kind": "ClusterOperator",
        "metadata": {
            "name": operator.name,
            "annotations": {
                "include.release.openshift.io/self-managed-high-availability": "true",
                "include.release.openshift.io/single-node-developer": "true",
            },
            "ownerReferences": [{
                "apiVersion": API,
                "kind": "ClusterVersion",
                "name": "version",
                "uid": "{{uid config.openshift.io/v1 ClusterVersion - version}}",
                "controller": true,
            }],
        },
        "spec": {},
    })
}

/// The one status the cluster-version operator writes itself.
pub(super) fn related_objects(operator: &Operator) -> Value {
    let mut related = vec![
        json!({"group": "", "resource": "namespaces", "name": operator.namespace}),
        json!({
            "group": "apps", "resource": "deployments",
            "namespace": operator.namespace, "name": operator.deployment(),
        }),
    ];
    related.extend(
        operator.operands.iter().map(
            |operand| json!({"group": "", "resource": "namespaces", "name": operand.namespace}),
        ),
    );
    json!({"extension": null, "relatedObjects": related})
}
