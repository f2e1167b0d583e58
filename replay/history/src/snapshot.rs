//! The state of a resource at a moment: which version of each object there was, and how sure that is.

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
    /// How far the answer can be trusted.
    pub certainty: Certainty,
    /// The objects that existed, by namespace and name.
    pub objects: Vec<ObjectVersion>,
}

/// An object and the version of it that held at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectVersion {
    /// The object.
    pub object: ObjectId,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The event that brought the version.
    pub seq: Seq,
}

/// One life of a name: from an object's first event to its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLifetime {
    /// The object.
    pub object: ObjectId,
    /// Its first event.
    pub first: Seq,
    /// When that was received.
    pub from: RecordedAt,
    /// Whether it was there already when the recorder first looked.
    pub is_older_than_reel: bool,
    /// When its deletion was received; `None` if it outlived the recording.
    pub to: Option<RecordedAt>,
}
