//! Owns what an object says of itself: the state it is in, and those of its conditions. Refuses
//! conditions whose good status is not known: a guess would be drawn as a fact.

use super::line::Group;
use super::state::LaneState;
use serde_json::Value;

/// A state that an object tells: of one condition, or of all together.
pub(super) struct Told {
    pub(super) condition: Option<&'static str>,
    pub(super) state: LaneState,
    pub(super) word: String,
}

/// A condition, and what it means to be `True` and `False`.
type Meaning = (&'static str, LaneState, LaneState);

const OPERATOR: [Meaning; 4] = [
    ("Available", LaneState::Good, LaneState::Down),
    ("Degraded", LaneState::Bad, LaneState::Good),
    ("Progressing", LaneState::Changing, LaneState::Good),
    ("Upgradeable", LaneState::Good, LaneState::Changing),
];
const VERSION: [Meaning; 4] = [
    ("Available", LaneState::Good, LaneState::Down),
    ("Failing", LaneState::Bad, LaneState::Good),
    // The release that was asked for cannot be retrieved or must not be installed.
    ("ReleaseAccepted", LaneState::Good, LaneState::Bad),
    ("Progressing", LaneState::Changing, LaneState::Good),
];
const POOL: [Meaning; 2] = [
    ("Degraded", LaneState::Bad, LaneState::Good),
    ("Updating", LaneState::Changing, LaneState::Good),
];
const NODE: [Meaning; 4] = [
    ("Ready", LaneState::Good, LaneState::Down),
    ("DiskPressure", LaneState::Bad, LaneState::Good),
    ("MemoryPressure", LaneState::Bad, LaneState::Good),
    ("PIDPressure", LaneState::Bad, LaneState::Good),
];

/// Reasons for which a container waits that do not pass by themselves.
const STUCK: [&str; 7] = [
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "RunContainerError",
];

/// Gives what an object says: all together first, then its conditions.
pub(super) fn told(group: Group, object: &Value) -> Vec<Told> {
    let conditions = match group {
        Group::Version => of_conditions(&VERSION, object),
        Group::Operators => of_conditions(&OPERATOR, object),
        Group::Pools => of_conditions(&POOL, object),
        Group::Nodes => of_conditions(&NODE, object),
        Group::Pods => return vec![pod(object)],
        Group::Others => return Vec::new(),
    };
    // Whether it may be upgraded says nothing of how it is.
    let counted = conditions
        .iter()
        .filter(|told| told.condition != Some("Upgradeable"));
    let worst = counted.max_by_key(|told| told.state);
    let mut all = match worst {
        Some(worst) => Told {
            condition: None,
            state: worst.state,
            word: if worst.state == LaneState::Good {
                String::new()
            } else {
                worst.word.clone()
            },
        },
        None => Told {
            condition: None,
            state: LaneState::Changing,
            word: "no conditions yet".to_owned(),
        },
    };
    if group == Group::Nodes && all.state == LaneState::Good && is_unschedulable(object) {
        all.state = LaneState::Changing;
        "cordoned".clone_into(&mut all.word);
    }
    std::iter::once(all).chain(conditions).collect()
}

fn of_conditions(meanings: &[Meaning], object: &Value) -> Vec<Told> {
    let conditions = list(object, "/status/conditions");
    let found = meanings.iter().filter_map(|(kind, if_true, if_false)| {
        let condition = conditions.iter().find(|one| text(one, "/type") == *kind)?;
        let status = text(condition, "/status");
        let state = match status {
            "True" => *if_true,
            "False" => *if_false,
            // A node of which nobody hears does not work for anybody.
            _ if *kind == "Ready" => LaneState::Down,
            _ => LaneState::Unknown,
        };
        let reason = text(condition, "/reason");
        let gap = if reason.is_empty() { "" } else { " " };
        Some(Told {
            condition: Some(*kind),
            state,
            word: format!("{kind}={status}{gap}{reason}"),
        })
    });
    found.collect()
}

fn is_unschedulable(node: &Value) -> bool {
    node.pointer("/spec/unschedulable").and_then(Value::as_bool) == Some(true)
}

fn pod(object: &Value) -> Told {
    let phase = text(object, "/status/phase");
    let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let containers = || lists.iter().flat_map(|at| list(object, at));
    let waits = || containers().map(|one| text(one, "/state/waiting/reason"));
    let stuck = waits().find(|reason| STUCK.contains(reason));
    let is_ready = list(object, "/status/containerStatuses")
        .iter()
        .all(|one| one.pointer("/ready").and_then(Value::as_bool) == Some(true));
    let unscheduled = list(object, "/status/conditions")
        .iter()
        .any(|one| text(one, "/type") == "PodScheduled" && text(one, "/status") == "False");
    let (state, word) = if phase == "Failed" {
        let reason = text(object, "/status/reason");
        (
            LaneState::Down,
            if reason.is_empty() { phase } else { reason },
        )
    } else if phase == "Succeeded" {
        (LaneState::Good, phase)
    } else if let Some(reason) = stuck {
        (LaneState::Bad, reason)
    } else if object.pointer("/metadata/deletionTimestamp").is_some() {
        (LaneState::Changing, "Terminating")
    } else if phase == "Running" && is_ready {
        (LaneState::Good, phase)
    } else if phase == "Running" {
        (LaneState::Changing, "not ready")
    } else if unscheduled {
        (LaneState::Bad, "Unschedulable")
    } else if phase == "Unknown" {
        (LaneState::Unknown, phase)
    } else {
        (LaneState::Changing, "Pending")
    };
    Told {
        condition: None,
        state,
        word: word.to_owned(),
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(group: Group, object: &Value) -> (LaneState, String) {
        let told = told(group, object);
        (told[0].state, told[0].word.clone())
    }

    #[test]
    fn an_operator_is_as_bad_as_its_worst_condition() {
        let operator = |available: &str, degraded: &str| {
            json!({"status": {"conditions": [
                {"type": "Available", "status": available},
                {"type": "Degraded", "status": degraded, "reason": "Why"},
                {"type": "Odd", "status": "True"},
            ]}})
        };
        let read = |object: &Value| state(Group::Operators, object);
        assert_eq!(
            read(&operator("True", "False")),
            (LaneState::Good, String::new())
        );
        assert_eq!(read(&operator("True", "True")).1, "Degraded=True Why");
        assert_eq!(read(&operator("False", "True")).0, LaneState::Down);
        assert_eq!(read(&operator("True", "Unknown")).0, LaneState::Unknown);
        assert_eq!(read(&json!({})).0, LaneState::Changing);
    }

    #[test]
    fn a_release_that_is_not_accepted_is_bad() {
        let version = |accepted: &str| {
            json!({"status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "ReleaseAccepted", "status": accepted, "reason": "RetrievePayload"},
            ]}})
        };
        let read = |accepted: &str| state(Group::Version, &version(accepted));
        assert_eq!(read("True"), (LaneState::Good, String::new()));
        assert_eq!(
            read("False"),
            (
                LaneState::Bad,
                "ReleaseAccepted=False RetrievePayload".to_owned()
            )
        );
    }

    #[test]
    fn a_pod_tells_why_it_is_not_well() {
        let read = |status: Value| state(Group::Pods, &json!({"status": status}));
        let waiting = json!([{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]);
        assert_eq!(
            read(json!({"phase": "Pending", "containerStatuses": waiting})),
            (LaneState::Bad, "ImagePullBackOff".to_owned())
        );
        assert_eq!(read(json!({"phase": "Running"})).0, LaneState::Good);
        let unready = json!([{"ready": false}]);
        let (state, _) = read(json!({"phase": "Running", "containerStatuses": unready}));
        assert_eq!(state, LaneState::Changing);
        assert_eq!(
            read(json!({"phase": "Failed", "reason": "Evicted"})).1,
            "Evicted"
        );
    }

    #[test]
    fn a_silent_node_is_down_and_a_cordoned_one_is_being_changed() {
        let node = |ready: &str| {
            json!({"spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}})
        };
        assert_eq!(state(Group::Nodes, &node("Unknown")).0, LaneState::Down);
        assert_eq!(state(Group::Nodes, &node("True")).1, "cordoned");
    }
}
