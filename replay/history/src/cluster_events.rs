//! The cluster's own Events: the reporting component, the object, the count. The times in an Event
//! are those of the component. The deletion of an expired Event is not reported.

use crate::body_reader::QueryError;
use crate::field::{at, text, time};
use crate::moment::Cut;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceId, ResourceInfo, Seq};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

/// A query for Events.
#[derive(Clone, Debug, Default)]
pub struct EventQuestion {
    /// Only those of this namespace.
    pub namespace: Option<String>,
    /// Only those received after this moment.
    pub from: Option<Cut>,
    /// Only those received up to this moment.
    pub to: Option<Cut>,
    /// Only those about this object; an empty kind or uid matches any.
    pub about: Option<Regarding>,
    /// Only those of these types, such as `Warning`; all if empty.
    pub severities: Vec<String>,
}

/// An Event, as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// The record of its version.
    pub seq: Seq,
    /// When that was received.
    pub at: RecordedAt,
    /// The evidence: an Event of the first list was reported earlier.
    pub evidence: Evidence,
    /// Whether it existed when the recording started: the time at which it was received says nothing.
    pub is_older: bool,
    /// Since when it may have been committed, if it was received late, or is known from the list after a gap.
    pub not_before: Option<RecordedAt>,
    /// The Event's namespace.
    pub namespace: String,
    /// The Event's name.
    pub name: String,
    /// The content.
    pub content: EventContent,
}

impl LoggedEvent {
    /// Returns the time that a person reads: its own, if it existed when the recording started.
    pub fn shown_time(&self) -> RecordedAt {
        let own = self.content.last.filter(|_| self.is_older);
        own.unwrap_or(self.at)
    }

    /// Puts the Events that existed when the recording started, which come first, into the order of their own times.
    pub fn sort_older(events: &mut [Self]) {
        let count = events.partition_point(|logged| logged.is_older);
        if let Some(older) = events.get_mut(..count) {
            older.sort_by_key(Self::shown_time);
        }
    }

    /// Returns what limits the time that is shown; `None` if it is that of the Event.
    pub fn time_note(&self, timeline: &Timeline) -> Option<String> {
        if self.is_older {
            return Some("existed when the recording started".to_owned());
        }
        let (since, at) = (
            timeline.written(self.not_before?),
            timeline.written(self.at),
        );
        Some(format!("received late: between {since} and {at}"))
    }
}

/// The Events of a time; see [`Timeline::event_log`].
pub struct EventLog<'a> {
    timeline: &'a Timeline,
    question: EventQuestion,
    seqs: std::vec::IntoIter<Seq>,
}

impl Timeline {
    /// Returns the resources of Events: one, unless a recording has them in both groups.
    pub fn event_resources(&self) -> Vec<ResourceId> {
        let are_events = |group: &str, plural: &str| {
            plural == "events" && (group.is_empty() || group == "events.k8s.io")
        };
        self.resources()
            .iter()
            .filter(|info| are_events(&info.group, &info.plural))
            .map(|info| info.id)
            .collect()
    }

    /// Returns whether Events may be missing between two moments; `None` for the ends of the recording.
    pub fn may_miss_events(&self, bounds: (Option<Cut>, Option<Cut>)) -> bool {
        let resources = self.event_resources();
        let is_incomplete =
            |resource: &ResourceId| self.unobserved_within(*resource, bounds).next().is_some();
        resources.is_empty() || resources.iter().any(is_incomplete)
    }

    /// Returns the Events of a time.
    ///
    /// Which Events these are is known without reading a body; their objects are not.
    pub fn event_log(&self, question: EventQuestion) -> EventLog<'_> {
        let reel = self.reel();
        let wanted = |seq: Seq| {
            reel.kind_of(seq) != Some(EventType::Deleted)
                && question.from.is_none_or(|cut| !self.is_within(seq, cut))
                && question.to.is_none_or(|cut| self.is_within(seq, cut))
        };
        let mut seqs = Vec::new();
        let resources = self.event_resources();
        for &resource in &resources {
            for &object in self.objects_of(resource) {
                let is_asked = self
                    .key_of(object)
                    .is_some_and(|key| question.may_take(key.namespace));
                if is_asked {
                    seqs.extend(
                        reel.versions(object)
                            .iter()
                            .copied()
                            .filter(|seq| wanted(*seq)),
                    );
                }
            }
        }
        seqs.sort_unstable();
        if resources.len() > 1 {
            // The API server gives the same objects in both groups.
            let mut known = HashSet::new();
            seqs.retain(|&seq| {
                let key = reel.object_of(seq).and_then(|object| self.key_of(object));
                let version = key.zip(reel.rv_of(seq)).map(|(key, version)| {
                    let uid = key.uid.text();
                    (key.namespace, key.name, uid, version)
                });
                version.is_none_or(|version| known.insert(version))
            });
        }
        EventLog {
            timeline: self,
            question,
            seqs: seqs.into_iter(),
        }
    }
}

