//! Faults that objects of some kinds state outside of the conditions whose types are known: one table of kinds.

use crate::condition::{ControllerReport, StatusCondition, condition_word};
use crate::state_health::StateHealth;
use kubereel_format::ResourceInfo;
use kubereel_history::field::{ObservedGeneration, at, items, number, text};
use serde_json::Value;
use std::time::Duration;

/// A type and a status of a condition.
type BadCondition = (&'static str, &'static str);

/// Where an object states a fault. Fields are paths with dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
type FaultPlaces = (&'static str, &'static str, &'static [FaultPlace]);

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";
const MACHINE_CONFIG: &str = "machineconfiguration.openshift.io";
const MACHINES: &str = "machine.openshift.io";

const fn route_of_gateway(plural: &'static str) -> FaultPlaces {
    let places = &[FaultPlace::Items {
        list: "status.parents",
        name: "parentRef.name",
        bad: &[("Accepted", "False"), ("ResolvedRefs", "False")],
    }];
    (GATEWAY_API, plural, places)
}

const GATEWAY_API: &str = "gateway.networking.k8s.io";

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

const SNAPSHOT_ERROR: &[FaultPlace] = &[word("status.error.message", &[], "status.error.message")];
// `Failure` is False with the message of an error, and True in later releases.
const LAST_FAILURE: &[FaultPlace] = &[FaultPlace::Last("Failure")];

const TABLE: &[FaultPlaces] = &[
    (
        "",
        "persistentvolumeclaims",
        &[
            FaultPlace::Condition(("ControllerResizeError", "True")),
            FaultPlace::Condition(("NodeResizeError", "True")),
            FaultPlace::Condition(("ModifyVolumeError", "True")),
        ],
    ),
    (SNAPSHOTS, "volumesnapshots", SNAPSHOT_ERROR),
    (SNAPSHOTS, "volumesnapshotcontents", SNAPSHOT_ERROR),
    (
        GATEWAY_API,
        "gateways",
        &[
            FaultPlace::Condition(("Accepted", "False")),
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
        ],
    ),
    route_of_gateway("httproutes"),
    route_of_gateway("grpcroutes"),
    route_of_gateway("tlsroutes"),
    route_of_gateway("tcproutes"),
    route_of_gateway("udproutes"),
    (
        "route.openshift.io",
        "routes",
        &[FaultPlace::Items {
            list: "status.ingress",
            name: "routerName",
            bad: &[("Admitted", "False")],
        }],
    ),
    (
        "image.openshift.io",
        "imagestreams",
        &[FaultPlace::Items {
            list: "status.tags",
            name: "tag",
            bad: &[("ImportSuccess", "False")],
        }],
    ),
    (MACHINE_CONFIG, "kubeletconfigs", LAST_FAILURE),
    (MACHINE_CONFIG, "containerruntimeconfigs", LAST_FAILURE),
    (
        "metal3.io",
        "baremetalhosts",
        &[word(
            "status.operationalStatus",
            &["error"],
            "status.errorMessage",
        )],
    ),
    // A machine that gets no Node. It takes an hour at most, also of metal.
    (
        MACHINES,
        "machines",
        &[FaultPlace::Field {
            field: "status.phase",
            bad: &["Provisioning", "Provisioned"],
            message: "status.errorMessage",
            start: Some(Duration::from_hours(1)),
        }],
    ),
    (
        MACHINES,
        "machinesets",
        &[word("status.errorReason", &[], "status.errorMessage")],
    ),
    (
        "operators.coreos.com",
        "catalogsources",
        &[word(
            "status.connectionState.lastObservedState",
            &["TRANSIENT_FAILURE"],
            "status.message",
        )],
    ),
    (
        "cluster.open-cluster-management.io",
        "managedclusters",
        &[FaultPlace::Condition((
            "ManagedClusterConditionAvailable",
            "Unknown",
        ))],
    ),
    (
        "hive.openshift.io",
        "clusterdeployments",
        &[FaultPlace::Condition(("Unreachable", "True"))],
    ),
    (
        "argoproj.io",
        "rollouts",
        &[word("status.phase", &["Degraded"], "status.message")],
    ),
];

/// A fault that an object states.
#[derive(Clone, Copy, Debug)]
pub enum StatedFault<'a> {
    /// A condition is bad.
    Condition {
        /// The condition.
        condition: StatusCondition<'a>,
        /// The name of the item of the object's status that has it; empty if the object itself has it.
        item: &'a str,
    },
    /// A field has a value that is bad.
    Field {
        /// The path of the field, with dots.
        field: &'static str,
        /// Its value.
        value: &'a str,
        /// What the object says of it.
        message: &'a str,
        /// How long that is normal of an object that was never well.
        start: Option<Duration>,
    },
}

