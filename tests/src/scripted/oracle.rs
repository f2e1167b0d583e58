//! Owns the record of everything the server ever committed and when each of it was first sent:
//! what a reel is compared with. Refuses to forget: compaction and restores leave it alone.

use std::sync::Arc;
use std::time::Instant;

use super::resource::Resource;
use super::template::Template;

/// What a committed change did to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The object was created.
    Added,
    /// The object was written again.
    Modified,
    /// The object went away.
    Deleted,
}

impl Change {
    /// The type member of the watch event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// A line that was sent otherwise than it should have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    /// The commit it should have told of.
    pub sequence: usize,
    /// What was sent instead, with whatever was put before and behind it.
    pub bytes: Vec<u8>,
}

/// An object as it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: String,
    /// The revision of its last change.
    pub revision: u128,
}

/// One change, as committed.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Counts commits from zero, over all resources and epochs.
    pub sequence: usize,
    /// Grows with every restore from a snapshot.
    pub epoch: u32,
    /// The storage's name: the key of the resource it was written through, or of the one that shares it.
    pub storage: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: Arc<str>,
    /// The revision of this change; for a deletion the deletion's own.
    pub revision: u128,
    /// What happened.
    pub change: Change,
    /// When it was committed.
    pub at: Instant,
    /// When a watch line of it had first been handed to a socket, whole and unaltered.
    pub first_watched: Option<Instant>,
    /// When a list answer holding this version had first been handed to a socket whole.
    pub first_listed: Option<Instant>,
    pub(crate) template: Arc<Template>,
}

impl Committed {
    /// The object's bytes as a watch of this resource and version sends them.
    pub fn watch_body(&self, resource: &Resource, version: &str) -> Vec<u8> {
        self.body(&resource.type_members(version))
    }

    /// The object's bytes as an item of a list of this resource and version.
    pub fn list_body(&self, resource: &Resource, version: &str) -> Vec<u8> {
        if resource.custom {
            self.watch_body(resource, version)
        } else {
            self.body("")
        }
    }

    /// When its content had first been sent at all.
    pub fn first_sent(&self) -> Option<Instant> {
        match (self.first_watched, self.first_listed) {
            (Some(watched), Some(listed)) => Some(watched.min(listed)),
            (watched, listed) => watched.or(listed),
        }
    }

    fn body(&self, type_members: &str) -> Vec<u8> {
        self.template
            .render(type_members, &self.uid, &self.revision.to_string())
    }
}
