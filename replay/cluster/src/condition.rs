//! The one reading of status conditions. A field that is absent or of another type reads as empty:
//! an object without a field makes no statement about it.

use kubereel_format::RecordedAt;
use kubereel_history::field::{ObservedGeneration, at, items, number};
use kubereel_history::timetext;
use serde_json::Value;
use std::collections::BTreeSet;

/// A condition of an object's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCondition<'a> {
    /// Its type.
    pub kind: &'a str,
    /// `True`, `False` or `Unknown`; empty if it has none.
    pub status: &'a str,
    /// Its reason; may be empty.
    pub reason: &'a str,
    /// Its message; may be empty.
    pub message: &'a str,
    last_transition: &'a str,
    severity: &'a str,
}

impl<'a> StatusCondition<'a> {
    /// Reads an item of `status.conditions`.
    pub fn of(item: &'a Value) -> Self {
        let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
        Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            last_transition: text("lastTransitionTime"),
            severity: text("severity"),
        }
    }

    /// Returns the conditions of an object, in its order; of several of one type, the first.
    pub fn all(object: &'a Value) -> impl Iterator<Item = Self> {
        Self::first_of_each(Self::items(object))
    }

    /// Reads items of `status.conditions`. A type stands for one condition: of several items of one type, the first
    /// counts, as kubectl and the operators' own libraries look conditions up.
    pub(crate) fn first_of_each(
        items: impl IntoIterator<Item = &'a Value>,
    ) -> impl Iterator<Item = Self> {
        let mut kinds = BTreeSet::new();
        let all = items.into_iter().map(Self::of);
        all.filter(move |one| kinds.insert(one.kind))
    }

    /// Returns the items of an object's `status.conditions`.
    pub(crate) fn items(object: &'a Value) -> &'a [Value] {
        let list = object.get("status").and_then(|it| it.get("conditions"));
        list.and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    }

    /// Finds the condition of a type in a list of them; the first if there are several.
    pub fn find(items: &'a [Value], kind: &str) -> Option<Self> {
        items.iter().map(Self::of).find(|one| one.kind == kind)
    }

    /// Returns whether it has a status.
    pub fn is(&self, status: &str) -> bool {
        self.status == status
    }

    /// Returns whether its controller says that it is for information: what it waits for takes its time, as the
    /// Cluster API and Knative report it.
    pub(crate) fn is_informative(&self) -> bool {
        self.severity == "Info"
    }

    /// Returns `lastTransitionTime`, by the writer's clock.
    pub fn since(&self) -> Option<RecordedAt> {
        timetext::parsed(self.last_transition)
    }
}

/// Fields by which an object says that it rests on purpose: the pointer, the value, and the word for it.
const RESTING_FIELDS: &[(&str, &str, &str)] = &[
    // Flux, the Cluster API and many others.
    ("/spec/suspend", "true", "suspended"),
    ("/spec/paused", "true", "suspended"),
    // KubeVirt. `Stopped` is also the machine of a guest that shut itself down.
    ("/spec/runStrategy", "Halted", "stopped"),
    ("/spec/running", "false", "stopped"),
    ("/status/printableStatus", "Stopped", "stopped"),
    // Clusters of Hive.
    ("/spec/powerState", "Hibernating", "hibernating"),
    // Revisions of Crossplane's packages that another one replaced.
    ("/spec/desiredState", "Inactive", "inactive"),
    // Volumes of KubeVirt's importer are filled for the first Pod that uses them.
    ("/status/phase", "WaitForFirstConsumer", "not used yet"),
    ("/status/phase", "PendingPopulation", "not used yet"),
    // Rollouts of Argo between two steps, volumes between two parts of a warm migration.
    ("/status/phase", "Paused", "paused"),
];

/// Annotations that let a controller pause, unless their value is `false`: some need no value.
const PAUSING_ANNOTATIONS: [&str; 7] = [
    "crossplane.io/paused",
    "cluster.x-k8s.io/paused",
    "baremetalhost.metal3.io/paused",
    "autoscaling.keda.sh/paused",
    "autoscaling.keda.sh/paused-replicas",
    "strimzi.io/pause-reconciliation",
    "hive.openshift.io/reconcile-pause",
];

