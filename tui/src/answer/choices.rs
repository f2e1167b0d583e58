//! The resources and namespaces to choose from, with object counts at a moment. Counting reads no body.

use super::object_at::trust;
use super::table::SortOrder;
use crate::time::CursorPlace;
use kubereel_format::{RecordedAt, ResourceId, ResourceInfo};
use kubereel_history::{ObjectFilter, Timeline, harmless};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Changes within these seconds before and after the moment are nearby.
pub(crate) const NEARBY_SECS: i64 = 30;

/// A resource to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceChoice {
    /// The resource.
    pub(crate) resource: ResourceId,
    /// Its name, harmless to a terminal.
    pub(crate) name: String,
    /// How many objects it has at the moment; `None` if that is not known.
    pub(crate) objects: Option<usize>,
    /// How many events of it came nearby.
    pub(crate) nearby: usize,
    /// When the last one came before the moment.
    pub(crate) changed: Option<RecordedAt>,
    /// What is wrong with the knowledge of the moment.
    pub(crate) trust: Option<String>,
}

/// The resources to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceChoices {
    /// The resources that ever had objects, sorted.
    pub(crate) rows: Vec<ResourceChoice>,
}

/// Counts them.
pub(super) fn read_resources(
    timeline: &Timeline,
    order: SortOrder,
    place: CursorPlace,
) -> ResourceChoices {
    let resources = timeline.resources().iter();
    let mut rows: Vec<ResourceChoice> = resources
        .filter(|info| !timeline.objects_of(info.id).is_empty())
        .map(|info| resource_row(timeline, info, place))
        .collect();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    if order == SortOrder::Changed {
        rows.sort_by_key(|row| Reverse(row.changed));
    }
    ResourceChoices { rows }
}

fn resource_row(timeline: &Timeline, info: &ResourceInfo, place: CursorPlace) -> ResourceChoice {
    let state = timeline.as_of(info.id, place.cut(), &ObjectFilter::default());
    let reel = timeline.reel();
    let micros = NEARBY_SECS.saturating_mul(1_000_000);
    let edge = |by: i64| {
        let at = RecordedAt::from_micros(place.at.micros.saturating_add(by));
        reel.seq_after(at)
    };
    let (from, to) = (edge(-micros), edge(micros));
    let (mut nearby, mut last) = (0_usize, None);
    for object in timeline.objects_of(info.id) {
        let versions = reel.versions(*object);
        let below = |edge| versions.partition_point(|seq| *seq < edge);
        nearby += below(to).saturating_sub(below(from));
        let before = below(place.below).checked_sub(1);
        last = last.max(before.and_then(|at| versions.get(at)).copied());
    }
    ResourceChoice {
        resource: info.id,
        name: harmless(&info.qualified()).into_owned(),
        objects: state.certainty.has_state().then_some(state.objects.len()),
        nearby,
        changed: last.and_then(|seq| reel.stamp(seq)).map(|stamp| stamp.wall),
        trust: trust(timeline, &state.certainty),
    }
}

/// The namespaces to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamespaceChoices {
    /// What is counted in them, harmless to a terminal.
    pub(crate) of: String,
    /// Each, with how many objects it has; those that have none at the moment, but had some, too.
    pub(crate) rows: Vec<(String, usize)>,
    /// What is wrong with the knowledge of the moment.
    pub(crate) trust: Option<String>,
}

impl NamespaceChoices {
    /// Gives how many objects there are in all of them.
    pub(crate) fn all(&self) -> usize {
        self.rows.iter().map(|(_, count)| count).sum()
    }
}

/// Counts them.
pub(super) fn read_namespaces(
    timeline: &Timeline,
    resource: ResourceId,
    place: CursorPlace,
) -> NamespaceChoices {
    let Some(info) = timeline.resources().get(resource) else {
        return NamespaceChoices {
            trust: Some("resource not in this reel".to_owned()),
            ..NamespaceChoices::default()
        };
    };
    let info = timeline.resource_at(info, place.cut());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for object in timeline.objects_of(info.id) {
        if let Some(key) = timeline
            .key_of(*object)
            .filter(|key| !key.namespace.is_empty())
        {
            counts.entry(key.namespace).or_default();
        }
    }
    let state = timeline.as_of(info.id, place.cut(), &ObjectFilter::default());
    for held in &state.objects {
        if let Some(count) = counts.get_mut(held.namespace.as_str()) {
            *count += 1;
        }
    }
    let rows = counts.into_iter();
    NamespaceChoices {
        of: harmless(&info.qualified()).into_owned(),
        rows: rows.map(|(name, count)| (name.to_owned(), count)).collect(),
        trust: trust(timeline, &state.certainty),
    }
}
