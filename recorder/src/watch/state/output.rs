//! The outputs of the state machine: the next request, and entries for the file.

use crate::known::KnownObject;
use crate::version::ResourceVersion;
use crate::watch::state::review::GapReview;
use kubereel_format::{
    AnomalyKind, EventType, Evidence, GapCause, ListMethod, NotCoveredReason, RecordedAt,
};

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchStep {
    /// No request yet.
    Wait {
        /// The delay, in microseconds.
        micros: u64,
    },
    /// A watch that begins with the state.
    WatchList {
        /// The requested duration, in seconds.
        timeout_secs: u32,
    },
    /// One page of a list.
    Page {
        /// The limit of objects; `None` for all.
        limit: Option<u32>,
        /// The continue token of the page before; `None` for the first.
        token: Option<String>,
    },
    /// A watch that continues.
    Watch {
        /// The version after which it continues.
        from: ResourceVersion,
        /// The requested duration, in seconds.
        timeout_secs: u32,
    },
}

/// An entry for the file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchOutput {
    /// The object at hand.
    Write {
        /// What happened.
        kind: EventType,
        /// The evidence.
        evidence: Evidence,
        /// The uid, if the server left it out and it is known.
        uid: Option<String>,
    },
    /// The deletion of an object that the server did not report.
    Infer {
        namespace: String,
        name: String,
        /// The object as it was known.
        object: KnownObject,
        /// A version at which it was gone.
        version: String,
    },
    /// The state is complete.
    Synced {
        /// The version.
        version: String,
        /// How it was read.
        method: ListMethod,
        /// The number of its objects.
        objects: u64,
    },
    /// Changes may be missing.
    Gap {
        /// After this version.
        from: Option<String>,
        /// Up to this version.
        to: String,
        /// When data was last received before the gap.
        from_time: RecordedAt,
        /// When the list was complete.
        to_time: RecordedAt,
        /// The cause.
        cause: GapCause,
        /// An upper bound of the missing changes, if there is one.
        missing_at_most: Option<u64>,
        /// The number of differences that were written.
        differences: u64,
        /// Whether the gap can be read back; `None` if that makes no sense.
        review: Option<GapReview>,
    },
    /// The server proved that nothing else happened.
    Bookmark {
        /// Up to this version.
        version: String,
    },
    /// The server violated the protocol.
    Anomaly {
        /// Which rule it violated.
        kind: AnomalyKind,
        /// Particulars.
        detail: String,
    },
    /// The resource cannot be recorded for now.
    NotCovered {
        /// The reason.
        reason: NotCoveredReason,
        /// The server's message.
        detail: String,
    },
    /// It is recorded again.
    CoveredAgain,
    /// Another server still had the history that one had lost.
    HistoryFound {
        /// The number of 410 responses before.
        tries: u32,
    },
    /// The version of a list is below the position: the cluster is another one, or was restored.
    VersionFell,
}
