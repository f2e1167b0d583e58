//! Owns the resources to choose from: how many objects each has at a moment and how much changes
//! around it. Refuses bodies: counting takes none.

use super::trust::trust;
use crate::model::{Order, Place};
use kubereel_format::{RecordedAt, ResourceId, ResourceInfo};
use kubereel_history::{ObjectFilter, Timeline, harmless};
use std::cmp::Reverse;

/// What changes within so many seconds before and after the moment is nearby.
pub(crate) const NEARBY_SECS: i64 = 30;

/// A resource to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
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
pub(crate) struct Kinds {
    /// The resources that ever had objects, sorted.
    pub(crate) rows: Vec<Kind>,
}

/// Counts them.
pub(super) fn read(timeline: &Timeline, order: Order, place: Place) -> Kinds {
    let resources = timeline.resources().iter();
    let mut rows: Vec<Kind> = resources
        .filter(|info| !timeline.objects_of(info.id).is_empty())
        .map(|info| counted(timeline, info, place))
        .collect();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    if order == Order::Changed {
        rows.sort_by_key(|row| Reverse(row.changed));
    }
    Kinds { rows }
}

fn counted(timeline: &Timeline, info: &ResourceInfo, place: Place) -> Kind {
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
    Kind {
        resource: info.id,
        name: harmless(&info.qualified()).into_owned(),
        objects: state.certainty.has_state().then_some(state.objects.len()),
        nearby,
        changed: last.and_then(|seq| reel.stamp(seq)).map(|stamp| stamp.wall),
        trust: trust(timeline, &state.certainty),
    }
}
