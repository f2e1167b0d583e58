//! The one derivation of state: the state of each thing, from when to when.
//!
//! Invariants:
//!
//! - Versions are ordered by record. Two may share a timestamp, and a clock may step back: an
//!   interval never begins before the one before it.
//! - An interval lasts until the version that has another state, no longer reports the condition,
//!   or deletes the object. An interval without an end has the state of the object's last version.
//! - Another object of the same name is another life: its intervals begin with its first version.
//! - Times that an object states about itself stand beside an interval and never move its bounds.
//! - An interval does not claim that it was observed throughout: `Timeline::unobserved_spans`
//!   returns the unobserved times in it.

use crate::condition::{StatusCondition, condition_word};
use crate::container::ContainerHealth;
use crate::health::StateKind;
use crate::mark::{MarkSpan, RecordMark};
use crate::state_health::StateHealth;
use kubereel_format::{Evidence, ObjectId, RecordedAt, ResourceId};
use serde_json::Value;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A thing with states, across the objects that had its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateSubject {
    /// The kind.
    pub kind: StateKind,
    /// Its namespace; may be empty.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The resource of its records.
    pub resource: ResourceId,
}

/// The aspect of a thing that a state describes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// The whole: the worst of its parts.
    Whole,
    /// One condition, by its type.
    Condition(Arc<str>),
    /// One container of a Pod, by its name.
    Container(Arc<str>),
}

/// An aspect with borrowed names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AspectRef<'a> {
    Whole,
    Condition(&'a str),
    Container(&'a str),
}

impl Aspect {
    /// Returns the type of the condition; `None` for the whole.
    pub fn condition(&self) -> Option<&str> {
        match self {
            Self::Whole | Self::Container(_) => None,
            Self::Condition(kind) => Some(kind),
        }
    }

    fn borrowed(&self) -> AspectRef<'_> {
        match self {
            Self::Whole => AspectRef::Whole,
            Self::Condition(kind) => AspectRef::Condition(kind),
            Self::Container(name) => AspectRef::Container(name),
        }
    }
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateText {
    /// The health; `None` for a condition whose good status is not known.
    pub health: Option<StateHealth>,
    /// The status of a condition; for the whole, the reason in a few words, empty while it is
    /// healthy.
    pub status: Arc<str>,
    /// The reason of a condition; may be empty.
    pub reason: Arc<str>,
    /// The message of a condition; may be empty.
    pub message: Arc<str>,
}

/// A time in which a thing was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateInterval<'a> {
    /// The thing.
    pub object: &'a StateSubject,
    /// The object that had its name.
    pub life: ObjectId,
    /// The aspect.
    pub aspect: &'a Aspect,
    /// The state.
    pub state: &'a StateText,
    /// The version that first has it.
    pub from: RecordMark,
    /// The version that ended it; `None` if there is none.
    pub to: Option<RecordMark>,
    /// The evidence of the first version: whether the state may be older.
    pub evidence: Evidence,
    /// `lastTransitionTime` of the condition, by the writer's clock.
    pub since: Option<RecordedAt>,
}

impl StateInterval<'_> {
    /// Returns the words for the state: `Degraded=True Reason`, `cordoned`, `CrashLoopBackOff`.
    pub fn word(&self) -> String {
        match self.aspect {
            Aspect::Whole | Aspect::Container(_) => self.state.status.to_string(),
            Aspect::Condition(kind) => condition_word(kind, &self.state.status, &self.state.reason),
        }
    }
}

/// A change of state.
#[derive(Clone, Debug)]
struct StateChange {
    mark: RecordMark,
    object: ObjectId,
    /// `None` once the object is gone, or no longer reports the condition.
    state: Option<Arc<StateText>>,
    /// Whether the object is there and no longer reports it.
    is_unreported: bool,
    evidence: Evidence,
    since: Option<RecordedAt>,
}

/// The states of one aspect of one thing, in order.
#[derive(Clone, Debug)]
pub struct StateTrack {
    object: Arc<StateSubject>,
    aspect: Aspect,
    changes: Vec<StateChange>,
}

impl StateTrack {
    /// Returns the thing.
    pub fn object(&self) -> &StateSubject {
        &self.object
    }

