//! When an Event occurred, in either of its forms: that of the core group and that of
//! `events.k8s.io`. Its texts are read in `history`.

use crate::reading;
use kubereel_format::RecordedAt;
use serde_json::Value;

/// The fields that are read, of both shapes.
pub(super) const PATHS: [&str; 24] = [
    "metadata.creationTimestamp",
    "type",
    "reason",
    "message",
    "note",
    "count",
    "deprecatedCount",
    "series",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.fieldPath",
    "regarding.kind",
    "regarding.name",
    "regarding.namespace",
    "regarding.fieldPath",
    "source",
    "deprecatedSource",
    "firstTimestamp",
    "lastTimestamp",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "eventTime",
    "reportingComponent",
];

/// The times of an Event, as upstream takes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventTimes<'a> {
    event: &'a Value,
}

impl<'a> EventTimes<'a> {
    pub(super) const fn of(event: &'a Value) -> Self {
        Self { event }
    }

    pub(super) fn first(self) -> Option<RecordedAt> {
        let first = reading::time(self.event, "/firstTimestamp");
        first.or_else(|| reading::time(self.event, "/deprecatedFirstTimestamp"))
    }

    pub(super) fn last(self) -> Option<RecordedAt> {
        let last = reading::time(self.event, "/lastTimestamp");
        last.or_else(|| reading::time(self.event, "/deprecatedLastTimestamp"))
    }

    /// Returns when it was said, as upstream takes it: the last time, the only time, its creation.
    pub(super) fn at(self) -> Option<RecordedAt> {
        self.last()
            .or_else(|| reading::time(self.event, "/eventTime"))
            .or_else(|| reading::time(self.event, "/metadata/creationTimestamp"))
    }

    /// Returns when it was said last, also by its series.
    pub(super) fn last_observed(self) -> Option<RecordedAt> {
        reading::time(self.event, "/series/lastObservedTime").max(self.at())
    }
}