/// Conditions by which a controller says that an object rests: the type, the status, and the word for it.
const RESTING_CONDITIONS: &[(&str, &str, &str)] = &[
    ("Paused", "True", "paused"),
    ("ReconciliationPaused", "True", "paused"),
    ("Suspended", "True", "suspended"),
    // A network policy of nmstate that selects no Node.
    ("Ignored", "True", "ignored"),
    // A Node of Karpenter that is being replaced.
    ("Disrupting", "True", "disrupting"),
    // A workload that waits in a queue of Kueue.
    ("QuotaReserved", "False", "queued"),
];

/// Crossplane's reason for a condition of a paused object.
const PAUSED_REASON: &str = "ReconcilePaused";

/// Returns the word for an object that rests on purpose by its own fields.
fn resting_by_fields(object: &Value) -> Option<&'static str> {
    let mut fields = RESTING_FIELDS.iter();
    let field = fields.find(|(pointer, value, _)| match at(object, pointer) {
        Some(Value::Bool(flag)) => flag.to_string() == *value,
        Some(Value::String(word)) => word == value,
        _ => false,
    });
    if let Some((.., word)) = field {
        return Some(word);
    }
    let annotations = at(object, "/metadata/annotations");
    let mut pausing = PAUSING_ANNOTATIONS
        .iter()
        .filter_map(|name| annotations?.get(name)?.as_str());
    pausing.any(|value| value != "false").then_some("paused")
}