    /// Returns the aspect.
    pub const fn aspect(&self) -> &Aspect {
        &self.aspect
    }

    /// Returns the intervals, in the order of records and without overlap.
    pub fn intervals(&self) -> impl Iterator<Item = StateInterval<'_>> {
        self.changes.iter().enumerate().filter_map(|(at, change)| {
            Some(StateInterval {
                object: &self.object,
                life: change.object,
                aspect: &self.aspect,
                state: change.state.as_ref()?,
                from: change.mark,
                to: self.changes.get(at + 1).map(|next| next.mark),
                evidence: change.evidence,
                since: change.since,
            })
        })
    }

    /// Returns the times in which an object was there and no longer reported it, in order.
    pub(crate) fn unreported(&self) -> impl Iterator<Item = (ObjectId, MarkSpan)> {
        let changes = self.changes.iter().enumerate();
        let unreported = changes.filter(|(_, change)| change.is_unreported);
        unreported.map(|(at, change)| {
            let to = self.changes.get(at + 1).map(|next| next.mark);
            let from = change.mark;
            (change.object, MarkSpan { from, to })
        })
    }

    /// Merges neighbouring intervals of one object with an equal key, and returns the runs with
    /// their keys.
    pub fn runs<K: PartialEq>(
        &self,
        key: impl Fn(&StateText) -> K,
    ) -> Vec<(K, Vec<StateInterval<'_>>)> {
        let mut all: Vec<(K, Vec<StateInterval<'_>>)> = Vec::new();
        for interval in self.intervals() {
            let own = key(interval.state);
            match all.last_mut() {
                Some((last, run))
                    if *last == own
                        && run.last().is_some_and(|before| {
                            before.life == interval.life && before.to == Some(interval.from)
                        }) =>
                {
                    run.push(interval);
                }
                _ => all.push((own, vec![interval])),
            }
        }
        all
    }

    fn last(&self) -> Option<&StateText> {
        self.changes.last()?.state.as_deref()
    }

    /// Ends the open interval: the object is gone.
    fn end(&mut self, version: &StateVersion<'_>) {
        let last = self.changes.last();
        if last.is_some_and(|last| last.state.is_some() || last.is_unreported) {
            self.change(version, None);
        }
    }

    /// Ends the open interval: the object no longer reports the aspect.
    fn end_report(&mut self, version: &StateVersion<'_>) {
        if self.last().is_some() {
            self.change(version, None);
            if let Some(change) = self.changes.last_mut() {
                change.is_unreported = true;
            }
        }
    }

    fn change(&mut self, version: &StateVersion<'_>, state: Option<Arc<StateText>>) {
        let before = self.changes.last();
        let at = before.map_or(version.mark.at, |before| {
            before.mark.at.max(version.mark.at)
        });
        self.changes.push(StateChange {
            mark: RecordMark {
                seq: version.mark.seq,
                at,
            },
            object: version.object,
            state,
            is_unreported: false,
            evidence: version.evidence,
            since: None,
        });
    }
}

/// A version of an object, for a tracker.
#[derive(Clone, Copy, Debug)]
pub struct StateVersion<'a> {
    /// The kind.
    pub kind: StateKind,
    /// The resource of the record.
    pub resource: ResourceId,
    /// The object: another one of the same name is another life.
    pub object: ObjectId,
    /// Its namespace; may be empty.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The record.
    pub mark: RecordMark,
    /// The evidence.
    pub evidence: Evidence,
}

/// The states in a version of an object.
struct ShownState<'a> {
    /// Its state as a whole, if it is derived and known.
    whole: Option<(StateHealth, String)>,
    conditions: &'a [Value],
    containers: Vec<ContainerHealth<'a>>,
}

/// A kind, the resource if the kind has several, a namespace and a name.
type TrackedName = (StateKind, Option<ResourceId>, String, String);

/// Derives states from versions, which must come in the order of records.
///
/// Memory grows with the changes of state, not with the versions; texts are stored once.
#[derive(Debug, Default)]
pub struct StateTracker {
    objects: BTreeMap<TrackedName, TrackedObject>,
    /// Whether every condition and container has a track, also for kinds with many objects.
    has_parts: bool,
    texts: BTreeSet<Arc<str>>,
    states: BTreeSet<Arc<StateText>>,
}

