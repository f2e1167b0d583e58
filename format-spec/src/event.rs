//! One watch event as a reel keeps it: what happened, to which object, and how it is known. The object stays
//! the server's bytes.

use crate::id::{ConnectionId, ObjectId, ResourceId, Seq, Stamp};
use crate::uid::UidRef;
use bincode::{Decode, Encode};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum EventType {
    /// It appeared, or was there already when the recorder first looked.
    Added,
    /// It changed.
    Modified,
    /// It is gone; the body is its last content, the resourceVersion that of the deletion.
    Deleted,
}

impl EventType {
    /// Returns the word that the watch protocol uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// How the recorder came to know of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum Evidence {
    /// The server sent it on a running watch.
    Live,
    /// It was there when the recorder first listed the resource; when it came is not known.
    Initial,
    /// A list after a gap showed it changed; the steps between are not known.
    Listed,
    /// A resource without watch was read again and showed it.
    Polled,
    /// Nobody sent it: the object was missing from a list after a gap.
    Inferred,
    /// Read back from the server's history after a gap; a creation only where that is proven, else a
    /// change.
    Reconstructed,
    /// It came from another tool's recording.
    Imported,
}

impl Evidence {
    /// Returns the word that is shown to people and programs.
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

/// The identity of an object as an opened reel has it.
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

/// The object's bytes of an event that is about to be written.
#[derive(Clone, Copy, Debug)]
pub enum NewBody<'a> {
    /// The bytes as received, at most [`crate::MAX_BODY`].
    Bytes(&'a [u8]),
    /// The object's last recorded bytes once more: for an inferred deletion.
    Last,
}

/// An event that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// When it was received.
    pub stamp: Stamp,
    /// The request that it came from.
    pub connection: ConnectionId,
    /// What happened.
    pub kind: EventType,
    /// How it is known.
    pub evidence: Evidence,
    /// The object's resource.
    pub resource: ResourceId,
    /// The object's namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// The object's uid; empty if the server sent none.
    pub uid: &'a str,
    /// The resourceVersion as the server spelt it; empty if there was none.
    pub resource_version: &'a str,
    /// The object.
    pub body: NewBody<'a>,
}

/// Everything of a recorded event but its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// Its place in the reel.
    pub seq: Seq,
    /// When it was received.
    pub stamp: Stamp,
    /// The request that it came from.
    pub connection: ConnectionId,
    /// What happened.
    pub kind: EventType,
    /// How it is known.
    pub evidence: Evidence,
    /// The object.
    pub object: ObjectId,
    /// The resourceVersion as the server spelt it; empty if there was none.
    pub resource_version: String,
}