impl EventLog<'_> {
    /// Returns an upper bound of the number of Events: it includes those about other objects.
    pub fn at_most(&self) -> usize {
        self.seqs.len()
    }

    fn read(&self, seq: Seq) -> Result<Option<LoggedEvent>, QueryError> {
        let reel = self.timeline.reel();
        let body = reel.body(seq)?;
        let content = EventContent::of(&body).map_err(|source| QueryError::Body { seq, source })?;
        if !self.question.takes(&content) {
            return Ok(None);
        }
        let Some(head) = reel.head(seq) else {
            return Ok(None);
        };
        let Some(key) = self.timeline.key_of(head.object) else {
            return Ok(None);
        };
        Ok(Some(LoggedEvent {
            seq,
            at: head.stamp.wall,
            evidence: head.evidence,
            is_older: (head.evidence).is_first_look(head.stamp.wall, self.timeline.start()),
            not_before: self.timeline.not_before(seq),
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            content,
        }))
    }
}

impl EventQuestion {
    /// Returns whether Events of a namespace can match, before any is read. The API server accepts
    /// an Event only in the namespace that it gives its object. Operators give a cluster-scoped object, such as the
    /// `ClusterVersion`, the namespace in which they write Events.
    fn may_take(&self, namespace: &str) -> bool {
        let is_of = |about: &Regarding| about.namespace.is_empty() || about.namespace == namespace;
        self.namespace.as_ref().is_none_or(|only| only == namespace)
            && self.about.as_ref().is_none_or(is_of)
    }

    fn takes(&self, content: &EventContent) -> bool {
        let is_of = |one: &String| content.severity.eq_ignore_ascii_case(one);
        let severity = self.severities.is_empty() || self.severities.iter().any(is_of);
        let about = self.about.as_ref().is_none_or(|about| {
            let found = &content.regarding;
            let fits =
                |asked: &str, found: &str| asked.is_empty() || found.is_empty() || asked == found;
            found.name == about.name
                && fits(&about.kind, &found.kind)
                && fits(&about.uid, &found.uid)
                && (about.api_version.is_empty()
                    || found.api_version.is_empty()
                    || group_of(&about.api_version) == group_of(&found.api_version))
                && (about.namespace.is_empty() || found.namespace == about.namespace)
        });
        severity && about
    }
}

/// Returns the group of an `apiVersion`: an Event names an object in any version of its group.
fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl Iterator for EventLog<'_> {
    type Item = Result<LoggedEvent, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let seq = self.seqs.next()?;
            match self.read(seq) {
                Ok(None) => {}
                Ok(Some(logged)) => return Some(Ok(logged)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The object of an Event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regarding {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty if the component did not set it.
    pub uid: String,
    /// Its group and version; empty if the component did not set them.
    pub api_version: String,
}

impl Regarding {
    /// Describes any object of a name, in the group of its resource: objects of two groups may share kind and name.
    pub fn named(resource: &ResourceInfo, namespace: &str, name: &str) -> Self {
        Self {
            kind: resource.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: String::new(),
            api_version: resource.api_version(),
        }
    }
}

/// The content of an Event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventContent {
    /// `Normal` or `Warning`.
    pub severity: String,
    /// The reason, one word.
    pub reason: String,
    /// The message.
    pub message: String,
    /// The object.
    pub regarding: Regarding,
    /// The reporting component.
    pub component: String,
    /// The number of occurrences so far; at least 1.
    pub count: u64,
    /// When it was last reported, by the component's clock.
    pub last: Option<RecordedAt>,
}

impl EventContent {
    /// Parses an Event.
    ///
    /// # Errors
    /// When the bytes are not an object.
    pub fn of(body: &[u8]) -> Result<Self, serde_json::Error> {
        let EventMembers(event) = serde_json::from_slice(body)?;
        let said = EventText::of(&event);
        let last = [
            "/series/lastObservedTime",
            "/lastTimestamp",
            "/deprecatedLastTimestamp",
            "/eventTime",
            "/firstTimestamp",
        ];
        Ok(Self {
            severity: said.severity().to_owned(),
            reason: said.reason().to_owned(),
            message: said.message().to_owned(),
            regarding: Regarding {
                kind: said.kind().to_owned(),
                namespace: said.namespace().to_owned(),
                name: said.name().to_owned(),
                uid: said.uid().to_owned(),
                api_version: text(said.about, "/apiVersion").to_owned(),
            },
            component: said.component().to_owned(),
            count: said.count(),
            last: last.iter().find_map(|pointer| time(&event, pointer)),
        })
    }
}

/// The members of an Event that say nothing of what happened; its metadata are the larger part of it.
const UNREAD: [&str; 6] = [
    "apiVersion",
    "kind",
    "metadata",
    "action",
    "related",
    "reportingInstance",
];

/// An Event without the members that say nothing of what happened.
struct EventMembers(Value);

impl<'de> Deserialize<'de> for EventMembers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(EventMembersVisitor)
    }
}