#[derive(Debug)]
struct TrackedObject {
    subject: Arc<StateSubject>,
    /// The live object, if there is one.
    object: Option<ObjectId>,
    tracks: Vec<StateTrack>,
}

impl StateTracker {
    /// Derives the states of every condition and container, too: for few objects.
    pub fn with_parts() -> Self {
        Self {
            has_parts: true,
            ..Self::default()
        }
    }

    /// Takes a version of an object.
    pub fn take(&mut self, version: &StateVersion<'_>, body: &Value) {
        let containers = if self.has_parts && version.kind == StateKind::Pod {
            ContainerHealth::all(body)
        } else {
            Vec::new()
        };
        let shown = ShownState {
            whole: version.kind.whole(body),
            conditions: StatusCondition::items(body),
            containers,
        };
        self.change(version, Some(shown));
    }

    /// Takes the conditions of a version, for callers that parsed nothing else.
    pub(crate) fn take_conditions(&mut self, version: &StateVersion<'_>, conditions: &[Value]) {
        let shown = ShownState {
            whole: None,
            conditions,
            containers: Vec::new(),
        };
        self.change(version, Some(shown));
    }

    /// Takes the deletion of an object.
    pub fn end(&mut self, version: &StateVersion<'_>) {
        self.change(version, None);
    }

    fn change(&mut self, version: &StateVersion<'_>, shown: Option<ShownState<'_>>) {
        let is_one_of_many = version.kind.is_other();
        let key = (
            version.kind,
            is_one_of_many.then_some(version.resource),
            version.namespace.to_owned(),
            version.name.to_owned(),
        );
        let Self {
            objects,
            has_parts,
            texts,
            states,
        } = self;
        let tracked = objects.entry(key).or_insert_with(|| TrackedObject {
            subject: Arc::new(StateSubject {
                kind: version.kind,
                namespace: version.namespace.to_owned(),
                name: version.name.to_owned(),
                resource: version.resource,
            }),
            object: None,
            tracks: Vec::new(),
        });
        // The deletion of an earlier object of the name does not end a state of the live one.
        if shown.is_none() && tracked.object.is_some_and(|own| own != version.object) {
            return;
        }
        let is_same_life = tracked.object == Some(version.object);
        if !is_same_life || shown.is_none() {
            tracked.end(version);
        }
        let Some(shown) = shown else {
            tracked.object = None;
            return;
        };
        tracked.object = Some(version.object);
        let mut text = |text: &str| shared(texts, text);
        let mut shared_state = |state: StateText| shared(states, state);
        if let Some((health, word)) = shown.whole {
            tracked.take_word(
                version,
                AspectRef::Whole,
                (health, &word),
                &mut text,
                &mut shared_state,
            );
        } else if is_one_of_many && let Some(track) = tracked.known(AspectRef::Whole) {
            // Aspects that the version no longer reports end.
            track.end(version);
        }
        for one in &shown.containers {
            let aspect = AspectRef::Container(one.name);
            let state = (one.health, one.word.as_str());
            tracked.take_word(version, aspect, state, &mut text, &mut shared_state);
        }
        if *has_parts {
            tracked.end_containers(version, &shown.containers);
        }
        if *has_parts || version.kind.has_conditions() {
            let conditions = (shown.conditions, *has_parts);
            tracked.take_conditions(version, conditions, text, shared_state);
        }
    }
}

/// Returns the stored copy of a value.
fn shared<K: ?Sized + Ord, N>(known: &mut BTreeSet<Arc<K>>, new: N) -> Arc<K>
where
    N: Borrow<K> + Into<Arc<K>>,
{
    if let Some(known) = known.get(new.borrow()) {
        return Arc::clone(known);
    }
    let new: Arc<K> = new.into();
    known.insert(Arc::clone(&new));
    new
}

