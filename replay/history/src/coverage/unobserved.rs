//! The one reading of what a recording did not observe. Every claim about a resource is derived
//! from these spans: whether a state is known at a moment, which changes a history may lack, where
//! a lane is unknown, whether a recording is complete.
//!
//! Invariants:
//!
//! * A span is bounded by evidence: the end of a connection, the record that declared or proved
//!   something, the list that showed the state again. Neighbouring events do not bound a span.
//! * A gap of which every change was read back, or which the revisions prove to be empty, does not
//!   miss changes: its changes arrived late.
//! * Where every change arrived, only objects whose changes arrived late have unknown states. A
//!   change arrived late unless the probes of the storage show that it was committed after the
//!   span. If no change did, the span counts as observed: it was read back.
//! * A span whose changes arrived late lasts until the last of them was received, unless a list
//!   showed the state before: until then the state is not known.
//! * While the API server answers no probe, an open watch may be silent because nothing changed or because
//!   nothing is delivered: the changes that it delivers later may be of that time.
//! * A change that the lives of objects prove to be lost concerns the object of that name only. It
//!   does not affect queries about other objects; it affects queries about all objects.
//! * An imported recording does not state its completeness: only the losses that it marks itself
//!   are known. What only lists show is not known after the last of them.
//! * An object that has the same uid and resourceVersion before a span and in the next list did not change in it. This
//!   affects queries about this object only: others may have been created and deleted in the span.
//! * A span has bounds by arrival and, if a loss lies between two resourceVersions, bounds by
//!   these. The same spans answer a query by revision and one by time.

use super::chain::{Coverage, RecorderEnd};
use super::damaged::DamagedSpan;
use super::gap::{GapOutcome, RecordedGap};
use super::lost::LostChange;
use crate::select::ObjectFilter;
use crate::session::Outage;
use crate::tables::{ReelTables, before};
use kubereel_format::{
    EventType, GapCause, Loss, NotCoveredReason, ObjectId, OddLineProblem, RecordedAt, Reel,
    ResourceId, Seq,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How long after its announcement the first list of a resource may arrive, in microseconds: 60 s.
///
/// At the begin of a recording hundreds of lists are requested, and the wait for them is not a
/// span; a list that arrives minutes later leaves one.
const LATEST_LIST_MICROS: i64 = 60_000_000;

/// The shortest time without a watch that is a span, in microseconds: 1 s.
///
/// The changes of a shorter time arrive when the watch continues, no later than deliveries on a
/// busy server may be anyway; at the end it is the end of the recording.
pub(super) const SHORTEST_BLINDNESS_MICROS: i64 = 1_000_000;

/// How long after an unobserved time its changes arrive, where no probe shows when they were committed, in
/// microseconds: 5 s.
pub(super) const LATE_MICROS: i64 = 5_000_000;

/// A time in which a resource was not observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnobservedSpan {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; the end of the recording if nothing ended it. If its changes arrived late, when the last of them
    /// did.
    pub to: RecordedAt,
    /// The resource.
    pub resource: ResourceId,
    /// The cause.
    pub reason: UnobservedReason,
    begin: SpanBegin,
    end: SpanEnd,
    /// Between which resourceVersions the state is not known; `None` if the span has no such
    /// bounds.
    revisions: Option<RevisionBounds>,
    /// Whether it is too short to be distinguished from a late delivery.
    is_brief: bool,
    /// The objects that it concerns, as far as they are known: if no change is missing in it, those that changed in
    /// it; if only bodies are lost, those whose versions these are.
    objects: ConcernedObjects,
    /// The list after it, if the recorder compared that with the objects before it: it wrote what was not the same.
    compared_by: Option<Seq>,
}

/// The objects whose changes may be missing from a span, or may have been committed in it and received after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ConcernedObjects {
    /// Unknown: any object.
    #[default]
    Any,
    /// Only these, by namespace and name.
    Of(BTreeSet<(String, String)>),
}

/// The resourceVersions of unknown states: above the one and below the other, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RevisionBounds {
    pub(super) after: Option<u128>,
    pub(super) below: Option<u128>,
}

/// The begin of a span in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanBegin {
    /// Before everything.
    Start,
    /// Not at a record.
    At(RecordedAt),
    /// At a record.
    Record(Seq),
}

/// The end of a span in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanEnd {
    /// Not at a record.
    At(RecordedAt),
    /// At a record that showed the state again.
    Record(Seq),
    /// Nothing ended it.
    Open,
}

/// The effect of a span on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnobservedEffect {
    /// Changes may be missing from the reel.
    MayMiss,
    /// Every change is in the reel, but was received later.
    Late,
    /// There was no state: the recording of the resource had not begun, or the resource was not
    /// served.
    NoState,
}

