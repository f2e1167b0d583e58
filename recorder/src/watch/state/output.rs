//! Owns the words in which a stream says what to do. Refuses to do it.

use super::Review;
use crate::watch::known::KnownObject;
use crate::watch::version::Version;
use kubereel_format::{
    AnomalyKind, EventType, Evidence, GapCause, ListMethod, NotCoveredReason, RecordedAt,
};

/// What to ask the server next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing yet.
    Wait {
        /// For so many microseconds.
        micros: u64,
    },
    /// A watch that begins with the state.
    WatchList {
        /// How long it is to last, in seconds.
        timeout_secs: u32,
    },
    /// One page of a list.
    Page {
        /// How many objects at most; `None` for all.
        limit: Option<u32>,
        /// The token of the page before; `None` for the first.
        token: Option<String>,
    },
    /// A watch that goes on.
    Watch {
        /// After this version.
        from: Version,
        /// How long it is to last, in seconds.
        timeout_secs: u32,
    },
}

/// What to put into the file. The order is the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The object at hand.
    Write {
        /// What happened.
        kind: EventType,
        /// How it is known.
        evidence: Evidence,
        /// The uid, if the server left it out and it is known.
        uid: Option<String>,
    },
    /// The deletion of an object that nobody reported.
    Infer {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// What was known of it.
        object: KnownObject,
        /// A version at which it was gone.
        version: String,
    },
    /// The state is complete.
    Synced {
        /// As of this version.
        version: String,
        /// How it was read.
        method: ListMethod,
        /// How many objects it has.
        objects: u64,
    },
    /// Changes may be missing.
    Gap {
        /// After this version.
        from: Option<String>,
        /// Up to this one.
        to: String,
        /// When the last thing before was received.
        from_time: RecordedAt,
        /// When the list was complete.
        to_time: RecordedAt,
        /// Why.
        cause: GapCause,
        /// An upper bound of the missing changes, if there is one.
        missing_at_most: Option<u64>,
        /// How many differences were written.
        differences: u64,
        /// Whether it can be read back; `None` if that makes no sense.
        review: Option<Review>,
    },
    /// The server proved that nothing else happened.
    Bookmark {
        /// Up to this version.
        version: String,
    },
    /// The protocol was broken.
    Anomaly {
        /// How.
        kind: AnomalyKind,
        /// Particulars.
        detail: String,
    },
    /// The resource cannot be recorded for now.
    NotCovered {
        /// Why.
        reason: NotCoveredReason,
        /// The server's words.
        detail: String,
    },
    /// It is recorded again.
    CoveredAgain,
    /// Another server still had the history that one had lost.
    HistoryFound {
        /// How often it was said to be lost.
        tries: u32,
    },
    /// The versions have fallen: the cluster is not the one it was.
    VersionFell,
}