impl TrackedObject {
    fn take_conditions(
        &mut self,
        version: &StateVersion<'_>,
        (conditions, is_shown_by_itself): (&[Value], bool),
        mut text: impl FnMut(&str) -> Arc<str>,
        mut shared_state: impl FnMut(StateText) -> Arc<StateText>,
    ) {
        let mut reported: Vec<&str> = Vec::new();
        for condition in StatusCondition::first_of_each(conditions) {
            reported.push(condition.kind);
            let track = self.track(AspectRef::Condition(condition.kind), &mut text);
            let last = track.last();
            if last.is_some_and(|last| {
                *last.status == *condition.status
                    && *last.reason == *condition.reason
                    && *last.message == *condition.message
            }) {
                continue;
            }
            let state = StateText {
                health: if is_shown_by_itself {
                    let StatusCondition {
                        kind,
                        status,
                        reason,
                        ..
                    } = condition;
                    version.kind.condition_health(kind, status, reason)
                } else {
                    version.kind.health_of(condition.kind, condition.status)
                },
                status: text(condition.status),
                reason: text(condition.reason),
                message: text(condition.message),
            };
            track.change(version, Some(shared_state(state)));
            if let Some(change) = track.changes.last_mut() {
                change.since = condition.since();
            }
        }
        for track in &mut self.tracks {
            let is_reported = track
                .aspect
                .condition()
                .is_none_or(|kind| reported.contains(&kind));
            if !is_reported {
                track.end_report(version);
            }
        }
    }

    /// Takes a state with a reason.
    fn take_word(
        &mut self,
        version: &StateVersion<'_>,
        aspect: AspectRef<'_>,
        (health, word): (StateHealth, &str),
        text: &mut impl FnMut(&str) -> Arc<str>,
        shared_state: &mut impl FnMut(StateText) -> Arc<StateText>,
    ) {
        let track = self.track(aspect, text);
        let last = track.last();
        if last.is_some_and(|last| last.health == Some(health) && *last.status == *word) {
            return;
        }
        let state = StateText {
            health: Some(health),
            status: text(word),
            reason: text(""),
            message: text(""),
        };
        track.change(version, Some(shared_state(state)));
    }

    /// Ends the containers that a version no longer has.
    fn end_containers(&mut self, version: &StateVersion<'_>, shown: &[ContainerHealth<'_>]) {
        for track in &mut self.tracks {
            if let Aspect::Container(name) = &track.aspect
                && !shown.iter().any(|one| *one.name == **name)
            {
                track.end(version);
            }
        }
    }

    fn known(&mut self, aspect: AspectRef<'_>) -> Option<&mut StateTrack> {
        let mut tracks = self.tracks.iter_mut();
        tracks.find(|track| track.aspect.borrowed() == aspect)
    }
}

impl StateTracker {
    /// Returns the tracks by kind, namespace, name and aspect.
    pub fn into_tracks(self) -> impl Iterator<Item = StateTrack> {
        self.objects.into_values().flat_map(|mut tracked| {
            tracked.tracks.sort_by(|a, b| a.aspect.cmp(&b.aspect));
            tracked.tracks
        })
    }
}

impl TrackedObject {
    fn end(&mut self, version: &StateVersion<'_>) {
        for track in &mut self.tracks {
            track.end(version);
        }
    }

    fn track(
        &mut self,
        aspect: AspectRef<'_>,
        text: &mut impl FnMut(&str) -> Arc<str>,
    ) -> &mut StateTrack {
        let known = self
            .tracks
            .iter()
            .position(|track| track.aspect.borrowed() == aspect);
        let at = known.unwrap_or(self.tracks.len());
        if known.is_none() {
            self.tracks.push(StateTrack {
                object: Arc::clone(&self.subject),
                aspect: match aspect {
                    AspectRef::Whole => Aspect::Whole,
                    AspectRef::Condition(kind) => Aspect::Condition(text(kind)),
                    AspectRef::Container(name) => Aspect::Container(text(name)),
                },
                changes: Vec::new(),
            });
        }
        #[expect(clippy::indexing_slicing, reason = "found or pushed just above")]
        &mut self.tracks[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::Seq;
    use serde_json::json;

    fn version(seq: u64, at: i64, object: u32) -> StateVersion<'static> {
        StateVersion {
            kind: StateKind::Operator,
            resource: ResourceId(0),
            object: ObjectId(object),
            namespace: "",
            name: "etcd",
            mark: RecordMark {
                seq: Seq(seq),
                at: RecordedAt::from_micros(at),
            },
            evidence: Evidence::Live,
        }
    }

    fn degraded(status: &str) -> Value {
        json!({"status": {"conditions": [{"type": "Degraded", "status": status}]}})
    }

    /// Returns the statuses of the condition `Degraded` with the records that bound them.
    fn told(tracker: StateTracker) -> Vec<(String, u64, Option<u64>)> {
        let mut tracks = tracker.into_tracks();
        let track = tracks
            .find(|track| track.aspect().condition() == Some("Degraded"))
            .expect("a track");
        let told = |one: StateInterval<'_>| {
            let to = one.to.map(|to| to.seq.0);
            (one.state.status.to_string(), one.from.seq.0, to)
        };
        track.intervals().map(told).collect()
    }

