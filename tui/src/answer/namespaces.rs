//! Owns the namespaces to choose from: how many objects of a resource each has at a moment. Refuses
//! those that were never seen.

use super::trust::trust;
use crate::model::Place;
use kubereel_format::ResourceId;
use kubereel_history::{ObjectFilter, Timeline, harmless};
use std::collections::BTreeMap;

/// The namespaces to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Namespaces {
    /// What is counted in them, harmless to a terminal.
    pub(crate) of: String,
    /// Each, with how many objects it has; those that have none at the moment, but had some, too.
    pub(crate) rows: Vec<(String, usize)>,
    /// What is wrong with the knowledge of the moment.
    pub(crate) trust: Option<String>,
}

impl Namespaces {
    /// Gives how many objects there are in all of them.
    pub(crate) fn all(&self) -> usize {
        self.rows.iter().map(|(_, count)| count).sum()
    }
}

/// Counts them.
pub(super) fn read(timeline: &Timeline, resource: ResourceId, place: Place) -> Namespaces {
    let Some(info) = timeline.resources().get(resource) else {
        return Namespaces {
            trust: Some("the reel knows no such resource".to_owned()),
            ..Namespaces::default()
        };
    };
    let info = timeline.resource_at(info, place.cut());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for object in timeline.objects_of(info.id) {
        if let Some(key) = timeline
            .key_of(*object)
            .filter(|key| !key.namespace.is_empty())
        {
            counts.entry(key.namespace.as_str()).or_default();
        }
    }
    let state = timeline.as_of(info.id, place.cut(), &ObjectFilter::default());
    for held in &state.objects {
        if let Some(count) = counts.get_mut(held.namespace.as_str()) {
            *count += 1;
        }
    }
    let rows = counts.into_iter();
    Namespaces {
        of: harmless(&info.qualified()).into_owned(),
        rows: rows.map(|(name, count)| (name.to_owned(), count)).collect(),
        trust: trust(timeline, &state.certainty),
    }
}