/// The places where the objects of a resource state faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatedFaults(&'static [FaultPlace]);

impl StatedFault<'_> {
    /// Returns what it means, with the reason in a few words.
    pub(crate) fn health(&self) -> (StateHealth, String) {
        match *self {
            Self::Condition { condition, .. } => {
                let word = condition_word(condition.kind, condition.status, condition.reason);
                (StateHealth::Bad, word)
            }
            Self::Field {
                field,
                value,
                start,
                ..
            } => {
                let health = start.map_or(StateHealth::Bad, |_| StateHealth::Changing);
                let name = field.trim_start_matches("status.");
                (health, format!("{name} is {value}"))
            }
        }
    }
}

impl StatedFaults {
    /// Those of objects that state faults only in the conditions whose types are known.
    pub const NONE: Self = Self(&[]);

    /// Returns those of a resource.
    pub fn of(resource: &ResourceInfo) -> Self {
        let own = |(group, plural, _): &&FaultPlaces| {
            (*group, *plural) == (&*resource.group, &*resource.plural)
        };
        let known = TABLE.iter().find(own);
        known.map_or(Self::NONE, |(.., places)| Self(places))
    }

    /// Returns the fields that are read, as paths with dots. Those of conditions are the caller's.
    pub fn paths(self) -> impl Iterator<Item = &'static str> {
        let read = self.0.iter().map(|place| match place {
            FaultPlace::Condition(_) | FaultPlace::Last(_) => [None, None],
            FaultPlace::Items { list, .. } => [Some(*list), None],
            FaultPlace::Field { field, message, .. } => [Some(*field), Some(*message)],
        });
        read.flatten().flatten()
    }

    /// Returns whether the conditions are a log of what happened, of which only the last one is of the present.
    pub fn has_log_of_conditions(self) -> bool {
        let mut places = self.0.iter();
        places.any(|place| matches!(place, FaultPlace::Last(_)))
    }

    /// Reads which faults an object states, unless it rests on purpose.
    pub fn read(self, object: &Value) -> Vec<StatedFault<'_>> {
        if self.0.is_empty()
            || matches!(ControllerReport::of(object), ControllerReport::Suspended(_))
        {
            return Vec::new();
        }
        let places = self.0.iter();
        places.flat_map(|place| place.faults(object)).collect()
    }
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

impl FaultPlace {
    fn faults<'a>(&self, object: &'a Value) -> Vec<StatedFault<'a>> {
        let own = |condition| StatedFault::Condition {
            condition,
            item: "",
        };
        match self {
            Self::Condition((kind, status)) => StatusCondition::all(object)
                .filter(|one| one.kind == *kind && one.is(status))
                .map(own)
                .collect(),
            Self::Last(kind) => {
                let last = items(object, "/status/conditions").last();
                let last = last.map(StatusCondition::of);
                let last = last.filter(|one| one.kind == *kind);
                last.map(own).into_iter().collect()
            }
            Self::Items { list, name, bad } => {
                let items = items(object, &pointer(list)).iter();
                items
                    .flat_map(|item| faults_of_item(object, item, &pointer(name), bad))
                    .collect()
            }
            Self::Field {
                field,
                bad,
                message,
                start,
            } => {
                let is_bad =
                    |value: &&str| !value.is_empty() && (bad.is_empty() || bad.contains(value));
                let value = at(object, &pointer(field)).and_then(Value::as_str);
                let fault = value.filter(is_bad).map(|value| StatedFault::Field {
                    field,
                    value,
                    message: text(object, &pointer(message)),
                    start: *start,
                });
                fault.into_iter().collect()
            }
        }
    }
}

/// Reads an item of a list by its conditions, but for those of an older generation.
fn faults_of_item<'a>(
    object: &'a Value,
    item: &'a Value,
    name: &str,
    bad: &[BadCondition],
) -> Vec<StatedFault<'a>> {
    let generation = number(object, "/metadata/generation");
    let is_old = |one: &Value| {
        let observed = number(one, "/observedGeneration");
        ObservedGeneration::of(observed, generation) == ObservedGeneration::Older
    };
    let name = text(item, name);
    let present = items(item, "/conditions").iter().filter(|one| !is_old(one));
    let present = present.map(StatusCondition::of);
    let bad = present.filter(|one| bad.contains(&(one.kind, one.status)));
    bad.map(|condition| StatedFault::Condition {
        condition,
        item: name,
    })
    .collect()
}
