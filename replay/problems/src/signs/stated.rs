//! Faults that objects of some kinds state outside of the conditions whose types are known: one table of kinds.

use super::condition;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{ControllerReport, StatusCondition};
use kubereel_format::ResourceInfo;
use kubereel_history::field::{ObservedGeneration, at, items, number, text};
use serde_json::Value;
use std::time::Duration;

/// A type and a status of a condition.
type BadCondition = (&'static str, &'static str);

/// Where an object states a fault. Fields are paths with dots.
enum FaultPlace {
    /// One of its conditions.
    Condition(BadCondition),
    /// The conditions of the items of a list, which a field of each names.
    Items {
        list: &'static str,
        name: &'static str,
        bad: &'static [BadCondition],
    },
    /// The last of its conditions, if it has a type: those before it are of the past.
    Last(&'static str),
    /// A field that has one of some values; any, if there are none.
    Field {
        field: &'static str,
        bad: &'static [&'static str],
        message: &'static str,
        /// How long that is normal of an object that was never well.
        start: Option<Duration>,
    },
}

/// A kind of objects, by API group and plural, and where these state a fault.
type StatedFault = (&'static str, &'static str, FaultPlace);

const GATEWAY_API: &str = "gateway.networking.k8s.io";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";
const MACHINE_CONFIG: &str = "machineconfiguration.openshift.io";

const fn route_of_gateway(plural: &'static str) -> StatedFault {
    let place = FaultPlace::Items {
        list: "status.parents",
        name: "parentRef.name",
        bad: &[("Accepted", "False"), ("ResolvedRefs", "False")],
    };
    (GATEWAY_API, plural, place)
}

const fn word(
    field: &'static str,
    bad: &'static [&'static str],
    message: &'static str,
) -> FaultPlace {
    FaultPlace::Field {
        field,
        bad,
        message,
        start: None,
    }
}

const fn claim(condition: &'static str) -> StatedFault {
    let place = FaultPlace::Condition((condition, "True"));
    ("", "persistentvolumeclaims", place)
}

const SNAPSHOT_ERROR: FaultPlace = word("status.error.message", &[], "status.error.message");

const TABLE: &[StatedFault] = &[
    claim("ControllerResizeError"),
    claim("NodeResizeError"),
    claim("ModifyVolumeError"),
    (SNAPSHOTS, "volumesnapshots", SNAPSHOT_ERROR),
    (SNAPSHOTS, "volumesnapshotcontents", SNAPSHOT_ERROR),
    (
        GATEWAY_API,
        "gateways",
        FaultPlace::Condition(("Accepted", "False")),
    ),
    (
        GATEWAY_API,
        "gateways",
        FaultPlace::Items {
            list: "status.listeners",
            name: "name",
            bad: &[
                ("Accepted", "False"),
                ("ResolvedRefs", "False"),
                ("Programmed", "False"),
                ("Conflicted", "True"),
            ],
        },
    ),
    route_of_gateway("httproutes"),
    route_of_gateway("grpcroutes"),
    route_of_gateway("tlsroutes"),
    route_of_gateway("tcproutes"),
    route_of_gateway("udproutes"),
    (
        "route.openshift.io",
        "routes",
        FaultPlace::Items {
            list: "status.ingress",
            name: "routerName",
            bad: &[("Admitted", "False")],
        },
    ),
    (
        "image.openshift.io",
        "imagestreams",
        FaultPlace::Items {
            list: "status.tags",
            name: "tag",
            bad: &[("ImportSuccess", "False")],
        },
    ),
    // `Failure` is False with the message of an error, and True in later releases.
    (
        MACHINE_CONFIG,
        "kubeletconfigs",
        FaultPlace::Last("Failure"),
    ),
    (
        MACHINE_CONFIG,
        "containerruntimeconfigs",
        FaultPlace::Last("Failure"),
    ),
    (
        "metal3.io",
        "baremetalhosts",
        word(
            "status.operationalStatus",
            &["error"],
            "status.errorMessage",
        ),
    ),
    // A machine that gets no Node. It takes an hour at most, also of metal.
    (
        "machine.openshift.io",
        "machines",
        FaultPlace::Field {
            field: "status.phase",
            bad: &["Provisioning", "Provisioned"],
            message: "status.errorMessage",
            start: Some(Duration::from_hours(1)),
        },
    ),
    (
        "machine.openshift.io",
        "machinesets",
        word("status.errorReason", &[], "status.errorMessage"),
    ),
    (
        "operators.coreos.com",
        "catalogsources",
        word(
            "status.connectionState.lastObservedState",
            &["TRANSIENT_FAILURE"],
            "status.message",
        ),
    ),
    (
        "cluster.open-cluster-management.io",
        "managedclusters",
        FaultPlace::Condition(("ManagedClusterConditionAvailable", "Unknown")),
    ),
    (
        "hive.openshift.io",
        "clusterdeployments",
        FaultPlace::Condition(("Unreachable", "True")),
    ),
    (
        "argoproj.io",
        "rollouts",
        word("status.phase", &["Degraded"], "status.message"),
    ),
];

