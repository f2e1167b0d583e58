//! The versions of one name in order: time, writer, changes, and the gaps between. Each version is
//! read when it is requested.

use crate::body_reader::QueryError;
use crate::changes::{Change, ComparisonScope};
use crate::coverage::{RecordedGap, UnobservedSpan};
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::select::ObjectFilter;
use crate::tables::before;
use crate::timeline::Timeline;
use crate::writers::{self, Authors};
use kubereel_format::{EventType, Evidence, ObjectId, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;
use std::collections::VecDeque;
use std::ops::Range;

/// A query for the versions of a name.
#[derive(Clone, Debug)]
pub struct HistoryQuestion<'a> {
    /// The resource.
    pub resource: &'a ResourceInfo,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// Which fields are compared.
    pub scope: ComparisonScope,
    /// Only versions after this moment.
    pub from: Option<Cut>,
    /// Only versions up to this moment.
    pub to: Option<Cut>,
}

/// An item of a history.
#[derive(Debug)]
pub enum HistoryItem {
    /// A version.
    Version(Box<HistoryVersion>),
    /// A gap of the recording, in which versions may be missing.
    Gap(Box<RecordedGap>),
    /// Another time in which versions may be missing.
    Unobserved(Box<UnobservedSpan>),
    /// A version that cannot be read.
    Unreadable {
        /// The record.
        seq: Seq,
        /// When it was received.
        at: RecordedAt,
        /// The cause.
        error: QueryError,
    },
}

impl HistoryItem {
    /// Returns whether it is a version, also one that cannot be read.
    pub(crate) const fn is_version(&self) -> bool {
        matches!(self, Self::Version(_) | Self::Unreadable { .. })
    }

    /// Returns whether both are the same time without observation.
    pub(crate) fn is_same_gap(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gap(one), Self::Gap(other)) => one == other,
            (Self::Unobserved(one), Self::Unobserved(other)) => one == other,
            _ => false,
        }
    }
}

/// A version of an object, compared with the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryVersion {
    /// The event that brought it.
    pub seq: Seq,
    /// When it was received.
    pub at: RecordedAt,
    /// Since when it may have been committed, if it was received late, or is known from the list after a gap.
    pub not_before: Option<RecordedAt>,
    /// The resourceVersion in the server's spelling; empty if there was none.
    pub rv: String,
    /// The type of the event.
    pub kind: EventType,
    /// The evidence.
    pub evidence: Evidence,
    /// Whether it is the creation of the object, observed when it happened.
    pub is_creation: bool,
    /// The object's uid; empty if the server sent none.
    pub uid: String,
    /// The relation to the version before.
    pub place: VersionPlace,
    /// Its writer.
    pub authors: Authors,
    /// The differences to the version before; for the first version, the requested fields. `None`
    /// if the version before cannot be read.
    pub changes: Option<Vec<Change>>,
    /// How long the version, or the requested fields, lasted.
    pub held: Option<VersionDuration>,
}

