//! A watch event in a reel: the change, the object, and the evidence. The body stays the server's
//! bytes.

use crate::id::{ConnectionId, ObjectId, RecordedAt, ResourceId, Seq, Stamp};
use crate::uid::UidRef;
use crate::worded;
use bincode::{Decode, Encode};

worded! {
/// The type of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum EventType {
    /// It was created, or existed when the recorder first listed the resource.
    Added = "ADDED",
    /// It changed.
    Modified = "MODIFIED",
    /// It was deleted; the body is its last content, the resourceVersion that of the deletion.
    Deleted = "DELETED",
}
}

/// The evidence of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum Evidence {
    /// The server sent it on a running watch.
    Live,
    /// It was in the first list of the resource; its creation time is not known.
    Initial,
    /// A list after a gap differs; the steps between are not known.
    Listed,
    /// A poll of a resource without watch differs.
    Polled,
    /// Inferred: the object was missing from a list after a gap.
    Inferred,
    /// Read back from the server's history after a gap; a creation only where that is proven, else a
    /// change.
    Reconstructed,
    /// It came from another tool's recording.
    Imported,
}

impl Evidence {
    /// Returns whether an event shows only that the object existed when the recording began: an object of the
    /// recorder's first list, or of an imported list with the time at which the recording begins.
    pub fn is_first_look(self, at: RecordedAt, start: RecordedAt) -> bool {
        self == Self::Initial || (self == Self::Imported && at <= start)
    }

    /// Returns the word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Initial => "initial",
            Self::Listed => "listed",
            Self::Polled => "polled",
            Self::Inferred => "inferred",
            Self::Reconstructed => "reconstructed",
            Self::Imported => "imported",
        }
    }
}

/// The identity of an object. A new uid under an old name is another object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct ObjectKey {
    /// Its resource.
    pub resource: ResourceId,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty if the server sent none.
    pub uid: String,
}

impl ObjectKey {
    /// Returns a view of it.
    pub fn view(&self) -> ObjectKeyRef<'_> {
        ObjectKeyRef {
            resource: self.resource,
            namespace: &self.namespace,
            name: &self.name,
            uid: UidRef::new(&self.uid),
        }
    }
}

/// The identity of an object in an opened reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKeyRef<'a> {
    /// Its resource.
    pub resource: ResourceId,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid; empty if the server sent none.
    pub uid: UidRef<'a>,
}

impl ObjectKeyRef<'_> {
    /// Returns a copy of it.
    pub fn to_key(self) -> ObjectKey {
        ObjectKey {
            resource: self.resource,
            namespace: self.namespace.to_owned(),
            name: self.name.to_owned(),
            uid: self.uid.text().into_owned(),
        }
    }
}

/// The body of an event that is about to be written.
#[derive(Clone, Copy, Debug)]
pub enum NewBody<'a> {
    /// The bytes as received, at most [`crate::MAX_BODY`].
    Bytes(&'a [u8]),
    /// The last recorded bytes of the object: for an inferred deletion.
    Last,
}

/// An event that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// When it was received.
    pub stamp: Stamp,
    /// The connection that delivered it.
    pub connection: ConnectionId,
    /// The change.
    pub kind: EventType,
    /// The evidence.
    pub evidence: Evidence,
    /// The object's resource.
    pub resource: ResourceId,
    /// The object's namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// The object's uid; empty if the server sent none.
    pub uid: &'a str,
    /// The resourceVersion in the server's spelling; empty if there was none.
    pub resource_version: &'a str,
    /// The body.
    pub body: NewBody<'a>,
}

/// A recorded event without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// Its place in the reel.
    pub seq: Seq,
    /// When it was received.
    pub stamp: Stamp,
    /// The connection that delivered it.
    pub connection: ConnectionId,
    /// The change.
    pub kind: EventType,
    /// The evidence.
    pub evidence: Evidence,
    /// The object.
    pub object: ObjectId,
    /// The resourceVersion in the server's spelling; empty if there was none.
    pub resource_version: String,
}
