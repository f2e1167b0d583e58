//! The one reading of what a recording did not observe. Every claim about a resource is derived from
//! these spans: whether a state is known at a moment, which changes a history may lack, where a lane is
//! dark, whether a recording is complete.
//!
//! Invariants:
//!
//! * A span is bounded by evidence: the end of a connection, the record that declared or proved something,
//!   the list that showed the state again. Neighbouring events do not bound a span.
//! * A gap of which every change was read back, or which the revisions prove to be empty, is not missing
//!   anything: its changes came late.
//! * A change that the lives of objects prove to be lost concerns the object of that name only. A question
//!   about another object is not answered by it, one about all objects is.
//! * An imported recording does not tell what it leaves out: of it only what it marks itself is known.

use super::{Coverage, LostChange};
use crate::as_of::Filter;
use crate::timeline::{Timeline, before};
use kubereel_format::{Damage, Gap, NotCoveredReason, OddLineProblem, RecordedAt, ResourceId, Seq};
use std::fmt;

/// How much later than its announcement a resource may be listed first, in microseconds: 60 s.
///
/// At the begin of a recording hundreds of lists are asked for, and none of them is a blindness; a
/// server that answers one of them only minutes later leaves one.
const LATEST_LIST_MICROS: i64 = 60_000_000;

/// A time without a watch shorter than this, in microseconds, is not a span: 1 s.
///
/// What happens in it is received when the watch goes on, late by no more than deliveries can be
/// late on a busy server anyway; at the end it is the end of the recording.
const SHORTEST_BLINDNESS_MICROS: i64 = 1_000_000;

/// A time in which a resource was not observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnobservedSpan {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; the end of the recording if nothing ended it.
    pub to: RecordedAt,
    /// The resource.
    pub resource: ResourceId,
    /// Why.
    pub reason: UnobservedReason,
    begin: SpanBegin,
    end: SpanEnd,
}

/// Where a span begins in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanBegin {
    /// Before everything.
    Start,
    /// No record marks it.
    At(RecordedAt),
    /// With a record.
    Record(Seq),
}

/// Where a span ends in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanEnd {
    /// No record marks it.
    At(RecordedAt),
    /// With a record that showed the state again.
    Record(Seq),
    /// Nothing ended it.
    Open,
}

/// What a span does to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnobservedEffect {
    /// Changes may be missing from the reel.
    MayMiss,
    /// Everything is in the reel, but was received later.
    Late,
    /// There was no state that could be known: the recording of the resource had not begun, or the
    /// resource was not served.
    NoState,
}

/// Why a resource was not observed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnobservedReason {
    /// The first complete list was still to come.
    NotBegun,
    /// The first complete list came late.
    NotListedYet,
    /// The resource was served, and no complete list of it was ever received.
    NeverListed,
    /// The recording has a gap.
    Gap {
        /// The gap.
        gap: Gap,
    },
    /// The resource was not recorded.
    NotRecorded {
        /// Why.
        reason: NotCoveredReason,
        /// The server's words; may be empty.
        detail: String,
    },
    /// No watch ran; the next one delivered what had happened.
    NoWatch,
    /// No watch ran any more.
    WatchEnded,
    /// What came later proves that a change of an object did not.
    LostChange {
        /// The change.
        lost: LostChange,
    },
    /// An object was kept as an unparsed line: its change is not in the state.
    Unparsed {
        /// Why it could not be parsed.
        problem: OddLineProblem,
    },
    /// A part of the reel cannot be read.
    Damaged {
        /// Which part, and what is wrong with it.
        place: String,
    },
}

impl UnobservedReason {
    /// Tells what it does to an answer.
    pub const fn effect(&self) -> UnobservedEffect {
        match self {
            Self::NotBegun
            | Self::NotRecorded {
                reason: NotCoveredReason::Gone,
                ..
            } => UnobservedEffect::NoState,
            Self::NoWatch => UnobservedEffect::Late,
            _ => UnobservedEffect::MayMiss,
        }
    }
}

impl UnobservedSpan {
    /// Tells whether nothing ended it.
    pub const fn is_open(&self) -> bool {
        matches!(self.end, SpanEnd::Open)
    }