/// What a version is known by, beside its time and its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionFact {
    /// What kind of version it is, if it is more than a change.
    Kind(&'static str),
    /// Between which times it may have been committed.
    Bounds(String),
    /// The names of its writers.
    Writers(String),
    /// What limits the others.
    Note(&'static str),
}

impl HistoryVersion {
    /// Returns what the version is known by, in words.
    pub fn facts(&self, timeline: &Timeline) -> Vec<VersionFact> {
        let mut facts = Vec::new();
        facts.extend(self.kind_words().map(VersionFact::Kind));
        if let Some(since) = self.not_before {
            let (since, at) = (timeline.written(since), timeline.written(self.at));
            facts.push(VersionFact::Bounds(format!("between {since} and {at}")));
        }
        match &self.authors {
            Authors::Named(writers) => {
                let others = if self.evidence == Evidence::Listed {
                    ", possibly others"
                } else {
                    ""
                };
                let names = writers::managers(writers);
                facts.push(VersionFact::Writers(format!("{names}{others}")));
            }
            Authors::Unknown if self.place == VersionPlace::Later => {
                facts.push(VersionFact::Note("writer unknown"));
            }
            Authors::Unknown | Authors::Deletion => {}
        }
        if self.evidence == Evidence::Reconstructed {
            facts.push(VersionFact::Note("reconstructed: read back after a gap"));
        }
        facts
    }

    const fn kind_words(&self) -> Option<&'static str> {
        Some(match (self.kind, self.evidence, &self.place) {
            (EventType::Deleted, Evidence::Inferred | Evidence::Listed, _) => {
                "deleted: missing from a list, time unknown"
            }
            (EventType::Deleted, _, _) => "deleted",
            (_, Evidence::Initial, VersionPlace::First | VersionPlace::Anew { .. }) => {
                "existed when the recording started"
            }
            (_, _, VersionPlace::First) if self.is_creation => "created",
            (_, _, VersionPlace::Anew { .. }) if self.is_creation => "created again",
            (
                _,
                Evidence::Listed | Evidence::Polled,
                VersionPlace::First | VersionPlace::Anew { .. },
            ) => "first seen in a list",
            (_, _, VersionPlace::First | VersionPlace::Anew { .. }) => "first seen",
            (_, Evidence::Listed | Evidence::Polled, VersionPlace::Later) => "seen in a list",
            (_, Evidence::Initial | Evidence::Inferred, VersionPlace::Later) => "listed",
            (
                _,
                Evidence::Live | Evidence::Reconstructed | Evidence::Imported,
                VersionPlace::Later,
            ) => return None,
        })
    }
}

/// The relation of a version to those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionPlace {
    /// The first version of the name.
    First,
    /// The first version of another object with the name.
    Anew {
        /// The uid of the previous object.
        old_uid: String,
        /// Whether the deletion of the previous object was observed.
        deletion_was_seen: bool,
    },
    /// A later version of the same object.
    Later,
}

/// How long a state lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionDuration {
    /// Microseconds; the least that it lasted, if its begin or its end has bounds.
    pub micros: u64,
    /// The most that it lasted, if its begin or its end has bounds.
    pub most_micros: Option<u64>,
    /// Why the duration is not known any longer.
    pub until: DurationEnd,
}

/// The end of a state, or of the knowledge about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationEnd {
    /// The next change.
    Change,
    /// A gap: the state may have lasted longer or shorter.
    Gap,
    /// The list of an import before the one that shows the next change: it lasted longer, or as long.
    List,
    /// The end of the requested time, before the end of the recording: it lasted longer, or as long.
    Window,
    /// The end of the recording.
    End,
}

/// Iterates over the versions of a name; see [`Timeline::history`].
pub struct ObjectHistory<'a> {
    timeline: &'a Timeline,
    question: HistoryQuestion<'a>,
    steps: VecDeque<PlannedStep>,
    versions: usize,
    gaps: usize,
    end: RecordedAt,
    /// The list before the one that shows the next version after the queried time, if only a list does.
    listed: Option<RecordedAt>,
    /// The losses in which a version shows the state of its own moment only.
    scattered: Vec<Range<Seq>>,
    /// The last version that was read.
    last: Option<ReadVersion>,
    /// The last object of the name, and whether its deletion was observed.
    last_object: Option<(ObjectId, bool)>,
    /// The item whose end is not known yet.
    pending: Option<Box<HistoryVersion>>,
    ready: VecDeque<HistoryItem>,
}

/// When a state ended.
struct EndTime {
    at: RecordedAt,
    /// Since when it may have ended, if the end was received late.
    not_before: Option<RecordedAt>,
    /// The record at that time, if there is one.
    seq: Option<Seq>,
}