/// Why a resource was not observed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnobservedReason {
    /// The first complete list had not arrived yet.
    NotBegun,
    /// The first complete list arrived late.
    NotListedYet,
    /// The resource was served, and no complete list of it was ever received.
    NeverListed,
    /// The recording has a gap. If no change is missing in it, the changes arrived late.
    Gap {
        /// The gap, with the proofs about its changes.
        gap: RecordedGap,
    },
    /// The resource was not recorded.
    NotRecorded {
        /// The cause.
        reason: NotCoveredReason,
        /// The server's message; may be empty.
        detail: String,
    },
    /// No watch ran; the next one delivered the changes.
    NoWatch {
        /// How much is known of the recorder at its begin.
        recorder: RecorderEnd,
    },
    /// A watch was open, but the API server did not answer; the changes of that time were delivered later.
    NoAnswer,
    /// A watch was open, but the recorder did not run; the changes of that time were received later.
    RecorderPaused,
    /// No watch ran any more.
    WatchEnded {
        /// How much is known of the recorder at its begin.
        recorder: RecorderEnd,
    },
    /// Only lists of an import show the resource, and this is the time after the last of them.
    NotListedAgain,
    /// Later events prove that a change of an object is lost.
    LostChange {
        /// The change.
        lost: LostChange,
    },
    /// An object was stored as an unparsed line: its change is not in the state.
    Unparsed {
        /// Why the first of the lines could not be parsed.
        problem: OddLineProblem,
        /// The number of such lines.
        lines: u64,
    },
    /// A part of the reel cannot be read.
    Damaged {
        /// The part, and the cause.
        place: String,
    },
    /// Records were lost before the reel was recovered from a damaged one.
    LostBeforeRecovery {
        /// The cause.
        cause: String,
    },
}

impl UnobservedReason {
    /// Returns whether the watches were open, and nothing came through them.
    pub(crate) const fn is_silence(&self) -> bool {
        matches!(self, Self::NoAnswer | Self::RecorderPaused)
    }

    /// Returns whether damage is the reason, of this file or of the one that it was recovered from.
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::LostBeforeRecovery { .. })
    }

    /// Returns its effect on an answer.
    pub fn effect(&self) -> UnobservedEffect {
        match self {
            Self::Gap { gap } if gap.outcome() != GapOutcome::MayMiss => UnobservedEffect::Late,
            Self::NotBegun
            | Self::NotRecorded {
                reason: NotCoveredReason::Gone,
                ..
            } => UnobservedEffect::NoState,
            Self::NoWatch { .. } | Self::NoAnswer | Self::RecorderPaused => UnobservedEffect::Late,
            _ => UnobservedEffect::MayMiss,
        }
    }
}

impl UnobservedSpan {
    /// Returns whether nothing ended it.
    pub const fn is_open(&self) -> bool {
        matches!(self.end, SpanEnd::Open)
    }

    /// Returns when it began; `None` if damage took the begin of the recording.
    pub fn known_from(&self) -> Option<RecordedAt> {
        let is_lost = self.begin == SpanBegin::Start && self.reason.is_damage();
        // Damage that may be anywhere in the recording is within it.
        (!is_lost || self.is_open()).then_some(self.from)
    }

    /// Returns when it ended, which is the end of the recording if nothing ended it; `None` if damage took that end.
    pub fn known_to(&self) -> Option<RecordedAt> {
        let is_lost = self.is_open() && self.reason.is_damage() && !self.is_of_bodies();
        (!is_lost || self.begin == SpanBegin::Start).then_some(self.to)
    }

    /// Returns the gap, if it is one in which changes may be missing.
    pub fn open_gap(&self) -> Option<&RecordedGap> {
        self.gap()
            .filter(|gap| gap.outcome() == GapOutcome::MayMiss)
    }

    fn gap(&self) -> Option<&RecordedGap> {
        match &self.reason {
            UnobservedReason::Gap { gap } => Some(gap),
            _ => None,
        }
    }

    /// Returns whether no change is missing in it, but changes were received later.
    pub fn is_late(&self) -> bool {
        self.reason.effect() == UnobservedEffect::Late
    }

    /// Returns whether all changes in it are known with their times: no object changed, or the
    /// changes were committed before or after it.
    pub(super) fn is_read_back(&self) -> bool {
        matches!(&self.objects, ConcernedObjects::Of(objects) if objects.is_empty())
    }

    /// Returns whether it contains the state after all records below `cut`, as of a time.
    pub fn holds(&self, cut: Seq, wall: RecordedAt) -> bool {
        let has_begun = match self.begin {
            SpanBegin::Start => true,
            SpanBegin::At(from) => from < wall,
            SpanBegin::Record(by) => by < cut,
        };
        let has_ended = match self.end {
            SpanEnd::At(to) => to <= wall,
            SpanEnd::Record(by) => by < cut,
            SpanEnd::Open => false,
        };
        has_begun && !has_ended
    }