struct EventMembersVisitor;

impl<'de> Visitor<'de> for EventMembersVisitor {
    type Value = EventMembers;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<EventMembers, A::Error> {
        let mut event = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if UNREAD.contains(&name.as_str()) {
                let _ignored: IgnoredAny = members.next_value()?;
            } else {
                event.insert(name, members.next_value()?);
            }
        }
        Ok(EventMembers(Value::Object(event)))
    }
}

/// The texts and the count of an Event, in either of its forms: that of the core group and that of
/// `events.k8s.io`. An absent one is empty.
#[derive(Clone, Copy, Debug)]
pub struct EventText<'a> {
    event: &'a Value,
    about: &'a Value,
}

impl<'a> EventText<'a> {
    /// Reads an Event.
    pub fn of(event: &'a Value) -> Self {
        let abouts = ["involvedObject", "regarding"];
        let mut abouts = abouts.iter().filter_map(|name| event.get(name));
        let about = abouts.find(|about| about.as_object().is_some_and(|about| !about.is_empty()));
        Self {
            event,
            about: about.unwrap_or(&Value::Null),
        }
    }

    /// Returns the first of some texts that is not empty.
    fn first(self, pointers: &[&str]) -> &'a str {
        let mut texts = pointers.iter().map(|pointer| text(self.event, pointer));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Returns `Normal` or `Warning`.
    pub fn severity(self) -> &'a str {
        text(self.event, "/type")
    }

    /// Returns whether it is a warning.
    pub fn is_warning(self) -> bool {
        self.severity() == "Warning"
    }

    /// Returns the reason, one word.
    pub fn reason(self) -> &'a str {
        text(self.event, "/reason")
    }

    /// Returns the message.
    pub fn message(self) -> &'a str {
        self.first(&["/message", "/note"])
    }

    /// Returns the kind of the object.
    pub fn kind(self) -> &'a str {
        text(self.about, "/kind")
    }

    /// Returns the name of the object.
    pub fn name(self) -> &'a str {
        text(self.about, "/name")
    }

    /// Returns the namespace of the object.
    pub fn namespace(self) -> &'a str {
        text(self.about, "/namespace")
    }

    /// Returns the uid of the object.
    pub fn uid(self) -> &'a str {
        text(self.about, "/uid")
    }

    /// Returns the container of the Pod that it is about.
    pub fn container(self) -> Option<&'a str> {
        let path = text(self.about, "/fieldPath").strip_suffix('}')?;
        path.strip_prefix("spec.containers{")
            .or_else(|| path.strip_prefix("spec.initContainers{"))
    }

    /// Returns the component that reported it.
    pub fn component(self) -> &'a str {
        self.first(&[
            "/source/component",
            "/deprecatedSource/component",
            "/reportingComponent",
            "/reportingController",
        ])
    }

    /// Returns the host of the component.
    pub fn host(self) -> &'a str {
        self.first(&["/source/host", "/deprecatedSource/host"])
    }

    /// Returns the number of occurrences so far, at least 1.
    pub fn count(self) -> u64 {
        let counts = ["/series/count", "/count", "/deprecatedCount"].iter();
        let counts = counts.filter_map(|pointer| at(self.event, pointer)?.as_u64());
        counts.fold(1, u64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_say_the_same() {
        let core = br#"{"type":"Warning","reason":"BackOff","message":"back-off","count":7,
            "involvedObject":{"kind":"Pod","namespace":"shop","name":"web-0","uid":"u"},
            "source":{"component":"kubelet"},"lastTimestamp":"2026-11-21T14:00:00Z"}"#;
        let newer = br#"{"type":"Warning","reason":"BackOff","note":"back-off",
            "regarding":{"kind":"Pod","namespace":"shop","name":"web-0","uid":"u"},
            "reportingController":"kubelet","series":{"count":7,"lastObservedTime":"2026-11-21T14:00:00.000000Z"}}"#;
        let core = EventContent::of(core).expect("an Event");
        assert_eq!(core, EventContent::of(newer).expect("an Event"));
        assert_eq!((core.count, core.reason.as_str()), (7, "BackOff"));
        assert_eq!(core.last.expect("a time").micros, 1_795_269_600_000_000);
    }

    #[test]
    fn an_event_that_says_little_is_read_all_the_same() {
        let of = |body: &str| EventContent::of(body.as_bytes()).expect("an Event");
        let content = of(r#"{"involvedObject":null,"count":null}"#);
        assert_eq!(content.count, 1);
        assert_eq!(content.regarding, Regarding::default());
        let mixed = of(
            r#"{"involvedObject":null,"regarding":{"name":"a"},"message":"","note":"x","count":"y"}"#,
        );
        assert_eq!(
            (mixed.regarding.name.as_str(), mixed.message.as_str()),
            ("a", "x")
        );
        assert_eq!(mixed.count, 1);
        for body in [&b"7"[..], b"{"] {
            assert!(EventContent::of(body).is_err());
        }
    }
}
