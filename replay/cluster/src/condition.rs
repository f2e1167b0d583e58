//! The one reading of status conditions. A field that is absent or of another type reads as empty:
//! an object without a field makes no statement about it.

use kubereel_format::RecordedAt;
use kubereel_history::field::{ObservedGeneration, is_true, items, number};
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

    /// Returns `lastTransitionTime`, by the writer's clock.
    pub fn since(&self) -> Option<RecordedAt> {
        timetext::parsed(self.last_transition)
    }
}

/// What a controller reports about the present of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerReport<'a> {
    /// The object is suspended or paused: its conditions describe the past.
    Suspended,
    /// The controller has not observed this generation of the object yet.
    Outdated,
    /// The conditions, without those of an older generation.
    Conditions(Vec<StatusCondition<'a>>),
}

impl<'a> ControllerReport<'a> {
    /// The fields that are read, as paths with dots.
    pub const PATHS: &'static [&'static str] = &[
        "metadata.generation",
        "spec.suspend",
        "spec.paused",
        "status.observedGeneration",
        "status.conditions.type",
        "status.conditions.status",
        "status.conditions.reason",
        "status.conditions.message",
        "status.conditions.lastTransitionTime",
        "status.conditions.observedGeneration",
    ];

    /// Reads an object.
    pub fn of(object: &'a Value) -> Self {
        if is_true(object, "/spec/suspend") || is_true(object, "/spec/paused") {
            return Self::Suspended;
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
        if is_old(number(object, "/status/observedGeneration")) && !has_failed {
            return Self::Outdated;
        }
        Self::Conditions(present)
    }
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
        assert_eq!(ControllerReport::of(&object), ControllerReport::Suspended);
    }
}