    /// Returns whether it contains the state after the change with a resourceVersion.
    pub(super) fn holds_revision(&self, rv: u128) -> bool {
        self.revisions
            .is_some_and(|RevisionBounds { after, below }| {
                after.is_none_or(|after| after < rv) && below.is_none_or(|below| rv < below)
            })
    }

    /// Returns the records in it: from the first in it to the first behind it; `None` for the
    /// latter if nothing ended it.
    pub(crate) fn records(&self, reel: &Reel) -> (Seq, Option<Seq>) {
        let end = match self.end {
            SpanEnd::At(to) => Some(reel.seq_after(to)),
            SpanEnd::Record(by) => Some(Seq(by.0.saturating_add(1))),
            SpanEnd::Open => None,
        };
        let begin = match self.begin {
            SpanBegin::Start => Seq(0),
            // After a clock stepped back, the time alone must not exclude it.
            SpanBegin::At(from) => {
                let after = reel.seq_after(from);
                after.min(end.and_then(before).unwrap_or(after))
            }
            SpanBegin::Record(by) => by,
        };
        (begin, end)
    }

    /// Returns whether only versions of some objects are unreadable in it: that they changed is known.
    pub fn is_of_bodies(&self) -> bool {
        let is_of_some = matches!(self.objects, ConcernedObjects::Of(_));
        is_of_some && self.reason.is_damage()
    }

    /// Returns whether changes of an object that matches the filter may be missing in it, or were received later.
    pub(crate) fn concerns(&self, tables: &ReelTables, filter: &ObjectFilter<'_>) -> bool {
        self.can_hide(filter) && !self.is_passed_unchanged(tables, filter)
    }

    fn can_hide(&self, filter: &ObjectFilter<'_>) -> bool {
        match (&self.reason, &self.objects) {
            (UnobservedReason::LostChange { lost }, _) => filter.takes(&lost.namespace, &lost.name),
            (_, ConcernedObjects::Of(objects)) => {
                let mut objects = objects.iter();
                objects.any(|(namespace, name)| filter.takes(namespace, name))
            }
            _ => true,
        }
    }

    /// Returns whether the filter takes only objects that are the same before it and in the next list.
    pub(super) fn is_passed_unchanged(
        &self,
        tables: &ReelTables,
        filter: &ObjectFilter<'_>,
    ) -> bool {
        let Some(compared_by) = self.compared_by.filter(|_| !filter.names.is_empty()) else {
            return false;
        };
        let (first, _) = self.records(tables.reel());
        let is_same = |name: &String| {
            let objects = tables.objects_of(self.resource).iter().copied();
            let objects = objects.filter(|object| {
                // A name without a namespace may be that of several objects.
                tables.key_of(*object).is_some_and(|key| {
                    key.name == name && key.namespace == filter.namespace.unwrap_or_default()
                })
            });
            has_same_version(tables, objects, (first, compared_by))
        };
        filter.names.iter().all(is_same)
    }
}

/// Returns whether the last version of a name before the first of two records is the only one up to the second.
fn has_same_version(
    tables: &ReelTables,
    objects: impl Iterator<Item = ObjectId>,
    (first, compared_by): (Seq, Seq),
) -> bool {
    let reel = tables.reel();
    let mut last = None;
    let mut later = Vec::new();
    for object in objects {
        last = last.max(tables.last_version(object, first).map(|seq| (seq, object)));
        let versions = reel.versions(object).iter();
        let within = versions.filter(|seq| (first..=compared_by).contains(seq));
        later.extend(within.map(|seq| (*seq, object)));
    }
    last.is_some_and(|(seq, object)| {
        let rv = reel.rv_of(seq);
        let is_alive = |seq| reel.kind_of(seq) != Some(EventType::Deleted);
        let mut later = later.into_iter();
        is_alive(seq)
            && rv.is_some()
            && later.all(|(seq, other)| other == object && reel.rv_of(seq) == rv && is_alive(seq))
    })
}

