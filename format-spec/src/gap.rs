//! Owns the record of a blindness: which resource, between which bounds, why. Refuses repair: the
//! recorder closes gaps, readers only believe them.

use crate::id::{GapId, ResourceId};
use crate::time::RecordedAt;
use bincode::{Decode, Encode};

/// A span in which changes of a resource may be missing from the reel.
///
/// After `from_rv`, up to and including `to_rv`: what happened in between is known only as far as
/// two lists differ.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Gap {
    /// The gap's number.
    pub id: GapId,
    /// The resource.
    pub resource: ResourceId,
    /// The last resourceVersion received before, if there was one.
    pub from_rv: Option<String>,
    /// The resourceVersion of the list that ended the gap.
    pub to_rv: String,
    /// When the last thing before it was received.
    pub from_time: RecordedAt,
    /// When the list that ended it was received.
    pub to_time: RecordedAt,
    /// Why it opened.
    pub cause: GapCause,
    /// An upper bound of the changes that may be missing, if one is known: the distance of the
    /// resourceVersions less what the list showed.
    pub missing_at_most: Option<u64>,
    /// How many differences between the last known state and the list were written for it.
    pub differences: u64,
}

/// Why a gap opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum GapCause {
    /// The server no longer had the history (410).
    Expired,
    /// No recorder ran.
    RecorderStopped,
    /// A line could not be understood, so that the stream's end is not trusted.
    Unreadable,
    /// The resource could not be read for a while (permission, missing, failing).
    Unavailable,
    /// The cluster behind the kubeconfig is another one, or was restored from a backup.
    NewEpoch,
}

impl GapCause {
    /// Gives the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "the server lost its history",
            Self::RecorderStopped => "no recorder ran",
            Self::Unreadable => "an unreadable line",
            Self::Unavailable => "the resource could not be read",
            Self::NewEpoch => "another cluster",
        }
    }
}
