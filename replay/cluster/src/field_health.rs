//! The meaning of a changed field: whether its new value is one of a healthy object. Every list of changes draws it.

use crate::health::StateKind;
use crate::state_health::StateHealth;
use kubereel_format::Seq;
use kubereel_history::{Change, FieldPath, FieldStep, Timeline};
use serde_json::{Value, json};

/// The changes of one version of an object.
#[derive(Clone, Copy, Debug)]
pub struct VersionChanges<'a> {
    kind: StateKind,
    all: &'a [Change],
}

impl<'a> VersionChanges<'a> {
    /// Takes all changes of a version of an object of a kind.
    pub const fn of(kind: StateKind, all: &'a [Change]) -> Self {
        Self { kind, all }
    }

    /// Takes all changes of the version that a record brought.
    pub fn at(timeline: &Timeline, seq: Seq, all: &'a [Change]) -> Self {
        let object = timeline.reel().object_of(seq);
        let key = object.and_then(|object| timeline.key_of(object));
        let resource = key.and_then(|key| timeline.resources().get(key.resource));
        let kind = resource.map_or(StateKind::UNKNOWN, StateKind::of_resource);
        Self::of(kind, all)
    }

    /// Returns them all.
    pub const fn all(self) -> &'a [Change] {
        self.all
    }

    /// Returns what the new value of one of them means; `None` if the field tells nothing of the health, or the
    /// value is normal at the end of an object's life.
    pub fn health(self, change: &Change) -> Option<StateHealth> {
        let value = change.new.as_ref()?;
        let Some((condition, item)) = condition_status(&change.path) else {
            return pod_health(&change.path, value);
        };
        let sibling = |member: &str| {
            let wanted = FieldStep::Member(member.to_owned());
            let mut siblings = self.all.iter().filter(|one| {
                let steps = one.path.steps().split_last();
                steps.is_some_and(|(last, rest)| *last == wanted && rest == item)
            });
            siblings.find_map(|one| one.new.as_ref()?.as_str())
        };
        let reason = sibling("reason").unwrap_or_default();
        self.kind
            .condition_health(condition, value.as_str()?, reason)
    }
}

/// Takes `conditions[TYPE].status` apart: the type, and the steps to the condition.
fn condition_status(path: &FieldPath) -> Option<(&str, &[FieldStep])> {
    let (FieldStep::Member(member), item) = path.steps().split_last()? else {
        return None;
    };
    let [.., FieldStep::Member(list), FieldStep::Item(parts)] = item else {
        return None;
    };
    if (list.as_str(), member.as_str()) != ("conditions", "status") {
        return None;
    }
    let kind = parts.iter().find(|part| part.name == "type")?;
    Some((&kind.value, item))
}

/// Returns what the phase of a Pod or the wait of a container means.
fn pod_health(path: &FieldPath, value: &Value) -> Option<StateHealth> {
    let names = path.steps().iter().filter_map(|step| match step {
        FieldStep::Member(name) => Some(name.as_str()),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    let object = match names.as_slice() {
        ["status", "phase"] => json!({"status": {"phase": value}}),
        [
            "status",
            "containerStatuses" | "initContainerStatuses",
            "state",
            "waiting",
            "reason",
        ] => {
            json!({"status": {"phase": "Running", "containerStatuses": [
                {"ready": false, "state": {"waiting": {"reason": value}}}
            ]}})
        }
        _ => return None,
    };
    StateKind::Pod.whole(&object).map(|(health, _)| health)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_history::ComparisonScope;

    /// Returns the word for the health of the change at a path of an object of a kind.
    fn health(kind: StateKind, old: &Value, new: &Value, path: &str) -> &'static str {
        let changes = ComparisonScope::default().changes(old, new);
        let change = changes.iter().find(|one| one.path.to_string() == path);
        let all = &changes;
        let health = VersionChanges::of(kind, all).health(change.expect(path));
        health.map_or("nothing", StateHealth::word)
    }

    #[test]
    fn a_condition_and_the_phase_of_a_pod_tell_of_the_health() {
        let object = |degraded: &str, ready: &str, phase: &str| {
            json!({"spec": {"x": phase}, "status": {"phase": phase, "conditions": [
                {"type": "Degraded", "status": degraded}, {"type": "Ready", "status": ready}]}})
        };
        let (well, ill) = (
            object("False", "True", "Running"),
            object("True", "False", "Failed"),
        );
        for (kind, path, when_ill) in [
            (
                StateKind::Operator,
                "status.conditions[Degraded].status",
                "bad",
            ),
            (StateKind::UNKNOWN, "status.conditions[Ready].status", "bad"),
            (StateKind::Node, "status.conditions[Ready].status", "down"),
            (
                StateKind::Pod,
                "status.conditions[Ready].status",
                "changing",
            ),
            (StateKind::Pod, "status.phase", "down"),
        ] {
            assert_eq!(health(kind, &well, &ill, path), when_ill, "{path}");
            assert_eq!(health(kind, &ill, &well, path), "good", "{path}");
        }
        let spec = health(StateKind::Pod, &well, &ill, "spec.x");
        assert_eq!(spec, "nothing");
    }

    #[test]
    fn a_condition_is_judged_as_one_of_its_kind() {
        let object = |status: &str| {
            let of = |kind: &str| json!({"type": kind, "status": status});
            json!({"status": {"conditions": [of("Progressing"), of("ReleaseAccepted")]}})
        };
        for (kind, condition, when_false) in [
            (StateKind::Deployment, "Progressing", "bad"),
            (StateKind::Operator, "Progressing", "good"),
            (StateKind::Version, "ReleaseAccepted", "bad"),
            (StateKind::UNKNOWN, "ReleaseAccepted", "nothing"),
        ] {
            let path = format!("status.conditions[{condition}].status");
            let found = health(kind, &object("True"), &object("False"), &path);
            assert_eq!(found, when_false, "{kind:?} {condition}");
        }
    }

    #[test]
    fn a_pod_that_has_done_its_work_is_not_ready_and_well() {
        let pod = |status: &str, reason: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": reason}]}});
        let path = "status.conditions[Ready].status";
        let of = |reason: &str| {
            health(
                StateKind::Pod,
                &pod("True", ""),
                &pod("False", reason),
                path,
            )
        };
        assert_eq!(of("PodCompleted"), "nothing");
        assert_eq!(of("ContainersNotReady"), "changing");
    }
}
