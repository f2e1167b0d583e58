//! What the state machine asks for and writes, and what stood before a gap while the list that ends it is
//! read.

use crate::known::{KnownObject, KnownObjects};
use crate::version::ResourceVersion;
use kubereel_format::{
    AnomalyKind, EventType, Evidence, GapCause, ListMethod, NotCoveredReason, RecordedAt,
};
use std::collections::BTreeMap;

/// What to ask the server next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchStep {
    /// Nothing yet.
    Wait {
        /// In microseconds.
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
    /// A watch that continues.
    Watch {
        /// After this version.
        from: ResourceVersion,
        /// How long it is to last, in seconds.
        timeout_secs: u32,
    },
}

/// What to put into the file. The order is the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchOutput {
    /// The object at hand.
    Write {
        /// What happened.
        kind: EventType,
        /// How it is known.
        evidence: Evidence,
        /// The uid, if the server left it out and it is known.
        uid: Option<String>,
    },
    /// The deletion of an object that the server did not report.
    Infer {
        namespace: String,
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
        review: Option<GapReview>,
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
        /// The number of servers that reported it lost.
        tries: u32,
    },
    /// The versions have fallen: the cluster is not the one it was.
    VersionFell,
}

/// How many names may differ before the reading back is given up.
const MAX_NAMES: usize = 10_000;

/// The names that a list showed to differ, with what stood there before the gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GapBefore {
    names: BTreeMap<(Box<str>, Box<str>), Option<KnownObject>>,
    /// There were too many of them, or the list could not be read whole.
    is_incomplete: bool,
}

/// A name under which the two ends of a gap differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapDifference {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    /// What stood there before the gap.
    pub(crate) before: Option<KnownObject>,
    /// What stands there after it.
    pub(crate) after: Option<KnownObject>,
}

/// Whether a gap can be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GapReview {
    /// By these names.
    Names(Vec<GapDifference>),
    /// Not, and why.
    Impossible(&'static str),
}

impl GapBefore {
    /// The list could not be read whole.
    pub(super) const fn spoil(&mut self) {
        self.is_incomplete = true;
    }

    pub(super) const fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Remembers what stood under a name, the first time that it is found to differ.
    pub(super) fn remember(&mut self, namespace: &str, name: &str, old: Option<&KnownObject>) {
        if self.names.len() >= MAX_NAMES {
            self.is_incomplete = true;
            return;
        }
        self.names
            .entry((namespace.into(), name.into()))
            .or_insert_with(|| old.cloned());
    }

    pub(super) fn compared(self, known: &KnownObjects) -> Vec<GapDifference> {
        let names = self.names.into_iter();
        names
            .map(|((namespace, name), before)| GapDifference {
                after: known.get(&namespace, &name).cloned(),
                namespace,
                name,
                before,
            })
            .collect()
    }
}