impl EndTime {
    /// Returns when a version ended the one before it.
    const fn of(version: &HistoryVersion) -> Self {
        Self {
            at: version.at,
            not_before: version.not_before,
            seq: Some(version.seq),
        }
    }
}

impl From<RecordedAt> for EndTime {
    fn from(at: RecordedAt) -> Self {
        Self {
            at,
            not_before: None,
            seq: None,
        }
    }
}

struct ReadVersion {
    seq: Seq,
    at: RecordedAt,
    value: Option<Value>,
}

enum PlannedStep {
    Version {
        object: ObjectId,
        seq: Seq,
        before: Option<Seq>,
    },
    Gap(Box<RecordedGap>),
    Unobserved(Box<UnobservedSpan>),
}

impl Timeline {
    /// Returns the versions of a name in the order of arrival, and the gaps between.
    ///
    /// Each body is read when its item is requested: the cost depends on the number of the name's
    /// versions, not on the length of the reel. If fields are requested, versions that do not
    /// change them are left out, except the first and the last of each object.
    pub fn history<'a>(&'a self, question: HistoryQuestion<'a>) -> ObjectHistory<'a> {
        ObjectHistory::new(self, question)
    }

    /// Returns who wrote a version of a name, compared with the version before it.
    pub(crate) fn authors_of(
        &self,
        resource: &ResourceInfo,
        (namespace, name): (&str, &str),
        seq: Seq,
    ) -> Authors {
        let wall = self.wall_of(seq);
        let cut = |below| Some(Cut::Arrival { below, wall });
        let mut history = self.history(HistoryQuestion {
            resource,
            namespace,
            name,
            scope: ComparisonScope::default(),
            from: cut(seq),
            to: cut(Seq(seq.0.saturating_add(1))),
        });
        let authors = history.find_map(|item| match item {
            HistoryItem::Version(version) if version.seq == seq => Some(version.authors),
            _ => None,
        });
        authors.unwrap_or(Authors::Unknown)
    }

    /// Returns who wrote a version. `old` is the version before it that was read, with the time at which it was
    /// received, and `changes` are all changes between the two.
    pub(crate) fn authors(
        &self,
        seq: Seq,
        old: Option<(&Value, RecordedAt)>,
        new: &Value,
        changes: &[Change],
    ) -> Authors {
        match old {
            _ if self.reel().kind_of(seq) == Some(EventType::Deleted) => Authors::Deletion,
            // Only a creation that was observed was written by the managers of the version;
            // otherwise they may have written long before.
            _ if self.is_creation(seq) => Authors::of(writers::at_creation(new)),
            Some((old, at)) => {
                let micros = self.wall_of(seq).micros_since(at);
                writers::between(old, new, changes, micros)
            }
            None => Authors::Unknown,
        }
    }

    /// Returns since when a version may have been committed that was received late, or is known from the list after a
    /// gap.
    pub fn not_before(&self, seq: Seq) -> Option<RecordedAt> {
        let unseen = || {
            let evidence = self.reel().evidence_of(seq)?;
            let is_of_list = matches!(evidence, Evidence::Listed | Evidence::Inferred);
            // Of what only lists of an import show, every time is that of a list.
            let is_bounded = is_of_list && self.listed_before(seq).is_none();
            is_bounded.then(|| self.unseen_before(seq)).flatten()
        };
        self.late_since(seq).or_else(unseen)
    }

    /// Returns the writers of a record's version; none if the record has none.
    pub fn authors_of_record(&self, seq: Seq) -> Authors {
        let object = self.reel().object_of(seq);
        let key = object.and_then(|object| self.key_of(object));
        let resource = key.and_then(|key| self.resources().get(key.resource));
        key.zip(resource)
            .map_or(Authors::Unknown, |(key, resource)| {
                self.authors_of(resource, (key.namespace, key.name), seq)
            })
    }
}

