//! Lost changes, proven by the order of an object's events: an event of an object whose creation
//! was never received, or a second object of a name whose first one was never deleted. Only objects
//! that were observed from a complete list on prove anything.

use super::chain::{Coverage, CoveredFrom};
use super::unobserved::RevisionBounds;
use crate::tables::ReelTables;
use kubereel_format::{EventType, Evidence, ObjectId, ObjectKeyRef, RecordedAt, ResourceId, Seq};
use std::collections::BTreeMap;

/// A change that must have happened, and is not in the reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostChange {
    /// The namespace of the object; empty if it has none.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// It happened after this.
    pub from: RecordedAt,
    /// It happened before this.
    pub to: RecordedAt,
    /// Whether it is a deletion; otherwise it is a creation.
    pub is_deletion: bool,
    /// The last resourceVersion that is known to be older; `None` if there is none.
    pub(super) after_rv: Option<u128>,
    /// The resourceVersion of the event that proves it.
    pub(super) by_rv: Option<u128>,
}

impl LostChange {
    /// Returns between which resourceVersions the state of the name is not known.
    pub(super) fn revisions(&self) -> Option<RevisionBounds> {
        let is_bounded = self.after_rv.is_some() && self.by_rv.is_some();
        is_bounded.then_some(RevisionBounds {
            after: self.after_rv,
            below: self.by_rv,
        })
    }
}

impl Coverage {
    /// Finds the lost changes, by the time of the event that proves them.
    pub(super) fn find_lost(&mut self, tables: &ReelTables, resource: ResourceId) {
        if self.imported.is_some() {
            return;
        }
        let reel = tables.reel();
        let mut lives: BTreeMap<(&str, &str), Vec<ObservedLife>> = BTreeMap::new();
        for &object in tables.objects_of(resource) {
            if let Some((key, life)) = ObservedLife::of(tables, object) {
                let place = (key.namespace, key.name);
                lives.entry(place).or_default().push(life);
            }
        }
        let mut lost = Vec::new();
        for ((namespace, name), mut lives) in lives {
            lives.sort_unstable_by_key(|life| life.first);
            let mut before: Option<ObservedLife> = None;
            for life in lives {
                let Some(span) = begun_before(&self.covered, life.first) else {
                    before = Some(life);
                    continue;
                };
                let former =
                    before.and_then(|before| tables.last_version(before.object, life.first));
                let is_deletion = match life.began {
                    (EventType::Modified | EventType::Deleted, Evidence::Live) => Some(false),
                    (EventType::Added, Evidence::Live) => {
                        let is_alive = |former| reel.kind_of(former) != Some(EventType::Deleted);
                        former.is_some_and(is_alive).then_some(true)
                    }
                    _ => None,
                };
                // Up to its last event the former object had the name.
                let known = former.map_or(RecordedAt::default(), |former| tables.wall_of(former));
                let former_rv = former.and_then(|former| reel.rv_of(former));
                let listed_rv = span.covered.from_rv.parse::<u128>().ok();
                lost.extend(is_deletion.map(|is_deletion| LostChange {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    from: if is_deletion {
                        known
                    } else {
                        known.max(span.covered.from_time)
                    },
                    to: tables.wall_of(life.first),
                    is_deletion,
                    after_rv: if is_deletion {
                        former_rv
                    } else {
                        former_rv.max(listed_rv)
                    },
                    by_rv: reel.rv_of(life.first),
                }));
                before = Some(life);
            }
        }
        lost.sort_by_key(|one| (one.to, one.from));
        self.lost = lost;
    }
}

/// One object's records.
#[derive(Clone, Copy, Debug)]
struct ObservedLife {
    object: ObjectId,
    first: Seq,
    began: (EventType, Evidence),
}

impl ObservedLife {
    /// Without a uid an object cannot be distinguished from the next one of its name.
    fn of(tables: &ReelTables, object: ObjectId) -> Option<(ObjectKeyRef<'_>, Self)> {
        let reel = tables.reel();
        let key = tables.key_of(object)?;
        let first = *reel.versions(object).first()?;
        let began = (reel.kind_of(first)?, reel.evidence_of(first)?);
        let life = Self {
            object,
            first,
            began,
        };
        (!key.uid.is_empty()).then_some((key, life))
    }
}

/// Returns the last span that a complete list began before a record.
fn begun_before(spans: &[CoveredFrom], at: Seq) -> Option<&CoveredFrom> {
    spans.iter().rfind(|span| span.begun_by < at)
}