/// Returns the word for an object that rests on purpose by its conditions.
fn resting_by_conditions(conditions: &[StatusCondition<'_>]) -> Option<&'static str> {
    let word = |one: &StatusCondition<'_>| {
        if one.reason == PAUSED_REASON {
            return Some("paused");
        }
        let mut known = RESTING_CONDITIONS.iter();
        let known = known.find(|(kind, status, _)| (*kind, *status) == (one.kind, one.status));
        known.map(|(.., word)| *word)
    };
    conditions.iter().find_map(word)
}

/// What a controller reports about the present of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerReport<'a> {
    /// The object rests on purpose: it is suspended, paused, stopped, or waits for its turn, as the word says. Its
    /// conditions describe the past, or that it rests.
    Suspended(&'static str),
    /// The controller has not observed this generation of the object yet.
    Outdated,
    /// The conditions, without those of an older generation.
    Conditions(Vec<StatusCondition<'a>>),
}

impl<'a> ControllerReport<'a> {
    /// The fields that decide what it is, as paths with dots.
    pub const PATHS: &'static [&'static str] = &[
        "metadata.generation",
        "metadata.annotations[crossplane.io/paused]",
        "metadata.annotations[cluster.x-k8s.io/paused]",
        "metadata.annotations[baremetalhost.metal3.io/paused]",
        "metadata.annotations[autoscaling.keda.sh/paused]",
        "metadata.annotations[autoscaling.keda.sh/paused-replicas]",
        "metadata.annotations[strimzi.io/pause-reconciliation]",
        "metadata.annotations[hive.openshift.io/reconcile-pause]",
        "spec.suspend",
        "spec.paused",
        "spec.runStrategy",
        "spec.running",
        "spec.powerState",
        "spec.desiredState",
        "status.printableStatus",
        "status.phase",
        "status.observedGeneration",
        "status.conditions.type",
        "status.conditions.status",
        "status.conditions.reason",
        "status.conditions.severity",
        "status.conditions.observedGeneration",
    ];

    /// Reads an object.
    pub fn of(object: &'a Value) -> Self {
        if let Some(word) = resting_by_fields(object) {
            return Self::Suspended(word);
        }
        let generation = number(object, "/metadata/generation");
        let is_old = |observed: Option<i64>| {
            ObservedGeneration::of(observed, generation) == ObservedGeneration::Older
        };
        let raw = items(object, "/status/conditions").iter();
        let present = raw.filter(|item| !is_old(number(item, "/observedGeneration")));
        let present: Vec<_> = StatusCondition::first_of_each(present).collect();
        // Some controllers note the generation when they have finished: a failure is said before.
        let has_failed = present.iter().any(StatusCondition::has_failed);
        if let Some(word) = resting_by_conditions(&present).filter(|_| !has_failed) {
            return Self::Suspended(word);
        }
        if is_old(number(object, "/status/observedGeneration")) && !has_failed {
            return Self::Outdated;
        }
        Self::Conditions(present)
    }
}

/// Returns the words for a condition: `Degraded=True Reason`.
pub(crate) fn condition_word(kind: &str, status: &str, reason: &str) -> String {
    let gap = if reason.is_empty() { "" } else { " " };
    format!("{kind}={status}{gap}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_two_conditions_of_one_type_the_first_counts() {
        let of = |status: &str| json!({"type": "Degraded", "status": status});
        let object = json!({"status": {"conditions": [of("False"), of("True")]}});
        let read = |all: &mut dyn Iterator<Item = StatusCondition<'_>>| {
            all.map(|one| one.status.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(read(&mut StatusCondition::all(&object)), ["False"]);
        let ControllerReport::Conditions(reported) = ControllerReport::of(&object) else {
            panic!("conditions");
        };
        assert_eq!(read(&mut reported.into_iter()), ["False"]);
    }

    #[test]
    fn what_is_of_an_older_generation_says_nothing_of_the_present() {
        let ready = json!({"type": "Ready", "status": "False"});
        let older = json!({"type": "Synced", "status": "True", "observedGeneration": 1});
        let mut object = json!({"metadata": {"generation": 2},
            "status": {"conditions": [ready, older]}});
        let ControllerReport::Conditions(all) = ControllerReport::of(&object) else {
            panic!("conditions");
        };
        let kinds: Vec<&str> = all.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, ["Ready"]);
        object["status"]["observedGeneration"] = json!(1);
        assert_eq!(ControllerReport::of(&object), ControllerReport::Outdated);
        object["status"]["conditions"][0]["reason"] = json!("FailedToShrink");
        let report = ControllerReport::of(&object);
        assert!(matches!(report, ControllerReport::Conditions(_)));
        object["spec"] = json!({"suspend": true});
        let suspended = ControllerReport::Suspended("suspended");
        assert_eq!(ControllerReport::of(&object), suspended);
    }

    #[test]
    fn an_object_that_rests_on_purpose_says_so_in_fields_annotations_or_conditions() {
        let of = |object: Value| match ControllerReport::of(&object) {
            ControllerReport::Suspended(word) => word,
            _ => "",
        };
        let unready = json!({"type": "Ready", "status": "False"});
        let with = |more: Value| json!({"status": {"conditions": [unready, more]}});
        assert_eq!(of(json!({"spec": {"runStrategy": "Halted"}})), "stopped");
        assert_eq!(of(json!({"spec": {"running": false}})), "stopped");
        assert_eq!(of(json!({"spec": {"running": true}})), "");
        let unused = json!({"status": {"phase": "WaitForFirstConsumer"}});
        assert_eq!(of(unused), "not used yet");
        let annotated =
            |value: &str| json!({"metadata": {"annotations": {"crossplane.io/paused": value}}});
        assert_eq!(of(annotated("true")), "paused");
        assert_eq!(of(annotated("false")), "");
        assert_eq!(
            of(with(json!({"type": "Paused", "status": "True"}))),
            "paused"
        );
        assert_eq!(of(with(json!({"type": "Paused", "status": "False"}))), "");
        let queued = json!({"type": "QuotaReserved", "status": "False"});
        assert_eq!(of(with(queued)), "queued");
        let synced = json!({"type": "Synced", "status": "False", "reason": "ReconcilePaused"});
        assert_eq!(of(with(synced)), "paused");
        // A failure is reported, whatever else rests.
        let mut failed = with(json!({"type": "Paused", "status": "True"}));
        failed["status"]["conditions"][0]["reason"] = json!("InvalidSpec");
        assert_eq!(of(failed), "");
    }

    #[test]
    fn every_field_that_is_read_is_asked_for() {
        let fields = RESTING_FIELDS.iter().map(|(pointer, ..)| {
            let path = pointer.trim_start_matches('/');
            path.replace('/', ".")
        });
        let annotations = PAUSING_ANNOTATIONS.iter();
        let annotations = annotations.map(|name| format!("metadata.annotations[{name}]"));
        for path in fields.chain(annotations) {
            assert!(ControllerReport::PATHS.contains(&path.as_str()), "{path}");
        }
    }
}