impl<'a> ObjectHistory<'a> {
    fn new(timeline: &'a Timeline, question: HistoryQuestion<'a>) -> Self {
        let resource = question.resource.id;
        let is_within = |seq: Seq, cut: Cut| timeline.is_within(seq, cut);
        let is_asked = |seq: Seq| {
            question.from.is_none_or(|from| !is_within(seq, from))
                && question.to.is_none_or(|to| is_within(seq, to))
        };
        let mut versions: Vec<(Seq, ObjectId, Option<Seq>)> = Vec::new();
        let mut last_object = None;
        let mut next: Option<Seq> = None;
        let mut previous: Option<(ObjectId, Seq)> = None;
        for life in timeline.lives(resource, question.namespace, question.name) {
            let seqs = timeline.reel().versions(life.object);
            // The same object may be recorded in two versions of its resource, one after the other.
            let same = previous.filter(|(object, last)| {
                *last < life.first && timeline.is_one_object(*object, life.object)
            });
            let mut before = same.map(|(_, last)| last);
            previous = seqs.last().map(|last| (life.object, *last));
            for &seq in seqs {
                if is_asked(seq) {
                    versions.push((seq, life.object, before));
                } else if question.from.is_some_and(|from| is_within(seq, from)) {
                    let is_gone = timeline.reel().kind_of(seq) == Some(EventType::Deleted);
                    last_object = last_object.max(Some((seq, life.object, is_gone)));
                } else {
                    next = Some(next.map_or(seq, |next| next.min(seq)));
                }
                before = Some(seq);
            }
        }
        versions.sort_unstable();
        let wall = |cut: Cut| timeline.wall_at(resource, cut);
        let from = question.from.map_or(RecordedAt { micros: i64::MIN }, wall);
        let end = question.to.map_or(timeline.end(), wall).min(timeline.end());
        let count = versions.len();
        let names = [question.name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(question.namespace),
            names: &names,
        };
        let steps = planned(timeline, &question, &filter, versions, from..end);
        // No object outlives its resource.
        let gone = timeline.gone_since(resource);
        Self {
            timeline,
            scattered: timeline.scattered_losses(resource, &filter),
            question,
            gaps: steps.len() - count,
            versions: count,
            steps,
            listed: next.and_then(|next| timeline.listed_before(next)),
            end: gone.map_or(end, |gone| gone.min(end)),
            last: None,
            last_object: last_object.map(|(_, object, is_gone)| (object, is_gone)),
            pending: None,
            ready: VecDeque::new(),
        }
    }

    /// Returns the number of versions in the queried time, whatever they change.
    pub const fn versions(&self) -> usize {
        self.versions
    }

    /// Returns the number of gaps and other unobserved times in the queried time.
    pub const fn gaps(&self) -> usize {
        self.gaps
    }

    fn take(&mut self, step: PlannedStep) {
        match step {
            PlannedStep::Gap(gap) => {
                self.settle(gap.from, DurationEnd::Gap);
                self.ready.push_back(HistoryItem::Gap(gap));
            }
            PlannedStep::Unobserved(span) => {
                self.settle(span.from, DurationEnd::Gap);
                self.ready.push_back(HistoryItem::Unobserved(span));
            }
            PlannedStep::Version {
                object,
                seq,
                before,
            } => match self.version(object, seq, before) {
                Ok(version) => self.show(version),
                Err(error) => {
                    let at = self.timeline.wall_of(seq);
                    self.settle(at, DurationEnd::Gap);
                    self.ready
                        .push_back(HistoryItem::Unreadable { seq, at, error });
                }
            },
        }
    }

    /// Holds a version back until its end is known, unless it does not change a requested field.
    fn show(&mut self, version: Box<HistoryVersion>) {
        let is_quiet = version.place == VersionPlace::Later
            && version.kind != EventType::Deleted
            && !self.question.scope.fields.is_empty()
            && version.changes.as_ref().is_some_and(Vec::is_empty);
        if is_quiet {
            return;
        }
        match self.timeline.listed_before(version.seq) {
            Some(listed) => self.settle(listed, DurationEnd::List),
            None => self.settle(EndTime::of(&version), DurationEnd::Change),
        }
        let (seq, at) = (version.seq, version.at);
        self.pending = Some(version);
        if self.scattered.iter().any(|lost| lost.contains(&seq)) {
            self.settle(at, DurationEnd::Gap);
        }
    }

