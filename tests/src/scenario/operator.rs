//! `ClusterOperators`: what the cluster-version operator makes of them, and their operators' own writes.

use serde_json::{Value, json};

use super::Moment;
use super::file::{Operator, Release};
use super::plan::{Said, Script};
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

/// A list of conditions in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    entries: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
struct Condition {
    kind: String,
    status: String,
    reason: String,
    message: String,
    since: Moment,
}

impl Conditions {
    /// Sets a condition; true when anything about it changed.
    pub(super) fn set(
        &mut self,
        at: Moment,
        kind: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) -> bool {
        let Some(known) = self.entries.iter_mut().find(|entry| entry.kind == kind) else {
            let (reason, message) = (reason.to_owned(), message.to_owned());
            self.entries.push(Condition {
                kind: kind.to_owned(),
                status: status.to_owned(),
                reason,
                message,
                since: at,
            });
            return true;
        };
        let before = known.clone();
        if known.status != status {
            known.since = at;
        }
        status.clone_into(&mut known.status);
        reason.clone_into(&mut known.reason);
        message.clone_into(&mut known.message);
        *known != before
    }

    /// Takes a condition away; true when it was there.
    pub(super) fn remove(&mut self, kind: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.kind != kind);
        self.entries.len() != before
    }

    /// As in `status.conditions`; empty reasons and messages are left out.
    pub(super) fn to_json(&self) -> Value {
        let entries = self.entries.iter().map(|entry| {
            let mut value = json!({
                "type": entry.kind,
                "status": entry.status,
                "lastTransitionTime": entry.since.stamp(),
            });
            if !entry.reason.is_empty() {
                value["reason"] = json!(entry.reason);
            }
            if !entry.message.is_empty() {
                value["message"] = json!(entry.message);
            }
            value
        });
        Value::Array(entries.collect())
    }
}

/// How far an update is, as the operator reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) progressing_reason: String,
    pub(super) progressing: String,
    /// Reason and message, when something fails.
    pub(super) failing: Option<(String, String)>,
}

impl Progress {
    /// Nothing to wait for: so many manifests are done.
    pub(super) fn done(release: &Release, done: u32) -> Self {
        Self {
            progressing_reason: String::new(),
            progressing: done_of(release, done),
            failing: None,
        }
    }

    /// Waits for operators that are still on their way.
    pub(super) fn waiting(release: &Release, done: u32, operators: &[&str]) -> Self {
        let plural = if operators.len() == 1 { "" } else { "s" };
        Self {
            progressing_reason: format!("ClusterOperator{plural}Updating"),
            progressing: format!(
                "{}, waiting on {}",
                done_of(release, done),
                operators.join(", ")
            ),
            failing: None,
        }
    }

    /// One operator is degraded and nothing else is left to wait for.
    pub(super) fn degraded(release: &Release, done: u32, operator: &str) -> Self {
        Self {
            progressing_reason: "ClusterOperatorDegraded".to_owned(),
            progressing: format!(
                "{}, waiting up to 40 minutes on {operator}",
                done_of(release, done)
            ),
            failing: None,
        }
    }

    /// One operator is degraded while others of its level are on their way.
    pub(super) fn degraded_among_others(release: &Release, operator: &str) -> Self {
        Self {
            progressing_reason: "MultipleErrors".to_owned(),
            progressing: format!(
                "Unable to apply {}: an unknown error has occurred: MultipleErrors",
                release.version
            ),
            failing: Some((
                "ClusterOperatorDegraded".to_owned(),
                format!("Cluster operator {operator} is degraded"),
            )),
        }
    }

    /// Operators are not available: seen during an installation.
    pub(super) fn not_available(release: &Release, operators: &[&str]) -> Self {
        let (reason, progressing, failing) = match operators {
            [one] => (
                "ClusterOperatorNotAvailable",
                format!("the cluster operator {one} is not available"),
                format!("Cluster operator {one} is not available"),
            ),
            many => (
                "ClusterOperatorsNotAvailable",
                "some cluster operators are not available".to_owned(),
                format!("Cluster operators {} are not available", many.join(", ")),
            ),
        };
        Self {
            progressing_reason: reason.to_owned(),
            progressing: format!("Unable to apply {}: {progressing}", release.version),
            failing: Some((reason.to_owned(), failing)),
        }
    }

    /// The first words of an operator process.
    pub(super) fn bare(release: &Release) -> Self {
        Self {
            progressing_reason: String::new(),
            progressing: format!("Working towards {}", release.version),
            failing: None,
        }
    }
}

/// So many manifests of a release are done.
pub(super) fn done_of(release: &Release, done: u32) -> String {
    let percent = done * 100 / release.manifests.max(1);
    format!(
        "Working towards {}: {done} of {} done ({percent}% complete)",
        release.version, release.manifests
    )
}

#[cfg(test)]
mod conditions_tests {
    use super::*;

    #[test]
    fn only_a_flip_moves_the_time() {
        let mut conditions = Conditions::default();
        assert!(conditions.set(Moment::from_secs(1.0), "Available", "True", "", "one"));
        assert!(conditions.set(Moment::from_secs(2.0), "Available", "True", "", "two"));
        assert!(!conditions.set(Moment::from_secs(3.0), "Available", "True", "", "two"));
        assert_eq!(
            conditions.to_json()[0]["lastTransitionTime"],
            "{{secs 1000}}"
        );
        assert!(conditions.set(Moment::from_secs(4.0), "Available", "False", "", "two"));
        assert_eq!(
            conditions.to_json()[0]["lastTransitionTime"],
            "{{secs 4000}}"
        );
        assert!(conditions.remove("Available") && !conditions.remove("Available"));
    }
}

#[cfg(test)]
mod progress_tests {
    use super::*;

    #[test]
    fn progress_is_worded_by_what_is_waited_for() {
        let release = Release {
            version: "1.0.1".to_owned(),
            image: "registry.example/r@sha256:0".to_owned(),
            manifests: 50,
        };
        let one = Progress::waiting(&release, 25, &["etcd"]);
        assert_eq!(one.progressing_reason, "ClusterOperatorUpdating");
        assert_eq!(
            one.progressing,
            "Working towards 1.0.1: 25 of 50 done (50% complete), waiting on etcd"
        );
        let two = Progress::waiting(&release, 25, &["dns", "network"]);
        assert_eq!(two.progressing_reason, "ClusterOperatorsUpdating");
        assert!(
            Progress::not_available(&release, &["a", "b"])
                .failing
                .unwrap()
                .1
                .contains("a, b")
        );
    }
}
