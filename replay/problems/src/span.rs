//! A span: a time in which an object showed a sign.

use crate::sign::Sign;
use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, RecordedAt};
use std::time::Duration;

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignEnd {
    /// It did not.
    Open,
    /// The object no longer shows the sign.
    Recovered(RecordedAt),
    /// The object was deleted.
    Deleted(RecordedAt),
}

impl SignEnd {
    /// Returns the time of the end.
    pub(crate) const fn at(self) -> Option<RecordedAt> {
        match self {
            Self::Open => None,
            Self::Recovered(at) | Self::Deleted(at) => Some(at),
        }
    }
}

/// A time in which an object showed a sign.
#[derive(Clone, Debug)]
pub(crate) struct SignSpan {
    pub(crate) object: ObjectId,
    pub(crate) sign: Sign,
    pub(crate) from: RecordMark,
    /// Whether the first version was there when the recorder first looked: it may be older.
    pub(crate) is_older: bool,
    pub(crate) end: SignEnd,
    /// How long the object showed it, the times between left out; of one that is open, until `run_from`.
    pub(crate) shown: Duration,
    /// When it appeared last.
    pub(crate) run_from: RecordedAt,
    /// When the last version was received that showed it.
    pub(crate) seen: RecordedAt,
    /// Whether the object had been well before.
    pub(crate) was_well: bool,
    /// How often the sign appeared.
    pub(crate) count: u64,
    /// The Node of a Pod; may be empty.
    pub(crate) node: String,
}

impl SignSpan {
    /// Ends the span.
    pub(crate) fn close(&mut self, end: SignEnd) {
        if let Some(at) = end.at() {
            self.shown += between(self.run_from, at);
        }
        self.end = end;
    }
}

/// Tells how long it is from one time to another; nothing if that is earlier.
pub(crate) fn between(from: RecordedAt, to: RecordedAt) -> Duration {
    Duration::from_micros(u64::try_from(to.micros_since(from)).unwrap_or(0))
}

/// Returns whether an event shows that something was created then.
pub(crate) const fn is_creation(evidence: Evidence) -> bool {
    matches!(
        evidence,
        Evidence::Live | Evidence::Reconstructed | Evidence::Imported
    )
}