    /// Returns when the recording ended.
    fn last_record(&self) -> EndTime {
        EndTime {
            seq: before(self.timeline.reel().end()),
            ..EndTime::from(self.end)
        }
    }

    /// Ends the item that was held back.
    fn settle(&mut self, end: impl Into<EndTime>, until: DurationEnd) {
        let end = end.into();
        let Some(mut version) = self.pending.take() else {
            return;
        };
        if version.kind != EventType::Deleted {
            let micros = |from: RecordedAt, to: RecordedAt| to.micros_since(from);
            let least = match (end.not_before, end.seq) {
                (Some(not_before), _) => micros(version.at, not_before),
                (None, Some(seq)) => (self.timeline.micros_between(version.seq, seq))
                    .unwrap_or_else(|| micros(version.at, end.at)),
                (None, None) => micros(version.at, end.at),
            };
            let least = u64::try_from(least).unwrap_or_default();
            let begun = version.not_before.or(end.not_before.map(|_| version.at));
            // One list alone does not show for how long.
            let is_shown = !matches!(until, DurationEnd::List | DurationEnd::Gap);
            let is_known = is_shown || least > 0;
            let is_ended = matches!(until, DurationEnd::Change | DurationEnd::End);
            let most = begun
                .filter(|_| is_ended)
                .map(|begun| micros(begun, end.at));
            let most_micros = most.map(|most| u64::try_from(most).unwrap_or_default());
            version.held = is_known.then_some(VersionDuration {
                micros: least,
                most_micros,
                until,
            });
        }
        self.ready.push_back(HistoryItem::Version(version));
    }

    fn version(
        &mut self,
        object: ObjectId,
        seq: Seq,
        before: Option<Seq>,
    ) -> Result<Box<HistoryVersion>, QueryError> {
        let at = self.timeline.wall_of(seq);
        let old = before.map(|before| match self.last.take() {
            Some(last) if last.seq == before => last,
            _ => ReadVersion {
                seq: before,
                at: self.timeline.wall_of(before),
                value: self.value(before).ok(),
            },
        });
        let new = match self.value(seq) {
            Ok(new) => new,
            Err(error) => {
                let value = None;
                self.last = Some(ReadVersion { seq, at, value });
                self.last_object = Some((object, false));
                return Err(error);
            }
        };
        let head = self.timeline.reel().head(seq);
        let kind = head.as_ref().map_or(EventType::Modified, |head| head.kind);
        let place = self.place(object, before.is_none());
        self.last_object = Some((object, kind == EventType::Deleted));
        let evidence = head.as_ref().map_or(Evidence::Live, |head| head.evidence);
        let (changes, authors) = self.compared(old.as_ref(), &new, seq);
        self.last = Some(ReadVersion {
            seq,
            at,
            value: Some(new),
        });
        Ok(Box::new(HistoryVersion {
            seq,
            at,
            not_before: self.timeline.not_before(seq),
            rv: head
                .as_ref()
                .map_or_else(String::new, |head| head.resource_version.clone()),
            kind,
            evidence,
            is_creation: self.timeline.is_creation(seq),
            uid: self.uid(object),
            place,
            authors,
            changes,
            held: None,
        }))
    }

