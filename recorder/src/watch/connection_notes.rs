//! The notes of a resource's connections: their begin, their end, and the last version between.
//!
//! Invariants:
//! * A connection is noted before its first entry, or when it stays open; a successor only after it
//!   delivered something. One that was never noted has no end either.
//! * While data of the successor is handled, the two have changed places.

use kubereel_format::{ConnectionId, EndCause, ListMethod, Note, ResourceId, Stamp};

/// An open connection.
#[derive(Debug)]
struct NotedConnection {
    id: ConnectionId,
    /// The note of the connection, until the connection has delivered something.
    unannounced: Option<(Stamp, Note)>,
    last_version: Option<String>,
}

impl NotedConnection {
    fn disconnected(self, cause: EndCause, detail: &str) -> Note {
        Note::Disconnected {
            connection: self.id,
            cause,
            last_rv: self.last_version,
            detail: detail.to_owned(),
        }
    }
}

/// The current connection of a resource and its successor.
#[derive(Debug, Default)]
pub(super) struct ConnectionNotes {
    current: Option<NotedConnection>,
    successor: Option<NotedConnection>,
    /// The data at hand comes from the successor: the two have changed places.
    is_on_successor: bool,
}

/// Makes the note of a connection.
pub(super) const fn connected(
    connection: ConnectionId,
    resource: ResourceId,
    from_rv: Option<String>,
    method: ListMethod,
) -> Note {
    Note::Connected {
        connection,
        resource,
        from_rv,
        method,
    }
}

impl ConnectionNotes {
    /// A connection was opened, whose note follows once it has delivered something.
    pub(super) fn open(&mut self, id: ConnectionId, unannounced: Option<(Stamp, Note)>) {
        self.current = Some(NotedConnection {
            id,
            unannounced,
            last_version: None,
        });
    }

    /// A successor was opened.
    pub(super) fn open_successor(&mut self, id: ConnectionId, at: Stamp, note: Note) {
        self.successor = Some(NotedConnection {
            id,
            unannounced: Some((at, note)),
            last_version: None,
        });
    }

    /// Returns the number of the current connection.
    pub(super) fn id(&self) -> Option<ConnectionId> {
        self.current.as_ref().map(|current| current.id)
    }

    /// Returns the note of the current connection, if it is due.
    pub(super) fn announce(&mut self) -> Option<(Stamp, Note)> {
        self.current.as_mut()?.unannounced.take()
    }

    /// Returns whether the data at hand comes from a successor that has delivered nothing yet.
    pub(super) fn is_unannounced_successor(&self) -> bool {
        let current = self.current.as_ref();
        self.is_on_successor && current.is_some_and(|current| current.unannounced.is_some())
    }

    /// The current connection delivered a version; it may be empty.
    pub(super) fn received(&mut self, version: &str) {
        if let Some(current) = &mut self.current
            && !version.is_empty()
        {
            let last = current.last_version.get_or_insert_default();
            last.clear();
            last.push_str(version);
        }
    }

    /// Takes what follows as data of the other connection.
    pub(super) const fn switch(&mut self) {
        std::mem::swap(&mut self.current, &mut self.successor);
        self.is_on_successor = !self.is_on_successor;
    }

    /// The current connection ended: returns its note.
    pub(super) fn end(&mut self, cause: EndCause, detail: &str) -> Option<Note> {
        let current = self.current.take()?;
        Some(current.disconnected(cause, detail))
    }

    /// The current connection ended, for a reason that is noted already.
    pub(super) fn drop_current(&mut self) {
        self.current = None;
    }

    /// The successor is the current connection from now on.
    pub(super) fn take_over(&mut self) {
        self.current = self.successor.take();
    }

    /// The successor ended: returns its note, if its begin was noted.
    pub(super) fn end_successor(&mut self, cause: EndCause, detail: &str) -> Option<Note> {
        let successor = self.successor.take()?;
        let is_announced = successor.unannounced.is_none();
        is_announced.then(|| successor.disconnected(cause, detail))
    }
}
