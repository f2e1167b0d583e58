//! Objects at a moment, and their lives.

use crate::coverage::Certainty;
use kubereel_format::{ObjectId, RecordedAt, ResourceId, Seq};

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
