//! Services and their endpoints: which Pods stand behind a Service, and since when none is ready.

use crate::sign::{Sign, SignKind};
use crate::signs::Reading;
use kubereel_format::ObjectId;
use kubereel_history::field::{at, is_true, items, text};
use kubereel_monitortests::{Action, Seen};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// More Pods of one Service are not kept.
const MOST_PODS: usize = 200;

/// The Services of a cluster while a reel is read.
#[derive(Debug, Default)]
pub(crate) struct ServiceEndpoints {
    services: BTreeMap<(String, String), ServiceState>,
    /// Of which Service each slice is.
    slices: BTreeMap<ObjectId, (String, String)>,
}

#[derive(Debug, Default)]
struct ServiceState {
    object: Option<ObjectId>,
    /// Whether its endpoints are those of Pods that must be ready.
    needs_pods: bool,
    slices: BTreeMap<ObjectId, SliceCounts>,
    /// The uids of the Pods that were ever behind it.
    pods: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SliceCounts {
    ready: usize,
    all: usize,
}

impl ServiceEndpoints {
    pub(crate) const SLICE_PATHS: &'static [&'static str] = &[
        "metadata.labels",
        "endpoints.conditions.ready",
        "endpoints.targetRef",
    ];
    pub(crate) const SERVICE_PATHS: &'static [&'static str] = &[
        "spec.selector",
        "spec.type",
        "spec.publishNotReadyAddresses",
        "metadata.deletionTimestamp",
        "metadata.finalizers",
    ];

    /// Takes an event of a Service or a slice; gives what it says of the Service.
    pub(crate) fn take(&mut self, seen: &Seen<'_>) -> Option<(ObjectId, Reading)> {
        let place = if seen.resource.plural == "services" {
            self.take_service(seen)
        } else {
            self.take_slice(seen)?
        };
        self.services.get(&place).and_then(ServiceState::reading)
    }

    /// Gives the uids of the Pods that were ever behind a Service.
    pub(crate) fn pods_of(&self, namespace: &str, name: &str) -> impl Iterator<Item = &str> {
        let place = (namespace.to_owned(), name.to_owned());
        let pods = self.services.get(&place).map(|service| &service.pods);
        pods.into_iter().flatten().map(String::as_str)
    }

    /// Gives the uids of the Pods that were ever behind any Service.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &str> {
        let all = self.services.values();
        all.flat_map(|service| service.pods.iter().map(String::as_str))
    }

    fn take_service(&mut self, seen: &Seen<'_>) -> (String, String) {
        let place = (seen.key.namespace.clone(), seen.key.name.clone());
        let service = self.services.entry(place.clone()).or_default();
        let is_gone = seen.action == Action::Gone
            || !text(seen.now, "/metadata/deletionTimestamp").is_empty();
        service.object = (!is_gone).then_some(seen.object);
        let selector = at(seen.now, "/spec/selector").and_then(Value::as_object);
        service.needs_pods = selector.is_some_and(|selector| !selector.is_empty())
            && text(seen.now, "/spec/type") != "ExternalName"
            && !is_true(seen.now, "/spec/publishNotReadyAddresses");
        place
    }

    fn take_slice(&mut self, seen: &Seen<'_>) -> Option<(String, String)> {
        if seen.action == Action::Gone {
            let place = self.slices.remove(&seen.object)?;
            let service = self.services.get_mut(&place)?;
            service.slices.remove(&seen.object);
            return Some(place);
        }
        let labels = at(seen.now, "/metadata/labels")?;
        let name = labels
            .get("kubernetes.io/service-name")
            .and_then(Value::as_str)?;
        let place = (seen.key.namespace.clone(), name.to_owned());
        self.slices.insert(seen.object, place.clone());
        let service = self.services.entry(place.clone()).or_default();
        let all = items(seen.now, "/endpoints");
        // An absent condition counts as ready.
        let is_ready =
            |one: &&Value| at(one, "/conditions/ready").and_then(Value::as_bool) != Some(false);
        let counts = SliceCounts {
            ready: all.iter().filter(is_ready).count(),
            all: all.len(),
        };
        service.slices.insert(seen.object, counts);
        for uid in all.iter().map(|one| text(one, "/targetRef/uid")) {
            if !uid.is_empty() && service.pods.len() < MOST_PODS {
                service.pods.insert(uid.to_owned());
            }
        }
        Some(place)
    }
}

impl ServiceState {
    fn reading(&self) -> Option<(ObjectId, Reading)> {
        let object = self.object?;
        // Without a slice nothing is known of its endpoints.
        if !self.needs_pods || self.slices.is_empty() {
            return Some((object, Reading::default()));
        }
        let sum = |of: fn(&SliceCounts) -> usize| self.slices.values().map(of).sum::<usize>();
        let (ready, all) = (sum(|counts| counts.ready), sum(|counts| counts.all));
        if ready > 0 {
            let reading = Reading {
                is_well: true,
                ..Reading::default()
            };
            return Some((object, reading));
        }
        let message = if all == 0 {
            "its selector matches no Pod".to_owned()
        } else {
            format!("none of its {all} Pods is ready")
        };
        let sign = Sign::new(SignKind::NoEndpoints, "", &message);
        let reading = Reading {
            signs: vec![sign],
            is_well: false,
        };
        Some((object, reading))
    }
}