impl fmt::Display for UnobservedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBegun => out.write_str("not recorded yet"),
            Self::NotListedYet => out.write_str("not listed yet"),
            Self::NeverListed => out.write_str("never listed completely"),
            Self::NotListedAgain => out.write_str("not listed again"),
            Self::Gap { gap } if gap.outcome() == GapOutcome::MayMiss => {
                write!(out, "gap: {}", gap.cause())
            }
            Self::Gap { gap } => out.write_str(gap.recorder.no_watch()),
            Self::NoWatch { recorder } => out.write_str(recorder.no_watch()),
            Self::NoAnswer => out.write_str("the API server did not answer"),
            Self::RecorderPaused => out.write_str("the recorder was paused"),
            Self::NotRecorded { reason, detail } if detail.is_empty() => {
                write!(out, "not recorded: {}", reason.as_str())
            }
            Self::NotRecorded { reason, detail } => {
                write!(out, "not recorded: {}: {detail}", reason.as_str())
            }
            Self::WatchEnded { recorder } => out.write_str(recorder.no_watch_any_more()),
            Self::LostChange { lost } if lost.is_deletion => out.write_str(
                "a name was reused, but the deletion of its last object was never received",
            ),
            Self::LostChange { .. } => {
                out.write_str("an object changed whose creation was never received")
            }
            Self::Unparsed { problem, .. } => match problem {
                OddLineProblem::TooLong => {
                    out.write_str("an object is too long; it is kept as an unparsed line")
                }
                OddLineProblem::UnknownType => {
                    out.write_str("an event has an unknown type; it is kept as an unparsed line")
                }
                _ => out.write_str("an object cannot be parsed; it is kept as an unparsed line"),
            },
            Self::Damaged { place } => write!(out, "the reel is damaged: {place}"),
            Self::LostBeforeRecovery { cause } => {
                write!(out, "lost before the reel was recovered: {cause}")
            }
        }
    }
}

impl Coverage {
    /// Derives the spans of every resource.
    ///
    /// `unexplained` counts the revisions in a gap that no event explains; it is called only if
    /// changes may be missing in a gap. `not_before` returns a time at which the change of an event
    /// was not committed yet, if one is known; it is called only for events after a span in which
    /// no change is missing.
    pub(crate) fn of_all(
        tables: &ReelTables,
        damaged: &[DamagedSpan],
        outages: &[Outage],
        unexplained: impl Fn(&RecordedGap) -> Option<u64>,
        not_before: impl Fn(ResourceId, Seq) -> Option<RecordedAt>,
    ) -> BTreeMap<ResourceId, Self> {
        let mut all = Self::read_all(tables);
        for coverage in all.values_mut().filter(|one| one.has_open_gaps()) {
            coverage.bound_gaps(&unexplained);
        }
        let first_complete = first_complete(&all);
        for (resource, coverage) in &mut all {
            coverage.date_gaps(outages);
            let mut derived = DerivedSpans {
                tables,
                resource: *resource,
                first_complete,
                all: Vec::new(),
            };
            derived.add_damage(damaged);
            derived.add_coverage(coverage);
            derived.add_outages(coverage, outages);
            derived.date_late(coverage, &not_before);
            derived.find_comparisons(coverage);
            let is_observed =
                |span: &UnobservedSpan| span.reason.is_silence() && span.is_read_back();
            derived.all.retain(|span| !is_observed(span));
            derived.all.sort_by_key(|span| (span.from, span.to));
            let all = derived.all.into_iter();
            let all: (Vec<_>, Vec<_>) = all.partition(|span| span.is_brief);
            coverage.brief = all.0;
            let all = all.1.into_iter();
            (coverage.read_back, coverage.unobserved) = all.partition(UnobservedSpan::is_read_back);
        }
        all
    }

    /// Returns all times in which the resource was not observed, by their begin: also those whose
    /// changes arrived later, and those without a state. They may overlap.
    pub fn unobserved_spans(&self) -> &[UnobservedSpan] {
        &self.unobserved
    }

    /// Returns the times without a watch whose changes are all known, by their begin.
    pub fn read_back(&self) -> &[UnobservedSpan] {
        &self.read_back
    }

    /// Returns the times in which changes of the resource may be missing, by their begin.
    pub fn may_miss(&self) -> impl Iterator<Item = &UnobservedSpan> {
        let spans = self.unobserved.iter();
        spans.filter(|span| span.reason.effect() == UnobservedEffect::MayMiss)
    }

    /// Returns the times without a watch that hide no change: too short, or read back.
    fn observed_anyway(&self) -> impl Iterator<Item = &UnobservedSpan> {
        self.brief.iter().chain(&self.read_back)
    }

    /// Returns the gaps with a verdict, by their begin.
    pub fn gaps(&self, outcome: GapOutcome) -> impl Iterator<Item = &RecordedGap> {
        let spans = self.observed_anyway().chain(&self.unobserved);
        let gaps = spans.filter_map(UnobservedSpan::gap);
        let mut gaps: Vec<&RecordedGap> = gaps.filter(|gap| gap.outcome() == outcome).collect();
        gaps.sort_by_key(|gap| gap.from);
        gaps.into_iter()
    }

    /// Returns the times without a watch that are not declared as a gap in which changes may be
    /// missing, however short, in no order.
    pub fn unwatched(&self) -> impl Iterator<Item = &UnobservedSpan> {
        let is_unwatched = |span: &&UnobservedSpan| {
            let is_open = span.reason.is_silence();
            let has_ended = matches!(span.reason, UnobservedReason::WatchEnded { .. });
            (span.is_late() && !is_open) || has_ended
        };
        let spans = self.observed_anyway().chain(&self.unobserved);
        spans.filter(is_unwatched)
    }
}

