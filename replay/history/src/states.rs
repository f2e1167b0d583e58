//! The versions that the objects of a resource had at a moment.

use crate::object_version::ObjectVersion;
use crate::replaced::ReplacedObjects;
use crate::revision::ReelRevisions;
use crate::select::ObjectFilter;
use crate::tables::ReelTables;
use kubereel_format::{EventType, ObjectId, ResourceId, Seq};
use std::collections::BTreeMap;
use std::ops::Range;

/// A moment at which states are read.
#[derive(Clone, Copy)]
pub(crate) enum StateMoment<'a> {
    /// Before this record: each object has its last received version.
    Arrival(Seq),
    /// At a resourceVersion: each object has its last version up to that one, whenever it was received.
    Revision(u128, ReelRevisions<'a>),
}

impl StateMoment<'_> {
    /// Returns whether an event is part of the state at the moment.
    ///
    /// At a resourceVersion, a version without one counts by its place in the order of arrival.
    pub(crate) fn has(self, seq: Seq) -> bool {
        match self {
            Self::Arrival(below) => seq < below,
            Self::Revision(rv, revisions) => revisions.is_within(seq, rv),
        }
    }
}

/// The objects of a resource at a moment.
pub(crate) struct ResourceStates {
    /// The existing objects that were asked for, by namespace and name.
    pub(crate) objects: Vec<ObjectVersion>,
    /// The highest resourceVersion of the resource.
    pub(crate) newest: Option<u128>,
}

impl ResourceStates {
    /// Reads them.
    pub(crate) fn at(
        moment: StateMoment<'_>,
        tables: &ReelTables,
        replaced: &ReplacedObjects,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
    ) -> Self {
        let reel = tables.reel();
        let mut held: BTreeMap<String, ObjectVersion> = BTreeMap::new();
        let mut newest = None;
        let epoch = match moment {
            StateMoment::Arrival(_) => Seq(0)..reel.end(),
            StateMoment::Revision(rv, revisions) => revisions.epoch(resource, rv),
        };
        let replaced_by = replaced.within(tables, resource, filter);
        for &object in tables.objects_of(resource) {
            let Some(seq) = version_at(moment, tables, object, &epoch) else {
                continue;
            };
            newest = newest.max(reel.rv_of(seq));
            let Some(key) = tables.key_of(object) else {
                continue;
            };
            let is_asked = filter.takes(key.namespace, key.name);
            let is_alive = reel.kind_of(seq) != Some(EventType::Deleted);
            let is_replaced = || replaced_by(object).is_some_and(|by| seq < by && moment.has(by));
            if !is_asked || !is_alive || is_replaced() {
                continue;
            }
            let new = ObjectVersion {
                object,
                namespace: key.namespace.to_owned(),
                name: key.name.to_owned(),
                seq,
            };
            // Lists are in the order of the server's keys, in which a slash follows the namespace.
            let place = format!("{}/{}", key.namespace, key.name);
            // Only one object has a name at a time: if a deletion was not observed, the newer
            // object counts.
            let is_newer = held.get(&place).is_none_or(|old| old.seq < seq);
            if is_newer {
                held.insert(place, new);
            }
        }
        Self {
            objects: held.into_values().collect(),
            newest,
        }
    }
}

/// Finds the version of an object at a moment.
fn version_at(
    moment: StateMoment<'_>,
    tables: &ReelTables,
    object: ObjectId,
    epoch: &Range<Seq>,
) -> Option<Seq> {
    match moment {
        StateMoment::Arrival(below) => tables.last_version(object, below),
        StateMoment::Revision(rv, revisions) => {
            let versions = tables.reel().versions(object).iter().copied();
            versions
                .filter(|seq| epoch.contains(seq) && revisions.is_within(*seq, rv))
                .max_by_key(|seq| (revisions.state_rv(*seq), *seq))
        }
    }
}