    #[test]
    fn versions_with_one_timestamp_are_ordered_by_record() {
        let mut tracker = StateTracker::default();
        let (yes, no) = (degraded("True"), degraded("False"));
        for (seq, body) in [(1, &no), (2, &yes), (3, &no)] {
            tracker.take(&version(seq, 5, 0), body);
        }
        let expected = [
            ("False".to_owned(), 1, Some(2)),
            ("True".to_owned(), 2, Some(3)),
            ("False".to_owned(), 3, None),
        ];
        assert_eq!(told(tracker), expected);
    }

    #[test]
    fn a_clock_that_stepped_back_moves_no_interval_before_another() {
        let mut tracker = StateTracker::default();
        let (yes, no) = (degraded("True"), degraded("False"));
        for (seq, at, body) in [(1, 9, &no), (2, 5, &yes), (3, 12, &no)] {
            tracker.take(&version(seq, at, 0), body);
        }
        let tracks: Vec<StateTrack> = tracker.into_tracks().collect();
        let times = tracks
            .iter()
            .flat_map(StateTrack::intervals)
            .map(|one| (one.from.at.micros, one.to.map(|to| to.at.micros)));
        for (from, to) in times {
            assert!(to.is_none_or(|to| from <= to), "{from} to {to:?}");
        }
    }

    #[test]
    fn a_deletion_and_a_condition_that_is_not_reported_end_a_state() {
        let mut tracker = StateTracker::default();
        let (yes, none) = (degraded("True"), json!({"status": {"conditions": []}}));
        tracker.take(&version(1, 1, 0), &yes);
        tracker.take(&version(2, 2, 0), &none);
        tracker.take(&version(3, 3, 0), &yes);
        tracker.end(&version(4, 4, 0));
        let expected = [
            ("True".to_owned(), 1, Some(2)),
            ("True".to_owned(), 3, Some(4)),
        ];
        assert_eq!(told(tracker), expected);
    }

    #[test]
    fn another_object_of_the_name_is_another_life() {
        let mut tracker = StateTracker::default();
        let yes = degraded("True");
        tracker.take(&version(1, 1, 0), &yes);
        tracker.take(&version(2, 2, 1), &yes);
        tracker.end(&version(3, 3, 0));
        let expected = [
            ("True".to_owned(), 1, Some(2)),
            ("True".to_owned(), 2, None),
        ];
        assert_eq!(told(tracker), expected);
    }

    #[test]
    fn a_run_of_states_ends_when_another_object_has_the_name() {
        let mut tracker = StateTracker::default();
        let yes = degraded("True");
        let reason = json!({"status": {"conditions": [
            {"type": "Degraded", "status": "True", "reason": "Other"},
        ]}});
        tracker.take(&version(1, 1, 0), &yes);
        tracker.take(&version(2, 2, 0), &reason);
        tracker.take(&version(3, 3, 1), &yes);
        let mut tracks = tracker.into_tracks();
        let track = tracks.find(|track| track.aspect().condition() == Some("Degraded"));
        let track = track.expect("a track");
        let runs = track.runs(|state| Arc::clone(&state.status));
        let runs: Vec<Vec<u64>> = runs
            .iter()
            .map(|(_, run)| run.iter().map(|one| one.from.seq.0).collect())
            .collect();
        assert_eq!(runs, [vec![1, 2], vec![3]]);
    }
}
