//! Owns what the lives of objects say of changes that are missing: whatever a watch says of an object
//! that was never created, or of a name that was never given up, proves that something was lost.
//! Refuses lives that were not followed from a complete list on, and to guess at lost changes that
//! leave no such trace.

use super::Coverage;
use crate::coverage::CoveredFrom;
use kubereel_format::{EventType, Evidence, ObjectId, ObjectKey, RecordedAt, Reel, Seq};
use std::collections::BTreeMap;

/// A change that must have been made, and is not in the reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostChange {
    /// The namespace of the object; empty if it has none.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// It came after this.
    pub from: RecordedAt,
    /// It came before this.
    pub to: RecordedAt,
    /// Whether it is a deletion; else it is a creation.
    pub is_deletion: bool,
}

impl Coverage {
    /// Gives the changes that are proven to be missing, by the time when that showed.
    pub fn lost(&self) -> &[LostChange] {
        &self.lost
    }

    /// Looks for them.
    pub(super) fn find_lost(&mut self, reel: &Reel, objects: &[ObjectId]) {
        if self.imported.is_some() {
            return;
        }
        let mut lives: BTreeMap<(&str, &str), Vec<Life>> = BTreeMap::new();
        for &object in objects {
            if let Some((key, life)) = Life::of(reel, object) {
                let place = (key.namespace.as_str(), key.name.as_str());
                lives.entry(place).or_default().push(life);
            }
        }
        let mut lost = Vec::new();
        for ((namespace, name), mut lives) in lives {
            lives.sort_unstable_by_key(|life| life.first);
            let mut before: Option<Life> = None;
            for life in lives {
                let Some(span) = begun_before(&self.spans, life.first) else {
                    before = Some(life);
                    continue;
                };
                let former = before.and_then(|before| before.last_before(reel, life.first));
                let is_deletion = match life.began {
                    (EventType::Modified | EventType::Deleted, Evidence::Live) => Some(false),
                    (EventType::Added, Evidence::Live) => {
                        let is_alive = |former| reel.kind_of(former) != Some(EventType::Deleted);
                        former.is_some_and(is_alive).then_some(true)
                    }
                    _ => None,
                };
                // Up to its last event the name was the former object's.
                let known = former.map_or(RecordedAt::default(), |former| wall(reel, former));
                lost.extend(is_deletion.map(|is_deletion| LostChange {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    from: if is_deletion {
                        known
                    } else {
                        known.max(span.covered.from_time)
                    },
                    to: wall(reel, life.first),
                    is_deletion,
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
struct Life {
    object: ObjectId,
    first: Seq,
    began: (EventType, Evidence),
}

impl Life {
    /// An object without a uid is no life: nobody can tell it from the next of its name.
    fn of(reel: &Reel, object: ObjectId) -> Option<(&ObjectKey, Self)> {
        let place = usize::try_from(object.0).ok()?;
        let key = &reel.objects().get(place)?.key;
        let first = *reel.versions(object).first()?;
        let began = (reel.kind_of(first)?, reel.evidence_of(first)?);
        let life = Self {
            object,
            first,
            began,
        };
        (!key.uid.is_empty()).then_some((key, life))
    }

    /// Gives the last record before another.
    fn last_before(&self, reel: &Reel, at: Seq) -> Option<Seq> {
        let versions = reel.versions(self.object);
        let below = versions.partition_point(|&seq| seq < at);
        versions.get(below.checked_sub(1)?).copied()
    }
}

/// Gives the last span that a complete list began before a record.
fn begun_before(spans: &[CoveredFrom], at: Seq) -> Option<&CoveredFrom> {
    spans.iter().rfind(|span| span.begun_by < at)
}

fn wall(reel: &Reel, seq: Seq) -> RecordedAt {
    reel.stamp(seq)
        .map_or_else(RecordedAt::default, |stamp| stamp.wall)
}