    /// Tells whether the state after all records below `cut`, seen as of a time, lies in it.
    pub(crate) fn holds(&self, cut: Seq, wall: RecordedAt) -> bool {
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

    /// Gives the records in it: from the first that lies in it to the first that does not; the latter is
    /// `None` if nothing ended it.
    pub(crate) fn records(&self, timeline: &Timeline) -> (Seq, Option<Seq>) {
        let end = match self.end {
            SpanEnd::At(to) => Some(timeline.reel().seq_after(to)),
            SpanEnd::Record(by) => Some(Seq(by.0.saturating_add(1))),
            SpanEnd::Open => None,
        };
        let begin = match self.begin {
            SpanBegin::Start => Seq(0),
            // A clock that stepped back must not hide it.
            SpanBegin::At(from) => {
                let after = timeline.reel().seq_after(from);
                after.min(end.and_then(before).unwrap_or(after))
            }
            SpanBegin::Record(by) => by,
        };
        (begin, end)
    }

    /// Tells whether it says anything of the objects that were asked for.
    pub(crate) fn concerns(&self, filter: &Filter<'_>) -> bool {
        match &self.reason {
            UnobservedReason::LostChange { lost } => filter.takes(&lost.namespace, &lost.name),
            _ => true,
        }
    }
}

impl fmt::Display for UnobservedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBegun => out.write_str("not recorded yet"),
            Self::NoWatch => out.write_str("no watch ran"),
            Self::NotListedYet => out.write_str("not listed yet"),
            Self::NeverListed => out.write_str("never listed completely"),
            Self::Gap { gap } => write!(out, "gap: {}", gap.cause.as_str()),
            Self::NotRecorded { reason, detail } if detail.is_empty() => {
                write!(out, "not recorded: {}", reason.as_str())
            }
            Self::NotRecorded { reason, detail } => {
                write!(out, "not recorded: {}: {detail}", reason.as_str())
            }
            Self::WatchEnded => out.write_str("no watch ran any more"),
            Self::LostChange { lost } if lost.is_deletion => {
                out.write_str("a name was taken again whose last holder never went")
            }
            Self::LostChange { .. } => out.write_str("an object changed whose creation never came"),
            Self::Unparsed { problem } => match problem {
                OddLineProblem::TooLong => {
                    out.write_str("an object is too long; it is kept as an unparsed line")
                }
                OddLineProblem::UnknownType => {
                    out.write_str("an event has an unknown type; it is kept as an unparsed line")
                }
                _ => out.write_str("an object cannot be parsed; it is kept as an unparsed line"),
            },
            Self::Damaged { place } => write!(out, "the reel is damaged: {place}"),
        }
    }
}

impl Timeline {
    /// Gives the times in which changes of a recorded resource may be missing, by their begin.
    ///
    /// Times without a watch that was resumed later are not among them: what happened in them came late,
    /// but it came.
    pub fn unobserved(&self, resource: ResourceId) -> impl Iterator<Item = &UnobservedSpan> {
        let spans = self.unobserved_spans(resource).iter();
        spans.filter(|span| span.reason.effect() == UnobservedEffect::MayMiss)
    }

    /// Tells whether no change of a resource can be missing since its first list.
    pub fn is_fully_observed(&self, resource: ResourceId) -> bool {
        self.unobserved(resource).next().is_none()
    }

    /// Gives all times in which a resource was not observed, by their begin: also those whose changes came
    /// later, and those without a state. They may overlap.
    pub fn unobserved_spans(&self, resource: ResourceId) -> &[UnobservedSpan] {
        let all = self.unobserved_cell().get_or_init(|| {
            let resources = self.resources().iter().map(|info| info.id);
            resources.map(|id| (id, self.derive_spans(id))).collect()
        });
        all.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// Tells whether changes of a resource may be missing between two versions of one object, received at
    /// these times.
    pub fn may_miss_changes(&self, resource: ResourceId, from: RecordedAt, to: RecordedAt) -> bool {
        self.unobserved(resource).any(|span| {
            // Between two versions of one life neither its creation nor its deletion can be lost.
            let is_of_all = !matches!(span.reason, UnobservedReason::LostChange { .. });
            is_of_all && span.from < to && span.to > from
        })
    }

    fn derive_spans(&self, resource: ResourceId) -> Vec<UnobservedSpan> {
        let mut spans = Spans {
            timeline: self,
            resource,
            all: Vec::new(),
        };
        spans.add_damage();
        match self.coverage(resource) {
            Some(coverage) => spans.add_covered(coverage),
            None => spans.add(SpanBegin::Start, SpanEnd::Open, UnobservedReason::NotBegun),
        }
        spans.all.sort_by_key(|span| (span.from, span.to));
        spans.all
    }
}

/// The spans of a resource while they are derived.
struct Spans<'a> {
    timeline: &'a Timeline,
    resource: ResourceId,
    all: Vec<UnobservedSpan>,
}

