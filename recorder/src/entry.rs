//! Owns what travels from a socket to the file: events, notes and odd bytes, each complete in
//! itself. Refuses anything unredacted: whoever makes an entry has seen to that.

use kubereel_format::{
    BlobNote, Body, ConnectionId, EventType, Evidence, NewEvent, Note, ResourceId, Stamp,
};

/// What an entry takes of the queue beside its own bytes.
const OVERHEAD_BYTES: usize = 256;

/// Something for the file.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// An event.
    Event(EventEntry),
    /// A note.
    Note {
        /// When it was made.
        stamp: Stamp,
        /// What it says.
        note: Note,
    },
    /// A note with bytes of any size.
    Blob {
        /// When they were received.
        stamp: Stamp,
        /// What they are.
        note: BlobNote,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// An event that owns its parts.
#[derive(Clone, Debug)]
pub(crate) struct EventEntry {
    /// When it was received.
    pub(crate) stamp: Stamp,
    /// The request that brought it.
    pub(crate) connection: ConnectionId,
    /// What happened.
    pub(crate) kind: EventType,
    /// How it is known.
    pub(crate) evidence: Evidence,
    /// The object's resource.
    pub(crate) resource: ResourceId,
    /// The object's namespace.
    pub(crate) namespace: Box<str>,
    /// The object's name.
    pub(crate) name: Box<str>,
    /// The object's uid.
    pub(crate) uid: Box<str>,
    /// The resourceVersion as the server spelt it.
    pub(crate) version: Box<str>,
    /// The object; `None` for its last recorded bytes once more.
    pub(crate) body: Option<Box<[u8]>>,
}

impl EventEntry {
    /// Gives the form that is appended.
    pub(crate) fn event(&self) -> NewEvent<'_> {
        NewEvent {
            stamp: self.stamp,
            connection: self.connection,
            kind: self.kind,
            evidence: self.evidence,
            resource: self.resource,
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
            resource_version: &self.version,
            body: self.body.as_deref().map_or(Body::Last, Body::Bytes),
        }
    }
}

impl Entry {
    /// Gives when it came.
    pub(crate) const fn stamp(&self) -> Stamp {
        match self {
            Self::Event(event) => event.stamp,
            Self::Note { stamp, .. } | Self::Blob { stamp, .. } => *stamp,
        }
    }

    /// Gives what it takes of the queue, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let own = match self {
            Self::Event(event) => {
                event.body.as_ref().map_or(0, |body| body.len())
                    + event.namespace.len()
                    + event.name.len()
                    + event.uid.len()
                    + event.version.len()
            }
            Self::Note { .. } => 0,
            Self::Blob { bytes, .. } => bytes.len(),
        };
        own.saturating_add(OVERHEAD_BYTES)
    }
}
