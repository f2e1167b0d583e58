//! Owns the words for what a reel covers and what not. Refuses the sums: replay computes them from
//! the notes.

use crate::time::RecordedAt;
use bincode::{Decode, Encode};

/// Why a resource, or a span of it, is not in the reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum NotCoveredReason {
    /// The recorder's user may not list or watch it.
    Forbidden,
    /// The server offers no watch for it.
    NoWatch,
    /// The server offers no list for it.
    NoList,
    /// Another recorded resource has the same storage.
    SameStorage,
    /// The server answers every request for it with an error.
    Failing,
    /// It vanished from the server.
    Gone,
    /// The user excluded it.
    Excluded,
    /// The reel would have become larger than its budget.
    SizeBudget,
    /// Its objects would have taken more memory than the recorder may use. Since format 0.3.
    MemoryBudget,
}

impl NotCoveredReason {
    /// Gives the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::NoWatch => "no watch",
            Self::NoList => "no list",
            Self::SameStorage => "same storage as another resource",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Excluded => "excluded",
            Self::SizeBudget => "size budget",
            Self::MemoryBudget => "memory budget",
        }
    }
}

/// A span in which every change of a resource is in the reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredSpan {
    /// The resourceVersion of the complete list that began it.
    pub from_rv: String,
    /// The last resourceVersion that is proven, by an event or a bookmark.
    pub to_rv: String,
    /// When the list that began it was received.
    pub from_time: RecordedAt,
    /// When the last event or bookmark was received.
    pub to_time: RecordedAt,
}
