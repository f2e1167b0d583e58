//! Owns the conclusion where one field's value comes from. Refuses guesses: who is not known is left
//! out.

use crate::changes::Path;
use crate::writers::{Authors, Writer};
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;

/// Who set a field last, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The field: a value that holds no others.
    pub path: Path,
    /// Its value.
    pub value: Value,
    /// Where the answer comes from.
    pub source: BlameSource,
    /// Who; several if they manage the field together, none if it is not known.
    pub writers: Vec<Writer>,
    /// Whether versions may be missing before the event: then it may be older, and somebody else's.
    pub may_be_older: bool,
}

/// Where the answer who set a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlameSource {
    /// The event that brought the value.
    Recorded {
        /// The event.
        seq: Seq,
        /// When it was received.
        at: RecordedAt,
    },
    /// The value is older than the recording; the manager of the field changed something at this time
    /// last, so it was set then or before.
    ManagedFields {
        /// On the server's clock, whole seconds.
        at: Option<RecordedAt>,
    },
    /// The value is older than the recording, and nobody is noted for it.
    Unknown,
}

impl BlameSource {
    /// Gives the word that is shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded { .. } => "recorded",
            Self::ManagedFields { .. } => "managedFields",
            Self::Unknown => "unknown",
        }
    }

    /// Gives the time.
    pub const fn at(self) -> Option<RecordedAt> {
        match self {
            Self::Recorded { at, .. } => Some(at),
            Self::ManagedFields { at } => at,
            Self::Unknown => None,
        }
    }
}

/// A version, as far as origins need it.
pub(super) struct Brought {
    pub(super) seq: Seq,
    pub(super) at: RecordedAt,
    pub(super) authors: Authors,
    /// Whether the values of this version may be older than it: it is the first one known of an object
    /// whose creation was not seen.
    pub(super) is_old: bool,
    /// Whether versions may be missing before it.
    pub(super) is_after_gap: bool,
}

/// Where a value comes from, without the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin {
    pub(super) source: OriginSource,
    pub(super) writers: Vec<Writer>,
    pub(super) may_be_older: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OriginSource {
    Recorded(Seq, RecordedAt),
    ManagedFields(Option<RecordedAt>),
    Unknown,
}

impl From<OriginSource> for BlameSource {
    fn from(source: OriginSource) -> Self {
        match source {
            OriginSource::Recorded(seq, at) => Self::Recorded { seq, at },
            OriginSource::ManagedFields(at) => Self::ManagedFields { at },
            OriginSource::Unknown => Self::Unknown,
        }
    }
}

/// Concludes where a value comes from that a version brought; `managers` are those noted for it there.
pub(super) fn of(brought: &Brought, mut managers: Vec<Writer>) -> Origin {
    managers.sort();
    managers.dedup();
    if brought.is_old {
        let at = managers.iter().map(|writer| writer.at).max().flatten();
        let source = if managers.is_empty() {
            OriginSource::Unknown
        } else {
            OriginSource::ManagedFields(at)
        };
        return Origin {
            source,
            writers: managers,
            may_be_older: true,
        };
    }
    Origin {
        source: OriginSource::Recorded(brought.seq, brought.at),
        writers: narrowed(brought.authors.writers(), managers),
        may_be_older: brought.is_after_gap,
    }
}

/// Of those who wrote a version, gives those who manage the field.
fn narrowed(authors: &[Writer], managers: Vec<Writer>) -> Vec<Writer> {
    let is_nobodys = managers.is_empty();
    let both: Vec<Writer> = managers
        .into_iter()
        .filter(|manager| authors.contains(manager))
        .collect();
    match authors {
        // What nobody manages changes with the write that made the version.
        [only] if is_nobodys => vec![only.clone()],
        _ => both,
    }
}