    fn compared(
        &self,
        old: Option<&ReadVersion>,
        new: &Value,
        seq: Seq,
    ) -> (Option<Vec<Change>>, Authors) {
        let scope = &self.question.scope;
        let before = old.and_then(|old| Some((old.value.as_ref()?, old.at)));
        let compared = |scope: &ComparisonScope, before: Seq, old: &Value| {
            (self.timeline).field_changes(scope, (before, old), (seq, new))
        };
        let whole = ComparisonScope::default();
        let all = old.and_then(|old| Some((old.seq, old.value.as_ref()?)));
        let all = all.map(|(before, old)| compared(&whole, before, old));
        let authors = (self.timeline).authors(seq, before, new, all.as_deref().unwrap_or_default());
        let changes = match (before, old) {
            (Some((value, _)), Some(old)) => Some(compared(scope, old.seq, value)),
            (Some((value, _)), None) => Some(scope.changes(value, new)),
            (None, Some(_)) => None,
            (None, None) if scope.fields.is_empty() => Some(Vec::new()),
            (None, None) => Some(scope.contents(new)),
        };
        (changes, authors)
    }

    fn place(&self, object: ObjectId, is_first: bool) -> VersionPlace {
        match self.last_object {
            Some((last, _)) if self.timeline.is_one_object(last, object) => VersionPlace::Later,
            Some((last, deletion_was_seen)) if is_first => VersionPlace::Anew {
                old_uid: self.uid(last),
                deletion_was_seen,
            },
            _ if is_first => VersionPlace::First,
            _ => VersionPlace::Later,
        }
    }

    fn uid(&self, object: ObjectId) -> String {
        let key = self.timeline.key_of(object);
        key.map_or_else(String::new, |key| key.uid.text().into_owned())
    }

    fn value(&self, seq: Seq) -> Result<Value, QueryError> {
        self.timeline
            .object(seq, self.question.resource, ObjectForm::WHOLE)
    }
}

impl Iterator for ObjectHistory<'_> {
    type Item = HistoryItem;

    fn next(&mut self) -> Option<HistoryItem> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if let Some(step) = self.steps.pop_front() {
                self.take(step);
            } else {
                self.pending.as_ref()?;
                match self.listed.filter(|listed| *listed < self.end) {
                    Some(listed) => self.settle(listed, DurationEnd::List),
                    None if self.end < self.timeline.end() => {
                        self.settle(self.end, DurationEnd::Window);
                    }
                    None => self.settle(self.last_record(), DurationEnd::End),
                }
            }
        }
    }
}

/// Inserts the times in which changes of the name may be missing.
fn planned(
    timeline: &Timeline,
    question: &HistoryQuestion<'_>,
    filter: &ObjectFilter<'_>,
    versions: Vec<(Seq, ObjectId, Option<Seq>)>,
    asked: Range<RecordedAt>,
) -> VecDeque<PlannedStep> {
    // What is lost behind the last record begins at the end of the recording.
    let reaches_end = asked.end >= timeline.end();
    let spans = timeline.unobserved_in_versions(question.resource.id);
    let spans = spans.filter(|span| {
        let is_before_end = span.from < asked.end || (reaches_end && span.from == asked.end);
        timeline.concerns(span, filter) && span.to > asked.start && is_before_end
    });
    let mut gaps: Vec<(RecordedAt, PlannedStep)> = spans
        .map(|span| match span.open_gap() {
            Some(gap) => (span.from, PlannedStep::Gap(Box::new(gap.clone()))),
            None => (span.from, PlannedStep::Unobserved(Box::new(span.clone()))),
        })
        .collect();
    gaps.sort_by_key(|(from, _)| *from);
    let mut gaps = VecDeque::from(gaps);
    let mut steps = VecDeque::new();
    for (seq, object, before) in versions {
        // An event after the begin of a gap arrived with the list that ended the gap, or later.
        let at = timeline.wall_of(seq);
        while gaps.front().is_some_and(|(from, _)| *from < at) {
            steps.extend(gaps.pop_front().map(|(_, step)| step));
        }
        steps.push_back(PlannedStep::Version {
            object,
            seq,
            before,
        });
    }
    steps.extend(gaps.into_iter().map(|(_, step)| step));
    steps
}
