//! Objects at a moment, and their lives.

use crate::coverage::Certainty;
use crate::tables::ReelTables;
use kubereel_format::{EventType, Evidence, ObjectId, RecordedAt, ResourceId, Seq};

/// The objects of a resource at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSnapshot {
    /// The resource.
    pub resource: ResourceId,
    /// The wall-clock time of the moment.
    pub at: RecordedAt,
    /// The highest resourceVersion of the resource that was received by then.
    pub rv: Option<u128>,
    /// The certainty of the answer.
    pub certainty: Certainty,
    /// The existing objects, by namespace and name.
    pub objects: Vec<ObjectVersion>,
    /// The existing objects that are left out of these, because damage hides what they show.
    pub unreadable: Vec<ObjectVersion>,
}

/// An object and its version at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectVersion {
    /// The object.
    pub object: ObjectId,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The event of the version.
    pub seq: Seq,
}

/// An object of a name: from its first event to its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLifetime {
    /// The object.
    pub object: ObjectId,
    /// Its first event.
    pub first: Seq,
    /// When that was received.
    pub from: RecordedAt,
    /// Whether it existed when the recorder first listed the resource.
    pub is_older_than_reel: bool,
    /// Its end.
    pub end: LifetimeEnd,
}

/// The end of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeEnd {
    /// Its deletion was received.
    Deleted(RecordedAt),
    /// Its deletion was not received; a list without it was.
    Missing(RecordedAt),
    /// Its deletion was not received; another object of its name was.
    Replaced(RecordedAt),
    /// It outlived the recording, or its end was not observed.
    NotObserved,
}

impl ObjectLifetime {
    /// Returns the objects of a name in the order of their first events, in all recorded versions of the resource.
    pub(crate) fn all(
        tables: &ReelTables,
        resource: ResourceId,
        namespace: &str,
        name: &str,
    ) -> Vec<Self> {
        let reel = tables.reel();
        let mut lives = Vec::new();
        let versions = tables.resources().namesake_ids(resource);
        for &object in versions.iter().flat_map(|id| tables.objects_of(*id)) {
            let key = tables.key_of(object);
            if key.is_none_or(|key| key.namespace != namespace || key.name != name) {
                continue;
            }
            let versions = reel.versions(object);
            let (Some(&first), Some(&last)) = (versions.first(), versions.last()) else {
                continue;
            };
            let is_deleted = reel.kind_of(last) == Some(EventType::Deleted);
            let is_inferred = reel.evidence_of(last) == Some(Evidence::Inferred);
            let from = tables.wall_of(first);
            lives.push(Self {
                object,
                first,
                from,
                is_older_than_reel: reel
                    .head(first)
                    .is_some_and(|head| head.evidence.is_first_look(from, tables.start())),
                end: match is_deleted {
                    true if is_inferred => LifetimeEnd::Missing(tables.wall_of(last)),
                    true => LifetimeEnd::Deleted(tables.wall_of(last)),
                    false => LifetimeEnd::NotObserved,
                },
            });
        }
        lives.sort_by_key(|life| life.first);
        let nexts: Vec<RecordedAt> = lives.iter().skip(1).map(|life| life.from).collect();
        for (life, next) in lives.iter_mut().zip(nexts) {
            if life.end == LifetimeEnd::NotObserved {
                life.end = LifetimeEnd::Replaced(next);
            }
        }
        lives
    }

    /// Returns when its end was received; `None` if it was not.
    pub const fn to(&self) -> Option<RecordedAt> {
        match self.end {
            LifetimeEnd::Deleted(at) | LifetimeEnd::Missing(at) | LifetimeEnd::Replaced(at) => {
                Some(at)
            }
            LifetimeEnd::NotObserved => None,
        }
    }
}