/// Returns what the objects of a resource state faults in.
fn places(info: &ResourceInfo) -> impl Iterator<Item = &'static FaultPlace> {
    let own =
        |(group, plural, _): &&StatedFault| (*group, *plural) == (&*info.group, &*info.plural);
    TABLE.iter().filter(own).map(|(.., place)| place)
}

/// Returns the fields that are read of a resource's objects, as paths with dots.
pub(super) fn paths(info: &ResourceInfo) -> impl Iterator<Item = &'static str> {
    let read = places(info).map(|place| match place {
        // `StatusCondition` has its own.
        FaultPlace::Condition(_) | FaultPlace::Last(_) => [None, None],
        FaultPlace::Items { list, .. } => [Some(*list), None],
        FaultPlace::Field { field, message, .. } => [Some(*field), Some(*message)],
    });
    let read: Vec<_> = read.collect();
    read.into_iter().flatten().flatten()
}

/// Reads which faults an object states, unless it rests on purpose.
pub(super) fn read(info: &ResourceInfo, object: &Value) -> Vec<Sign> {
    let mut places = places(info).peekable();
    if places.peek().is_none()
        || matches!(ControllerReport::of(object), ControllerReport::Suspended(_))
    {
        return Vec::new();
    }
    places.flat_map(|place| place.signs(object)).collect()
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

impl FaultPlace {
    fn signs(&self, object: &Value) -> Vec<Sign> {
        let sign = |condition: StatusCondition<'_>| condition::sign_of(&condition);
        match self {
            Self::Condition((kind, status)) => StatusCondition::all(object)
                .filter(|one| one.kind == *kind && one.is(status))
                .map(sign)
                .collect(),
            Self::Last(kind) => {
                let last = items(object, "/status/conditions").last();
                let last = last.map(StatusCondition::of);
                last.filter(|one| one.kind == *kind)
                    .map(sign)
                    .into_iter()
                    .collect()
            }
            Self::Items { list, name, bad } => {
                let items = items(object, &pointer(list)).iter();
                items
                    .flat_map(|item| signs_of_item(object, item, &pointer(name), bad))
                    .collect()
            }
            Self::Field {
                field,
                bad,
                message,
                start,
            } => {
                let value = at(object, &pointer(field)).and_then(Value::as_str);
                let is_bad =
                    |value: &&str| !value.is_empty() && (bad.is_empty() || bad.contains(value));
                let name = field.trim_start_matches("status.");
                let said = value.filter(is_bad).map(|value| {
                    let words = match text(object, &pointer(message)) {
                        "" => format!("{name} is {value}"),
                        message if message == value => message.to_owned(),
                        message => format!("{name} is {value}: {message}"),
                    };
                    // A sentence is a poor name of a problem.
                    let is_word = !value.contains(' ');
                    let reason = if is_word { value } else { "Error" };
                    let sign = Sign::new(SignKind::Condition, reason, &words).of_part(field);
                    Sign {
                        start: *start,
                        ..sign
                    }
                });
                said.into_iter().collect()
            }
        }
    }
}

/// Reads an item of a list by its conditions, but for those of an older generation.
fn signs_of_item(object: &Value, item: &Value, name: &str, bad: &[BadCondition]) -> Vec<Sign> {
    let generation = number(object, "/metadata/generation");
    let is_old = |one: &Value| {
        let observed = number(one, "/observedGeneration");
        ObservedGeneration::of(observed, generation) == ObservedGeneration::Older
    };
    let name = text(item, name);
    let present = items(item, "/conditions").iter().filter(|one| !is_old(one));
    let present = present.map(StatusCondition::of);
    let bad = present.filter(|one| bad.contains(&(one.kind, one.status)));
    let signs = bad.map(|one| {
        let mut sign = condition::sign_of(&one);
        if !name.is_empty() {
            sign.message = format!("{name}: {}", sign.message);
        }
        sign.of_part(&format!("{name}/{}", one.kind))
    });
    signs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    /// Returns reasons and messages of what an object of a resource states.
    fn said(group: &str, plural: &str, status: &Value) -> Vec<String> {
        let api_version = if group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{group}/v1")
        };
        let info = ResourceInfo::new(ResourceId(1), &api_version, plural, "");
        let object = json!({"metadata": {"generation": 2}, "status": status});
        let signs = read(&info, &object).into_iter();
        signs
            .map(|sign| format!("{} {}", sign.reason, sign.message))
            .collect()
    }

    #[test]
    fn an_item_of_a_list_is_read_by_its_conditions_unless_these_are_old() {
        let route = |admitted: &str| {
            let condition = json!({"type": "Admitted", "status": admitted, "reason": "HostAlreadyClaimed",
                "message": "other is older"});
            json!({"ingress": [{"routerName": "default", "conditions": [condition]}]})
        };
        let of = |admitted| said("route.openshift.io", "routes", &route(admitted));
        assert!(of("True").is_empty());
        let words = "HostAlreadyClaimed default: Admitted=False: other is older";
        assert_eq!(of("False"), [words]);
        let parent = |observed: u64| {
            json!({"parents": [{"parentRef": {"name": "web"}, "conditions": [
                {"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound",
                    "observedGeneration": observed}]}]})
        };
        let of = |observed| said("gateway.networking.k8s.io", "httproutes", &parent(observed));
        assert_eq!(of(2), ["BackendNotFound web: ResolvedRefs=False"]);
        assert!(of(1).is_empty());
    }

    #[test]
    fn a_field_is_read_by_its_value_or_by_being_there() {
        let host = |word: &str| {
            let status = json!({"operationalStatus": word, "errorMessage": "no power"});
            said("metal3.io", "baremetalhosts", &status)
        };
        assert!(host("OK").is_empty());
        assert_eq!(
            host("error"),
            ["error operationalStatus is error: no power"]
        );
        let snapshot = |status: Value| said("snapshot.storage.k8s.io", "volumesnapshots", &status);
        assert!(snapshot(json!({"readyToUse": true})).is_empty());
        let failed = snapshot(json!({"error": {"message": "no such volume"}}));
        assert_eq!(failed, ["Error no such volume"]);
    }

    #[test]
    fn of_a_list_of_what_happened_the_last_condition_counts() {
        let group = "machineconfiguration.openshift.io";
        let of =
            |conditions: Value| said(group, "kubeletconfigs", &json!({"conditions": conditions}));
        let failed = json!({"type": "Failure", "status": "False", "message": "Error: no pool"});
        let done = json!({"type": "Success", "status": "True", "message": "Success"});
        assert_eq!(
            of(json!([done, failed])),
            ["Failure Failure=False: Error: no pool"]
        );
        assert!(of(json!([failed, done])).is_empty());
    }
}
