//! Services and their endpoints: which Pods stand behind a Service, and since when none is ready.

use crate::sign::{Sign, SignKind};
use crate::signs::Reading;
use kubereel_cluster::{RecordMark, StateHealth};
use kubereel_format::{ObjectId, RecordedAt, ResourceId};
use kubereel_history::field::{at, is_being_deleted, is_true, items, text};
use kubereel_monitortests::{Action, WatchedEvent};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// More Pods of one Service are not kept.
const MOST_PODS: usize = 200;
/// The states of more Services are not kept.
const MOST_SERVICES: usize = 2_000;
/// More changes of their states, in all, are not kept.
const MOST_CHANGES: usize = 20_000;
/// More times at which one Service lost its last ready endpoint are not kept.
const MOST_LOSSES: usize = 1_000;

/// A change of how many endpoints of a Service are ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceChange {
    /// When it was seen.
    pub mark: RecordMark,
    /// How well that is; `Absent` from where the Service is gone, or needs no Pods.
    pub health: StateHealth,
    /// Why, in a few words; empty while all endpoints are ready.
    pub words: String,
}

/// The states of a Service by its ready endpoints, in the order of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStates {
    /// Its resource.
    pub resource: ResourceId,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The changes, at least one.
    pub changes: Vec<ServiceChange>,
}

/// The states of all Services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceHistory {
    /// The Services, by namespace and name.
    pub services: Vec<ServiceStates>,
    /// Whether they are too many, or changed too often: then there are none.
    pub is_left_out: bool,
}

/// The Services of a cluster while a reel is read.
#[derive(Debug, Default)]
pub(crate) struct ServiceEndpoints {
    services: BTreeMap<(String, String), ServiceState>,
    /// Of which Service each slice is.
    slices: BTreeMap<ObjectId, (String, String)>,
    /// How many changes are kept, of all Services.
    changes: usize,
}

#[derive(Debug, Default)]
struct ServiceState {
    object: Option<ObjectId>,
    /// Whether its endpoints are those of Pods that must be ready.
    needs_pods: bool,
    /// The ports of the containers that it sends to, by name or number.
    ports: Vec<String>,
    slices: BTreeMap<ObjectId, SliceCounts>,
    /// The uids of the Pods that were ever behind it.
    pods: BTreeSet<String>,
    resource: Option<ResourceId>,
    changes: Vec<ServiceChange>,
    /// Whether requests could be sent to it.
    is_served: bool,
    losses: Vec<EndpointLoss>,
}

