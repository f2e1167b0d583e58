//! How an Event reads in either of its shapes: that of the core group and that of `events.k8s.io`.
//! It does not handle the interval.

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

/// What an Event says.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventText<'a> {
    event: &'a Value,
}

impl<'a> EventText<'a> {
    /// Reads an Event.
    pub(super) const fn of(event: &'a Value) -> Self {
        Self { event }
    }

    pub(super) fn is_warning(self) -> bool {
        reading::text(self.event, "/type") == "Warning"
    }

    pub(super) fn reason(self) -> &'a str {
        reading::text(self.event, "/reason")
    }

    pub(super) fn message(self) -> &'a str {
        self.either("/message", "/note")
    }

    pub(super) fn kind(self) -> &'a str {
        self.either("/involvedObject/kind", "/regarding/kind")
    }

    pub(super) fn name(self) -> &'a str {
        self.either("/involvedObject/name", "/regarding/name")
    }

    pub(super) fn namespace(self) -> &'a str {
        self.either("/involvedObject/namespace", "/regarding/namespace")
    }

    /// Returns the container of a pod that it is about.
    pub(super) fn container(self) -> Option<&'a str> {
        let path = self.either("/involvedObject/fieldPath", "/regarding/fieldPath");
        let path = path.strip_suffix('}')?;
        path.strip_prefix("spec.containers{")
            .or_else(|| path.strip_prefix("spec.initContainers{"))
    }

    /// Returns the node on which the kubelet said it.
    pub(super) fn kubelet_host(self) -> &'a str {
        let component = self.either("/source/component", "/deprecatedSource/component");
        if component == "kubelet" {
            self.either("/source/host", "/deprecatedSource/host")
        } else {
            ""
        }
    }

    /// Returns how often it was said; 0 where it does not tell.
    pub(super) fn count(self) -> i64 {
        let counts = ["/count", "/deprecatedCount", "/series/count"];
        let counts = counts
            .iter()
            .filter_map(|place| reading::number(self.event, place));
        counts.max().unwrap_or(0)
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

    fn either(self, one: &str, other: &str) -> &'a str {
        let found = reading::text(self.event, one);
        if found.is_empty() {
            reading::text(self.event, other)
        } else {
            found
        }
    }
}