impl Spans<'_> {
    fn add(&mut self, begin: SpanBegin, end: SpanEnd, reason: UnobservedReason) {
        let timeline = self.timeline;
        let from = match begin {
            SpanBegin::Start => timeline.start(),
            SpanBegin::At(at) => at,
            SpanBegin::Record(seq) => timeline.wall_of(seq),
        };
        let to = match end {
            SpanEnd::At(at) if at <= from => return,
            SpanEnd::At(at) => at,
            SpanEnd::Record(seq) => timeline.wall_of(seq),
            SpanEnd::Open => timeline.end(),
        };
        // Records order a span; its times have a length though a clock stepped back in it. Only before a
        // list with which everything began there is none.
        let least = i64::from(begin != SpanBegin::Start);
        let to = to.max(RecordedAt::from_micros(from.micros.saturating_add(least)));
        self.all.push(UnobservedSpan {
            from,
            to,
            resource: self.resource,
            reason,
            begin,
            end,
        });
    }

    fn add_covered(&mut self, coverage: &Coverage) {
        self.add_begin(coverage);
        for hole in coverage.holes() {
            let gap = hole.gap.clone();
            let (begin, end) = (
                SpanBegin::At(gap.from_time),
                SpanEnd::Record(hole.closed_by),
            );
            let to_time = gap.to_time;
            self.add(begin, end, UnobservedReason::Gap { gap });
            if let Some(last) = self.all.last_mut() {
                last.to = last.to.max(to_time);
            }
        }
        self.add_excluded(coverage);
        for unparsed in coverage.unparsed() {
            let end = unparsed.until().map_or(SpanEnd::Open, SpanEnd::Record);
            self.add(SpanBegin::Record(unparsed.since()), end, unparsed.reason());
        }
        for lost in coverage.lost() {
            let reason = UnobservedReason::LostChange { lost: lost.clone() };
            self.add(SpanBegin::At(lost.from), SpanEnd::At(lost.to), reason);
        }
        for blind in coverage.blind() {
            let end = blind.to.map_or(SpanEnd::Open, SpanEnd::At);
            let reason = if blind.is_resumed {
                UnobservedReason::NoWatch
            } else {
                UnobservedReason::WatchEnded
            };
            let to = blind.to.unwrap_or(self.timeline.end());
            let is_long = to.micros_since(blind.from) >= SHORTEST_BLINDNESS_MICROS;
            if is_long || blind.to.is_none() && coverage.is_refused {
                self.add(SpanBegin::At(blind.from), end, reason);
            }
        }
    }

    /// Adds the time before the first list, and whether that came late or never.
    fn add_begin(&mut self, coverage: &Coverage) {
        let timeline = self.timeline;
        let first = coverage.spans().first();
        if let Some(imported) = coverage.imported()
            && first.is_none_or(|first| imported.begun_by < first.begun_by)
        {
            let end = SpanEnd::Record(imported.begun_by);
            self.add(SpanBegin::Start, end, UnobservedReason::NotBegun);
            return;
        }
        let announced = coverage.first_announced();
        let Some(first) = first else {
            let end = announced.map_or(SpanEnd::Open, SpanEnd::Record);
            self.add(SpanBegin::Start, end, UnobservedReason::NotBegun);
            let Some(announced) = announced else {
                return;
            };
            let gone = coverage.excluded().last().filter(|last| {
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
        // Before anything was listed there was no recording of a state at all.
        let begin = timeline
            .first_complete()
            .map_or(announced, |seq| announced.max(seq));
        let late = timeline
            .wall_of(first.begun_by)
            .micros_since(timeline.wall_of(begin));
        if late >= LATEST_LIST_MICROS {
            self.add(
                SpanBegin::Record(begin),
                end,
                UnobservedReason::NotListedYet,
            );
        }
    }

    /// Adds the times in which the resource was not recorded: until it is announced again, and from there on
    /// until it is listed.
    fn add_excluded(&mut self, coverage: &Coverage) {
        for excluded in coverage.excluded() {
            let mut spans = coverage.spans().iter();
            let listed = spans.find(|span| span.begun_by > excluded.since);
            let listed = listed.map(|span| span.begun_by);
            let announced = coverage.announced_after(excluded.since);
            let announced = announced.filter(|seq| listed.is_none_or(|listed| *seq < listed));
            let end = announced.or(listed).map_or(SpanEnd::Open, SpanEnd::Record);
            let reason = UnobservedReason::NotRecorded {
                reason: excluded.reason,
                detail: excluded.detail.clone(),
            };
            self.add(SpanBegin::Record(excluded.since), end, reason);
            // What vanished from the server has no changes that could be lost. If it comes back, it has
            // them from an unknown moment on: objects may have come and gone before the list.
            let back = match excluded.reason {
                NotCoveredReason::Gone => announced.or(listed).map(|_| excluded.since),
                _ => announced,
            };
            match (back, listed, announced) {
                (Some(back), Some(listed), _) => self.add(
                    SpanBegin::Record(back),
                    SpanEnd::Record(listed),
                    UnobservedReason::NotListedYet,
                ),
                (Some(_), None, Some(announced)) if !coverage.spans().is_empty() => self.add(
                    SpanBegin::Record(announced),
                    SpanEnd::Open,
                    UnobservedReason::NeverListed,
                ),
                _ => {}
            }
        }
    }

    /// Adds the times of which the reel cannot be read.
    fn add_damage(&mut self) {
        let timeline = self.timeline;
        for Damage {
            place,
            cause,
            first,
            last,
        } in timeline.reel().damage()
        {
            let is_there = |seq: &Seq| timeline.reel().stamp(*seq).is_some();
            let begin = first.and_then(before).filter(is_there);
            let end = last.map(|last| Seq(last.0.saturating_add(1)));
            let end = end.filter(is_there);
            let reason = UnobservedReason::Damaged {
                place: format!("{place}: {cause}"),
            };
            self.add(
                begin.map_or(SpanBegin::Start, SpanBegin::Record),
                end.map_or(SpanEnd::Open, SpanEnd::Record),
                reason,
            );
        }
    }
}