/// A moment at which a Service lost its last ready endpoints.
#[derive(Debug)]
pub(crate) struct EndpointLoss {
    pub(crate) at: RecordedAt,
    /// The uids of the Pods of those endpoints; none where the Service itself was changed.
    pub(crate) pods: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct SliceCounts {
    ready: usize,
    /// The uids of the Pods whose endpoints are ready.
    ready_pods: Vec<String>,
    all: usize,
    /// Whether its endpoints have a port: one that no container has by its name is left out of the slice.
    has_port: bool,
}

impl ServiceEndpoints {
    pub(crate) const SLICE_PATHS: &'static [&'static str] = &[
        "metadata.labels",
        "endpoints.conditions.ready",
        "endpoints.targetRef",
        "ports.port",
    ];
    pub(crate) const SERVICE_PATHS: &'static [&'static str] = &[
        "spec.selector",
        "spec.type",
        "spec.ports.targetPort",
        "spec.publishNotReadyAddresses",
        "metadata.deletionTimestamp",
        "metadata.finalizers",
    ];

    /// Takes an event of a Service or a slice; gives what it says of the Service.
    pub(crate) fn take(&mut self, seen: &WatchedEvent<'_>) -> Option<(ObjectId, Reading)> {
        let (place, before) = if seen.resource.plural == "services" {
            (self.take_service(seen), SliceCounts::default())
        } else {
            self.take_slice(seen)?
        };
        let service = self.services.get_mut(&place)?;
        service.note_loss(seen.at, before);
        if self.changes <= MOST_CHANGES {
            let mark = seen.mark();
            self.changes += usize::from(service.note(mark));
        }
        service.reading()
    }

    /// Returns the states of the Services, which are no longer needed here.
    pub(crate) fn take_history(&mut self) -> ServiceHistory {
        let services = self.services.iter_mut().filter_map(|(place, service)| {
            let changes = std::mem::take(&mut service.changes);
            let (namespace, name) = place.clone();
            let resource = service.resource.filter(|_| !changes.is_empty())?;
            Some(ServiceStates {
                resource,
                namespace,
                name,
                changes,
            })
        });
        let services: Vec<ServiceStates> = services.collect();
        if services.len() > MOST_SERVICES || self.changes > MOST_CHANGES {
            return ServiceHistory {
                services: Vec::new(),
                is_left_out: true,
            };
        }
        ServiceHistory {
            services,
            is_left_out: false,
        }
    }

    /// Returns the uids of the Pods that were ever behind a Service.
    pub(crate) fn pods_of(&self, namespace: &str, name: &str) -> impl Iterator<Item = &str> {
        let place = (namespace.to_owned(), name.to_owned());
        let pods = self.services.get(&place).map(|service| &service.pods);
        pods.into_iter().flatten().map(String::as_str)
    }

    /// Returns the moments at which a Service lost its last ready endpoints, in order.
    pub(crate) fn losses_of(&self, namespace: &str, name: &str) -> &[EndpointLoss] {
        let place = (namespace.to_owned(), name.to_owned());
        let service = self.services.get(&place);
        service.map_or(&[], |service| service.losses.as_slice())
    }

    /// Returns the uids of the Pods that were ever behind any Service.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &str> {
        let all = self.services.values();
        all.flat_map(|service| service.pods.iter().map(String::as_str))
    }

    fn take_service(&mut self, seen: &WatchedEvent<'_>) -> (String, String) {
        let place = (seen.key.namespace.to_owned(), seen.key.name.to_owned());
        let service = self.services.entry(place.clone()).or_default();
        let is_gone = seen.action == Action::Gone || is_being_deleted(seen.now);
        service.object = (!is_gone).then_some(seen.object);
        service.resource = Some(seen.resource.id);
        let selector = at(seen.now, "/spec/selector").and_then(Value::as_object);
        service.needs_pods = selector.is_some_and(|selector| !selector.is_empty())
            && text(seen.now, "/spec/type") != "ExternalName"
            && !is_true(seen.now, "/spec/publishNotReadyAddresses");
        let ports = items(seen.now, "/spec/ports").iter();
        service.ports = ports
            .filter_map(|port| match at(port, "/targetPort")? {
                Value::String(name) => Some(name.clone()),
                number => Some(number.to_string()),
            })
            .collect();
        place
    }

    /// Takes a version of a slice; gives its Service, and what the slice had before.
    fn take_slice(&mut self, seen: &WatchedEvent<'_>) -> Option<((String, String), SliceCounts)> {
        if seen.action == Action::Gone {
            let place = self.slices.remove(&seen.object)?;
            let service = self.services.get_mut(&place)?;
            let before = service.slices.remove(&seen.object);
            return Some((place, before.unwrap_or_default()));
        }
        let labels = at(seen.now, "/metadata/labels")?;
        let name = labels
            .get("kubernetes.io/service-name")
            .and_then(Value::as_str)?;
        let place = (seen.key.namespace.to_owned(), name.to_owned());
        self.slices.insert(seen.object, place.clone());
        let service = self.services.entry(place.clone()).or_default();
        let all = items(seen.now, "/endpoints");
        // An absent condition counts as ready.
        let is_ready =
            |one: &&Value| at(one, "/conditions/ready").and_then(Value::as_bool) != Some(false);
        let ready = all.iter().filter(is_ready);
        let ready_pods = ready.clone().map(|one| text(one, "/targetRef/uid"));
        let counts = SliceCounts {
            ready: ready.count(),
            ready_pods: ready_pods
                .filter(|uid| !uid.is_empty())
                .map(str::to_owned)
                .collect(),
            all: all.len(),
            has_port: !items(seen.now, "/ports").is_empty(),
        };
        let before = service.slices.insert(seen.object, counts);
        for uid in all.iter().map(|one| text(one, "/targetRef/uid")) {
            if !uid.is_empty() && service.pods.len() < MOST_PODS {
                service.pods.insert(uid.to_owned());
            }
        }
        Some((place, before.unwrap_or_default()))
    }
}

impl ServiceState {
    /// Notes whether its last ready endpoints are gone, which were in a slice as it was before.
    fn note_loss(&mut self, at: RecordedAt, before: SliceCounts) {
        let was_served = self.is_served;
        self.is_served = self.counts().is_some_and(|(ready, _)| ready > 0);
        if was_served && !self.is_served && self.losses.len() < MOST_LOSSES {
            let pods = before.ready_pods;
            self.losses.push(EndpointLoss { at, pods });
        }
    }

