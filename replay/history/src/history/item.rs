//! Owns what a history is asked and what it tells. Refuses to read: `walk` does.

use crate::changes::{Change, Scope};
use crate::coverage::UnobservedSpan;
use crate::moment::Cut;
use crate::query_error::QueryError;
use crate::writers::Authors;
use kubereel_format::{EventType, Evidence, Gap, RecordedAt, ResourceInfo, Seq};

/// What is asked about a name.
#[derive(Clone, Debug)]
pub struct HistoryQuestion<'a> {
    /// The resource.
    pub resource: &'a ResourceInfo,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// Which fields are compared.
    pub scope: Scope,
    /// Only versions after this moment.
    pub from: Option<Cut>,
    /// Only versions up to this moment.
    pub to: Option<Cut>,
}

/// One thing that a history tells.
#[derive(Debug)]
pub enum HistoryItem {
    /// A version.
    Version(Box<SeenVersion>),
    /// A gap of the recording: versions in it may be missing.
    Gap(Gap),
    /// Another time in which versions may be missing.
    Unobserved(UnobservedSpan),
    /// A version that cannot be read.
    Unreadable {
        /// The record.
        seq: Seq,
        /// When it was received.
        at: RecordedAt,
        /// Why.
        error: QueryError,
    },
}

/// A version of an object, compared with the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenVersion {
    /// The event that brought it.
    pub seq: Seq,
    /// When that was received.
    pub at: RecordedAt,
    /// The resourceVersion as the server spelt it; empty if there was none.
    pub rv: String,
    /// What the event said.
    pub kind: EventType,
    /// How it is known.
    pub evidence: Evidence,
    /// The object's uid; empty if the server sent none.
    pub uid: String,
    /// How it stands to the version before.
    pub place: Place,
    /// Who wrote it.
    pub authors: Authors,
    /// What changed against the version before; for the first one, what the fields asked for hold.
    /// `None` if the version before cannot be read.
    pub changes: Option<Vec<Change>>,
    /// How long it held, or how long what was asked for did.
    pub held: Option<HeldFor>,
}

/// How a version stands to those before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first of the name.
    First,
    /// The first of another object of that name.
    Anew {
        /// The uid of the object before.
        old_uid: String,
        /// Whether that one's deletion was seen.
        deletion_was_seen: bool,
    },
    /// A later one of the same object.
    Later,
}

/// How long something held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFor {
    /// Microseconds.
    pub micros: u64,
    /// Why it is known no longer than that.
    pub until: HeldUntil,
}

/// What ended a state, or the knowledge of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldUntil {
    /// The next change.
    Change,
    /// A gap: it may have held longer, or shorter.
    Gap,
    /// The end of what was asked for.
    End,
}
