//! Describes one object at a moment: its fields, its owners and owned objects, the Events about it,
//! and its versions around the moment. Healthy values are not left out.

use crate::body_reader::QueryError;
use crate::changes::ComparisonScope;
use crate::cluster_events::{EventQuestion, LoggedEvent, Regarding};
use crate::history::{HistoryItem, HistoryQuestion};
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::object_version::ObjectVersion;
use crate::related::Relatives;
use crate::timeline::Timeline;
use crate::writers::Authors;
use kubereel_format::{RecordedAt, ResourceInfo, Seq};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// The namespaces with Events of cluster-scoped objects.
const DEFAULT_NAMESPACE: &str = "default";

/// How far before the moment Events are searched, in microseconds: the default TTL of Events.
const EVENTS_BACK_MICROS: i64 = 3_600_000_000;

/// The description of one object at a moment.
#[derive(Debug)]
pub struct Description {
    /// The version.
    pub seq: Seq,
    /// When it was received.
    pub received: RecordedAt,
    /// Its resourceVersion; empty if there was none.
    pub rv: String,
    /// Its writer.
    pub authors: Authors,
    /// The object's uid; empty if there was none.
    pub uid: String,
    /// When the server created it, as in the object; empty if it is not set.
    pub created: String,
    /// When its deletion was requested, as in the object; empty if it is not set.
    pub deletion_asked: String,
    /// Its labels.
    pub labels: Map<String, Value>,
    /// Its annotations.
    pub annotations: Map<String, Value>,
    /// The members of its spec and status that are neither lists nor objects.
    pub scalars: Vec<Scalar>,
    /// The conditions of its status.
    pub conditions: Vec<DescribedCondition>,
    /// The object itself.
    pub object: Value,
    /// Its owners, and the objects that it owns.
    pub relatives: Relatives,
    /// The versions before and after the moment, and the gaps between.
    pub around: Vec<HistoryItem>,
    /// The number of versions around the moment that were left out because others are nearer.
    pub left_out: usize,
    /// The Events about it.
    pub events: Vec<LoggedEvent>,
    /// The number of Events of this time that cannot be read: some may be about it.
    pub unreadable_events: usize,
    /// Whether more may be missing.
    pub may_miss_events: bool,
}

/// A scalar member of a spec or a status.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Its path, such as `.status.phase`.
    pub path: String,
    /// Its value.
    pub value: Value,
}

/// A condition of a status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribedCondition {
    /// Its type.
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// `lastTransitionTime`, by the writer's clock.
    pub since: String,
    /// The reason, one word.
    pub reason: String,
    /// The message.
    pub message: String,
}

impl Timeline {
    /// Describes the version of an object at a moment.
    ///
    /// `around_micros` is the time before and after the moment from which versions and Events are
    /// included, and `most` the largest number of versions on either side.
    ///
    /// # Errors
    /// When the reel is damaged where the version is.
    pub fn describe(
        &self,
        resource: &ResourceInfo,
        held: &ObjectVersion,
        cut: Cut,
        around_micros: i64,
        most: usize,
    ) -> Result<Description, QueryError> {
        let seq = held.seq;
        let body = self.reel().body(seq)?;
        let value: Value =
            serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
        let wall = self.wall_at(resource.id, cut);
        let (around, left_out) = self.around(resource, held, wall, around_micros, most);
        let bounds = (
            Some(self.moved(wall, -EVENTS_BACK_MICROS.max(around_micros))),
            Some(self.moved(wall, around_micros)),
        );
        let events = self.event_log(EventQuestion {
            namespace: Some(if held.namespace.is_empty() {
                DEFAULT_NAMESPACE.to_owned()
            } else {
                held.namespace.clone()
            }),
            from: bounds.0,
            to: bounds.1,
            about: Some(Regarding::named(resource, &held.namespace, &held.name)),
            severities: Vec::new(),
        });
        // Each section leaves out and counts what is unreadable: the object itself can be read.
        let (events, unreadable): (Vec<_>, Vec<_>) = events.partition(Result::is_ok);
        let events = events.into_iter().flatten().collect();
        let text = |pointer: &str| {
            let text = value.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let map = |pointer: &str| {
            let map = value.pointer(pointer).and_then(Value::as_object);
            map.cloned().unwrap_or_default()
        };
        Ok(Description {
            seq,
            received: self.wall_of(seq),
            rv: text("/metadata/resourceVersion"),
            authors: self.authors_of(resource, (&held.namespace, &held.name), seq),
            uid: text("/metadata/uid"),
            created: text("/metadata/creationTimestamp"),
            deletion_asked: text("/metadata/deletionTimestamp"),
            labels: map("/metadata/labels"),
            annotations: map("/metadata/annotations"),
            scalars: scalars(&value),
            conditions: conditions(&value),
            object: ObjectForm::default()
                .of(&body, resource)
                .map_err(|source| QueryError::Body { seq, source })?,
            relatives: Relatives::of(self, seq, &held.namespace, cut)?,
            around,
            left_out,
            events,
            unreadable_events: unreadable.len(),
            may_miss_events: self.may_miss_events(bounds),
        })
    }

    /// Returns the nearest versions on both sides of a moment, and the number of others.
    fn around(
        &self,
        resource: &ResourceInfo,
        held: &ObjectVersion,
        wall: RecordedAt,
        around_micros: i64,
        most: usize,
    ) -> (Vec<HistoryItem>, usize) {
        let question = |from: Cut, to: Cut| HistoryQuestion {
            resource,
            namespace: &held.namespace,
            name: &held.name,
            scope: ComparisonScope::default(),
            from: Some(from),
            to: Some(to),
        };
        let now = self.moved(wall, 0);
        let mut before = VecDeque::new();
        let mut left_out = 0;
        for item in self.history(question(self.moved(wall, -around_micros), now)) {
            before.push_back(item);
            if before.len() > most
                && let Some(far) = before.pop_front()
            {
                left_out += usize::from(far.is_version());
            }
        }
        let mut all: Vec<HistoryItem> = before.into();
        let after = self.history(question(now, self.moved(wall, around_micros)));
        // A time without observation around the moment is in both parts.
        let is_known = |item: &HistoryItem| all.iter().any(|known| known.is_same_gap(item));
        let after: Vec<HistoryItem> = after.filter(|item| !is_known(item)).collect();
        for (place, item) in after.into_iter().enumerate() {
            if place < most {
                all.push(item);
            } else {
                left_out += usize::from(item.is_version());
            }
        }
        (all, left_out)
    }
}

fn scalars(value: &Value) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    for part in ["spec", "status"] {
        let members = value.get(part).and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            if !value.is_array() && !value.is_object() {
                scalars.push(Scalar {
                    path: format!(".{part}.{name}"),
                    value: value.clone(),
                });
            }
        }
    }
    scalars
}

fn conditions(value: &Value) -> Vec<DescribedCondition> {
    let all = value
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|condition| {
            let text = |member: &str| {
                let text = condition.get(member).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            DescribedCondition {
                kind: text("type"),
                status: text("status"),
                since: text("lastTransitionTime"),
                reason: text("reason"),
                message: text("message"),
            }
        })
        .collect()
}