    /// Counts the endpoints that requests can be sent to, and all; `None` where nothing is known of them, or none
    /// are needed.
    fn counts(&self) -> Option<(usize, usize)> {
        // Without a slice nothing is known of its endpoints.
        if !self.needs_pods || self.slices.is_empty() {
            return None;
        }
        let reached = |counts: &SliceCounts| {
            let is_reached = counts.has_port || self.ports.is_empty();
            if is_reached { counts.ready } else { 0 }
        };
        let slices = self.slices.values();
        Some((
            slices.clone().map(reached).sum(),
            slices.map(|counts| counts.all).sum(),
        ))
    }

    /// Says why no endpoint of `all` can be reached.
    fn none_reached(&self, all: usize) -> String {
        if all == 0 {
            "its selector matches no Pod".to_owned()
        } else if self.slices.values().any(|counts| counts.ready > 0) {
            let ports = self.ports.join(", ");
            format!("none of its {all} Pods has a container port named {ports}")
        } else {
            format!("none of its {all} Pods is ready")
        }
    }

    /// Keeps its state, if it is another one than before; tells whether it is.
    fn note(&mut self, mark: RecordMark) -> bool {
        let counts = self.counts().filter(|_| self.object.is_some());
        let (health, words) = match counts {
            None => (StateHealth::Absent, String::new()),
            Some((0, all)) => (StateHealth::Down, self.none_reached(all)),
            Some((ready, all)) if ready < all => {
                let words = format!("{ready} of {all} endpoints ready");
                (StateHealth::Changing, words)
            }
            Some(_) => (StateHealth::Good, String::new()),
        };
        let is_same = match self.changes.last() {
            Some(last) => (last.health, &last.words) == (health, &words),
            None => health == StateHealth::Absent,
        };
        if !is_same {
            // A clock that stepped back must not put later states before earlier ones.
            let at = self
                .changes
                .last()
                .map_or(mark.at, |last| last.mark.at.max(mark.at));
            self.changes.push(ServiceChange {
                mark: RecordMark { seq: mark.seq, at },
                health,
                words,
            });
        }
        !is_same
    }

    fn reading(&self) -> Option<(ObjectId, Reading)> {
        let object = self.object?;
        let Some((ready, all)) = self.counts() else {
            return Some((object, Reading::default()));
        };
        if ready > 0 {
            let reading = Reading::new(true, []);
            return Some((object, reading));
        }
        let sign = Sign::new(SignKind::NoEndpoints, "", &self.none_reached(all));
        let reading = Reading::new(false, [sign]);
        Some((object, reading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::Seq;

    #[test]
    fn a_service_is_as_well_as_its_endpoints_are_ready() {
        let mut service = ServiceState {
            object: Some(ObjectId(0)),
            needs_pods: true,
            ports: vec!["http".to_owned()],
            ..ServiceState::default()
        };
        let mut note = |seq: u64, ready: usize, all: usize| {
            let counts = SliceCounts {
                ready,
                all,
                has_port: seq < 6,
                ..SliceCounts::default()
            };
            service.slices.insert(ObjectId(1), counts);
            let at = RecordedAt::from_micros(i64::try_from(seq).expect("small"));
            service.note(RecordMark { seq: Seq(seq), at })
        };
        assert!(note(1, 0, 0) && note(2, 1, 2) && note(3, 2, 2));
        // More endpoints that are all ready are no other state.
        assert!(!note(4, 3, 3) && note(5, 0, 3));
        assert!(note(6, 2, 2));
        service.object = None;
        let at = RecordedAt::from_micros(7);
        assert!(service.note(RecordMark { seq: Seq(7), at }));
        let all = service.changes.iter();
        let all: Vec<_> = all.map(|one| (one.health, one.words.as_str())).collect();
        let expected = [
            (StateHealth::Down, "its selector matches no Pod"),
            (StateHealth::Changing, "1 of 2 endpoints ready"),
            (StateHealth::Good, ""),
            (StateHealth::Down, "none of its 3 Pods is ready"),
            (
                StateHealth::Down,
                "none of its 2 Pods has a container port named http",
            ),
            (StateHealth::Absent, ""),
        ];
        assert_eq!(all, expected);
    }
}
