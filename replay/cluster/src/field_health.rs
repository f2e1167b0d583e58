//! The meaning of a changed field: whether its new value is one of a healthy object. Every list of changes draws it.

use crate::condition::StatusCondition;
use crate::health::{StateHealth, StateKind};
use kubereel_history::{Change, FieldPath, FieldStep};
use serde_json::{Value, json};

/// Returns what the new value of a change means; `None` if the field tells nothing of the health, or the value is
/// normal at the end of an object's life. `changes` are all changes of the version.
pub fn change_health(change: &Change, changes: &[Change]) -> Option<StateHealth> {
    let value = change.new.as_ref()?;
    let Some((condition, item)) = condition_status(&change.path) else {
        return pod_health(&change.path, value);
    };
    let sibling = |member: &str| {
        let wanted = FieldStep::Member(member.to_owned());
        let mut siblings = changes.iter().filter(|one| {
            let steps = one.path.steps().split_last();
            steps.is_some_and(|(last, rest)| *last == wanted && rest == item)
        });
        siblings.find_map(|one| one.new.as_ref()?.as_str())
    };
    let reason = sibling("reason").unwrap_or_default();
    let item = json!({"type": condition, "status": value, "reason": reason});
    let item = StatusCondition::of(&item);
    if item.is_of_completion() {
        return None;
    }
    let own = |kind: StateKind| kind.health_of(condition, value.as_str()?);
    let usual = item.usual_health();
    usual.or_else(|| StateKind::ALL.into_iter().find_map(own))
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

    /// Returns the word for the health of the change at a path.
    fn health(old: &Value, new: &Value, path: &str) -> &'static str {
        let changes = ComparisonScope::default().changes(old, new);
        let change = changes.iter().find(|one| one.path.to_string() == path);
        let health = change_health(change.expect(path), &changes);
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
        for (path, when_ill) in [
            ("status.conditions[Degraded].status", "bad"),
            ("status.conditions[Ready].status", "bad"),
            ("status.phase", "down"),
        ] {
            assert_eq!(health(&well, &ill, path), when_ill, "{path}");
            assert_eq!(health(&ill, &well, path), "good", "{path}");
        }
        assert_eq!(health(&well, &ill, "spec.x"), "nothing");
    }

    #[test]
    fn a_pod_that_has_done_its_work_is_not_ready_and_well() {
        let pod = |status: &str, reason: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": reason}]}});
        let path = "status.conditions[Ready].status";
        let of = |reason: &str| health(&pod("True", ""), &pod("False", reason), path);
        assert_eq!(of("PodCompleted"), "nothing");
        assert_eq!(of("ContainersNotReady"), "bad");
    }
}