/// Returns the record that completed the first list of any resource.
pub(crate) fn first_complete(all: &BTreeMap<ResourceId, Coverage>) -> Option<Seq> {
    let begins = all.values().filter_map(|coverage| coverage.spans().first());
    begins.map(|span| span.begun_by).min()
}

/// The changes of an object that may have been committed in a span and were received later.
struct LateChange {
    object: ObjectId,
    /// A time at which none of them was committed yet.
    not_before: RecordedAt,
    /// When the last of them was received.
    received: RecordedAt,
}

/// The spans of a resource while they are derived.
struct DerivedSpans<'a> {
    tables: &'a ReelTables,
    resource: ResourceId,
    /// The record that completed the first list of any resource.
    first_complete: Option<Seq>,
    all: Vec<UnobservedSpan>,
}

impl DerivedSpans<'_> {
    /// Adds a span, unless it ends before it begins.
    fn add(
        &mut self,
        begin: SpanBegin,
        end: SpanEnd,
        reason: UnobservedReason,
    ) -> Option<&mut UnobservedSpan> {
        let tables = self.tables;
        let from = match begin {
            SpanBegin::Start => tables.start(),
            SpanBegin::At(at) => at,
            SpanBegin::Record(seq) => tables.wall_of(seq),
        };
        let to = match end {
            // Only an end by time can lie before its begin, where a clock stepped back; an end by
            // record is always behind it.
            SpanEnd::At(at) if at <= from => return None,
            SpanEnd::At(at) => at,
            SpanEnd::Record(seq) => tables.wall_of(seq),
            SpanEnd::Open => tables.end(),
        };
        // Records order a span; its times have a length even if a clock stepped back in it. Only a
        // span that ends at the first list, with which everything began, is empty.
        let least = i64::from(begin != SpanBegin::Start);
        let to = to.max(RecordedAt::from_micros(from.micros.saturating_add(least)));
        Some(self.all.push_mut(UnobservedSpan {
            from,
            to,
            resource: self.resource,
            reason,
            begin,
            end,
            revisions: None,
            is_brief: false,
            objects: ConcernedObjects::Any,
            compared_by: None,
        }))
    }

    fn add_coverage(&mut self, coverage: &Coverage) {
        self.add_begin(coverage);
        for gap in &coverage.gaps {
            self.add_gap(gap);
        }
        self.add_excluded(coverage);
        // The files of one moment may have times that differ by less.
        if let Some(last) = coverage.listed_until
            && self.tables.end().micros_since(last) >= SHORTEST_BLINDNESS_MICROS
        {
            let begin = SpanBegin::At(last);
            self.add(begin, SpanEnd::Open, UnobservedReason::NotListedAgain);
        }
        for unparsed in &coverage.unparsed {
            let begin = SpanBegin::Record(unparsed.since());
            let end = unparsed.until().map_or(SpanEnd::Open, SpanEnd::Record);
            if let Some(span) = self.add(begin, end, unparsed.reason()) {
                span.revisions = Some(unparsed.revisions());
            }
        }
        for lost in &coverage.lost {
            let reason = UnobservedReason::LostChange { lost: lost.clone() };
            let (begin, end) = (SpanBegin::At(lost.from), SpanEnd::At(lost.to));
            if let Some(span) = self.add(begin, end, reason) {
                span.revisions = lost.revisions();
            }
        }
        self.add_unwatched(coverage);
    }

    /// Adds a gap. A gap in which no change is missing is a time without a watch whose changes
    /// arrived late.
    fn add_gap(&mut self, gap: &RecordedGap) {
        let from = gap.from;
        let to = self.tables.wall_of(gap.closed_by).max(gap.gap.to_time);
        // The span of a gap that may miss changes ends with the list, which shows the state again.
        // The changes of one that was read back are in the reel, so only the time decides.
        let is_late = gap.outcome() != GapOutcome::MayMiss;
        let end = if is_late {
            // A summary names the gap even if a clock stepped back in it.
            SpanEnd::At(to.max(RecordedAt::from_micros(from.micros.saturating_add(1))))
        } else {
            SpanEnd::Record(gap.closed_by)
        };
        let reason = UnobservedReason::Gap { gap: gap.clone() };
        let Some(span) = self.add(SpanBegin::At(from), end, reason) else {
            return;
        };
        span.to = span.to.max(to);
        if is_late {
            // Brief spans stay in the list: a summary names every gap, however short.
            span.is_brief = span.to.micros_since(from) < SHORTEST_BLINDNESS_MICROS;
        } else {
            let after = gap.gap.from_rv.as_deref().and_then(|rv| rv.parse().ok());
            let below = gap.gap.to_rv.parse().ok();
            // A version that is not a number orders nothing: then only the time bounds the span.
            let is_bounded = after.is_some() && below.is_some();
            span.revisions = is_bounded.then_some(RevisionBounds { after, below });
        }
    }

    fn add_unwatched(&mut self, coverage: &Coverage) {
        for time in &coverage.unwatched {
            let end = time.to.map_or(SpanEnd::Open, SpanEnd::At);
            let recorder = time.recorder;
            let reason = if time.is_resumed {
                UnobservedReason::NoWatch { recorder }
            } else {
                UnobservedReason::WatchEnded { recorder }
            };
            let to = time.to.unwrap_or(self.tables.end());
            let is_long = to.micros_since(time.from) >= SHORTEST_BLINDNESS_MICROS;
            // If the server refused to continue the watch, its end is more than the end of the
            // recording: the span counts however short it is.
            let is_refused = time.to.is_none() && coverage.is_refused;
            if let Some(span) = self.add(SpanBegin::At(time.from), end, reason) {
                span.is_brief = !is_long && !is_refused;
            }
        }
    }

    /// Adds the times in which nothing came through an open watch: the API server answered no probe, or the recorder
    /// did not run.
    fn add_outages(&mut self, coverage: &Coverage, outages: &[Outage]) {
        let Some(first) = coverage.spans().first() else {
            return;
        };
        let first = first.covered.from_time;
        for outage in outages.iter().filter(|one| !one.is_before_first_answer) {
            let reason = if outage.is_pause() {
                UnobservedReason::RecorderPaused
            } else {
                UnobservedReason::NoAnswer
            };
            let mut since = outage.from.max(first);
            for time in &coverage.unwatched {
                let end = time.to.unwrap_or(self.tables.end());
                if end > since && time.from < outage.to {
                    self.add_silence(since, time.from, &reason);
                    since = end;
                }
            }
            self.add_silence(since, outage.to, &reason);
        }
    }

    fn add_silence(&mut self, from: RecordedAt, to: RecordedAt, reason: &UnobservedReason) {
        if to.micros_since(from) >= SHORTEST_BLINDNESS_MICROS {
            let end = if to < self.tables.end() {
                SpanEnd::At(to)
            } else {
                SpanEnd::Open // The recording ended in it.
            };
            self.add(SpanBegin::At(from), end, reason.clone());
        }
    }

    /// Finds the objects that changed in the spans in which no change is missing. Narrows these spans to the time from
    /// which on a change may have been committed, and extends them to the record that shows the last of their changes.
    fn date_late(
        &mut self,
        coverage: &Coverage,
        not_before: &impl Fn(ResourceId, Seq) -> Option<RecordedAt>,
    ) {
        let mut all = std::mem::take(&mut self.all);
        let late = all.iter_mut();
        let late = late.filter(|span| span.is_late() && !span.is_brief && !span.is_open());
        for span in late {
            // A resource that is covered from before the span until after it has received all
            // changes of the span. Without a proof after the span, this is not known.
            let mut covered = coverage.covered.iter().map(|one| &one.covered);
            let is_covered =
                covered.any(|one| one.from_time <= span.from && span.to <= one.to_time);
            // Both conditions are needed: an undelivered span may miss objects that lived inside it only. It then
            // hides all objects.
            let changes = (is_covered && self.is_delivered(coverage, span))
                .then(|| self.late_changes(span, not_before))
                .flatten();
            // The list at its end shows the state: what is received after it was committed after it.
            let mut unwatched = coverage.unwatched.iter();
            let is_listed = span.gap().is_some()
                || unwatched.any(|time| time.to == Some(span.to) && !time.is_continued);
            let received = match &changes {
                _ if is_listed => None,
                Some(changes) => changes.iter().map(|change| change.received).max(),
                None => self.received_after(span.to),
            };
            if let Some(changes) = changes {
                // Up to the earliest possible commit, no change existed: the state was known until
                // then. The watch before a gap did not deliver what was committed before it ended.
                let begins = changes.iter().map(|change| change.not_before);
                let least = span.gap().map_or(span.from, |gap| gap.gap.from_time);
                if let Some(begin) = begins.min() {
                    let begin = begin.max(least).min(span.to);
                    (span.from, span.begin) = (begin, SpanBegin::At(begin));
                }
                let keys = changes
                    .iter()
                    .filter_map(|change| self.tables.key_of(change.object));
                let names = keys.map(|key| (key.namespace.to_owned(), key.name.to_owned()));
                span.objects = ConcernedObjects::Of(names.collect());
            }
            if let Some(received) = received.filter(|received| *received > span.to) {
                (span.to, span.end) = (received, SpanEnd::At(received));
            }
        }
        self.all = all;
    }

    /// Finds the list after each span with which the recorder continued: it knew the objects before the span. It does
    /// not know them where the resource was not recorded, and in another cluster their versions are other ones.
    fn find_comparisons(&mut self, coverage: &Coverage) {
        if coverage.imported.is_some() {
            return;
        }
        let reel = self.tables.reel();
        for span in self.all.iter_mut().filter(|span| {
            span.is_late()
                || matches!(
                    span.reason,
                    UnobservedReason::Gap { .. } | UnobservedReason::Unparsed { .. }
                )
        }) {
            let (first, _) = span.records(reel);
            let is_behind = |seq: &Seq| match span.end {
                SpanEnd::At(to) => first <= *seq && self.tables.wall_of(*seq) >= to,
                SpanEnd::Record(by) => by <= *seq,
                SpanEnd::Open => false,
            };
            let next = coverage.synced.iter().copied().find(is_behind);
            let is_between = |seq: Seq| first <= seq && next.is_some_and(|next| seq <= next);
            let mut gaps = coverage.gaps.iter();
            let is_other_cluster =
                gaps.any(|gap| gap.gap.cause == GapCause::NewEpoch && is_between(gap.closed_by));
            let mut excluded = coverage.excluded.iter();
            let is_excluded = excluded.any(|one| is_between(one.since));
            span.compared_by = next.filter(|_| !is_other_cluster && !is_excluded);
        }
    }

    /// Returns when the last change of the resource was received that may be of a time that ended shortly before.
    fn received_after(&self, to: RecordedAt) -> Option<RecordedAt> {
        let reel = self.tables.reel();
        let latest = RecordedAt::from_micros(to.micros.saturating_add(LATE_MICROS));
        let is_own = |seq: &Seq| {
            let object = reel.object_of(*seq);
            let key = object.and_then(|object| self.tables.key_of(object));
            key.is_some_and(|key| key.resource == self.resource)
        };
        let records = reel.seq_after(to).0..reel.seq_after(latest).0;
        let last = records.rev().map(Seq).find(is_own);
        last.map(|seq| self.tables.wall_of(seq))
    }

    /// Returns whether all changes of a span were delivered: by a watch that continued where the last
    /// one had ended, or because a gap was read back. A list alone does not show objects that were
    /// created and deleted before it.
    fn is_delivered(&self, coverage: &Coverage, span: &UnobservedSpan) -> bool {
        let is_read_back = |from: RecordedAt, to: RecordedAt| {
            let mut closed = coverage.gaps.iter();
            closed.any(|gap| {
                let end = self.tables.wall_of(gap.closed_by).max(gap.gap.to_time);
                gap.outcome() != GapOutcome::MayMiss && gap.gap.from_time <= from && to <= end
            })
        };
        let unwatched = coverage.unwatched.iter();
        let mut since = unwatched.filter(|time| time.from >= span.from).peekable();
        while let Some(time) = since.next() {
            let next = since.peek().map_or(self.tables.end(), |next| next.from);
            if time.is_bridged(next) {
                return true;
            }
            if !time.is_continued {
                return time.to.is_none_or(|to| is_read_back(time.from, to));
            }
        }
        true
    }

    /// Returns the objects that may have changed in a span and whose change was not received before its begin; `None`
    /// if that is not known for one of them.
    fn late_changes(
        &self,
        span: &UnobservedSpan,
        not_before: &impl Fn(ResourceId, Seq) -> Option<RecordedAt>,
    ) -> Option<Vec<LateChange>> {
        let reel = self.tables.reel();
        let (first, _) = span.records(reel);
        let mut late = Vec::new();
        for &object in self.tables.objects_of(self.resource) {
            let versions = reel.versions(object);
            if versions.last().is_none_or(|last| *last < first) {
                continue;
            }
            // The versions of an object arrive in the order of their commits: the others are newer.
            let later = versions.get(versions.partition_point(|seq| *seq < first)..)?;
            let (next, others) = later.split_first()?;
            let begin = not_before(self.resource, *next)?;
            if begin < span.to {
                let is_late = |seq: &&Seq| {
                    not_before(self.resource, **seq).is_some_and(|begin| begin < span.to)
                };
                let last = others.iter().take_while(is_late).last().unwrap_or(next);
                late.push(LateChange {
                    object,
                    not_before: begin,
                    received: self.tables.wall_of(*last),
                });
            }
        }
        Some(late)
    }

    /// Adds the time before the first list, and whether the list arrived late or never.
    fn add_begin(&mut self, coverage: &Coverage) {
        let tables = self.tables;
        let first = coverage.spans().first();
        if let Some(imported) = coverage.imported()
            // A reel can be recorded first and appended to by an import later: then the recording
            // has the first state.
            && first.is_none_or(|first| imported.begun_by < first.begun_by)
        {
            let end = SpanEnd::Record(imported.begun_by);
            self.add(SpanBegin::Start, end, UnobservedReason::NotBegun);
            return;
        }
        let announced = coverage.announced.first().copied();
        let Some(first) = first else {
            let end = announced.map_or(SpanEnd::Open, SpanEnd::Record);
            self.add(SpanBegin::Start, end, UnobservedReason::NotBegun);
            let Some(announced) = announced else {
                return;
            };
            // A resource that vanished before its first list was never known, but only until it
            // vanished.
            let gone = coverage.excluded.last().filter(|last| {
                let is_back = coverage.announced_after(last.since).is_some();
                last.reason == NotCoveredReason::Gone && !is_back
            });
            let end = gone.map_or(SpanEnd::Open, |gone| SpanEnd::Record(gone.since));
            self.add(
                SpanBegin::Record(announced),
                end,
                UnobservedReason::NeverListed,
            );
            return;
        };
        let end = SpanEnd::Record(first.begun_by);
        self.add(SpanBegin::Start, end, UnobservedReason::NotBegun);
        let Some(announced) = announced else {
            return;
        };
        // Before the first list of any resource no state was recorded at all.
        let complete = self.first_complete;
        let begin = complete.map_or(announced, |seq| announced.max(seq));
        let late = tables
            .wall_of(first.begun_by)
            .micros_since(tables.wall_of(begin));
        if late >= LATEST_LIST_MICROS {
            self.add(
                SpanBegin::Record(begin),
                end,
                UnobservedReason::NotListedYet,
            );
        }
    }

    /// Adds the times in which the resource was not recorded: until it is announced again, and from
    /// there on until it is listed.
    fn add_excluded(&mut self, coverage: &Coverage) {
        for excluded in &coverage.excluded {
            let mut spans = coverage.spans().iter();
            let listed = spans.find(|span| span.begun_by > excluded.since);
            let listed = listed.map(|span| span.begun_by);
            let announced = coverage.announced_after(excluded.since);
            // An announcement behind the list belongs to a later exclusion.
            let announced = announced.filter(|seq| listed.is_none_or(|listed| *seq < listed));
            let end = announced.or(listed).map_or(SpanEnd::Open, SpanEnd::Record);
            let reason = UnobservedReason::NotRecorded {
                reason: excluded.reason,
                detail: excluded.detail.clone(),
            };
            self.add(SpanBegin::Record(excluded.since), end, reason);
            // A resource that is no longer served has no changes that could be lost. If it returns,
            // it has changes from an unknown moment on: objects may have been created and deleted
            // before the list.
            let back = match excluded.reason {
                NotCoveredReason::Gone => announced.or(listed).map(|_| excluded.since),
                _ => announced,
            };
            match (back, listed, announced) {
                (Some(back), Some(listed), _) => {
                    let (begin, end) = (SpanBegin::Record(back), SpanEnd::Record(listed));
                    self.add(begin, end, UnobservedReason::NotListedYet);
                }
                (Some(_), None, Some(announced)) if !coverage.spans().is_empty() => {
                    let begin = SpanBegin::Record(announced);
                    self.add(begin, SpanEnd::Open, UnobservedReason::NeverListed);
                }
                _ => {}
            }
        }
    }

    /// Adds the times whose records cannot be read.
    fn add_damage(&mut self, damaged: &[DamagedSpan]) {
        let reel = self.tables.reel();
        let resource = self.resource;
        for span in damaged.iter().filter(|span| span.concerns(resource)) {
            let is_there = |seq: &Seq| reel.stamp(*seq).is_some();
            let first = match span.damage.loss {
                // Anything may have happened between the neighbours of lost records.
                Loss::Records { first, .. } => before(first),
                loss => loss.first(),
            };
            let begin = first.filter(is_there);
            let end = span.damage.loss.last();
            let end = end.map(|last| Seq(last.0.saturating_add(1)));
            // A lost end of the file has no record behind it.
            let end = end.filter(is_there);
            let begin = begin.map_or(SpanBegin::Start, SpanBegin::Record);
            let end = match end {
                // Intact records may lie between lost ones: the note states the end.
                _ if span.is_recovered && span.records.is_none() => SpanEnd::Open,
                Some(_) if span.is_recovered && span.to > span.from => SpanEnd::At(span.to),
                Some(end) => SpanEnd::Record(end),
                None => SpanEnd::Open,
            };
            let objects = span.objects_of(self.tables, resource);
            let names = objects.map(|keys| {
                let names = keys.map(|key| (key.namespace.to_owned(), key.name.to_owned()));
                ConcernedObjects::Of(names.collect())
            });
            if let Some(added) = self.add(begin, end, span.reason()) {
                added.objects = names.unwrap_or_default();
            }
        }
    }
}
