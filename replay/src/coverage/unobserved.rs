//! The one reading of what a recording did not observe: every claim about a resource is derived from
//! these spans. Times in which changes came late and whole are none: a watch that was resumed told
//! everything.

use super::Coverage;
use crate::timeline::Timeline;
use kubereel_format::{
    Damage, GapCause, NotCoveredReason, OddLineProblem, RecordedAt, ResourceId, Seq,
};
use std::fmt;

/// How much later than its announcement a resource may be listed first, in microseconds: 60 s.
///
/// At the begin of a recording hundreds of lists are asked for, and none of them is a blindness; a
/// server that answers one of them only minutes later leaves one.
const LATEST_LIST_MICROS: i64 = 60_000_000;

/// What ends sooner than this after the last watch, in microseconds, is the end of the recording: 1 s.
const SHORTEST_BLINDNESS_MICROS: i64 = 1_000_000;

/// A time in which changes of a resource may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnobservedSpan {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended.
    pub to: RecordedAt,
    /// The resource.
    pub resource: ResourceId,
    /// Why.
    pub reason: UnobservedReason,
}

/// Why changes may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnobservedReason {
    /// The first complete list came late.
    NotListedYet,
    /// The resource was served, and no complete list of it was ever received.
    NeverListed,
    /// The recording has a gap.
    Gap {
        /// What made it.
        cause: GapCause,
    },
    /// The resource was not recorded.
    NotRecorded {
        /// Why.
        reason: NotCoveredReason,
        /// The server's words; may be empty.
        detail: String,
    },
    /// No watch ran any more.
    WatchEnded,
    /// What came later proves that a change of an object did not.
    LostChange {
        /// Whether that is its deletion; else it is its creation.
        is_deletion: bool,
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
    /// Tells whether it may hide versions of any object while a watch went on. Of what the lives of
    /// objects prove to be lost, those lives tell themselves.
    pub(crate) const fn hides_versions(&self) -> bool {
        matches!(self, Self::Unparsed { .. })
    }
}

impl fmt::Display for UnobservedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListedYet => out.write_str("not listed yet"),
            Self::NeverListed => out.write_str("never listed completely"),
            Self::Gap { cause } => write!(out, "gap: {}", cause.as_str()),
            Self::NotRecorded { reason, detail } if detail.is_empty() => {
                write!(out, "not recorded: {}", reason.as_str())
            }
            Self::NotRecorded { reason, detail } => {
                write!(out, "not recorded: {}: {detail}", reason.as_str())
            }
            Self::WatchEnded => out.write_str("no watch ran any more"),
            Self::LostChange { is_deletion: false } => {
                out.write_str("an object changed whose creation never came")
            }
            Self::LostChange { is_deletion: true } => {
                out.write_str("a name was taken again whose last holder never went")
            }
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
    /// Times without a watch that was resumed later are none: what happened in them came late, but
    /// it came. An imported recording does not tell what it leaves out; of it only damage is known.
    pub fn unobserved(&self, resource: ResourceId) -> Vec<UnobservedSpan> {
        let span = |from, to, reason| UnobservedSpan {
            from,
            to,
            resource,
            reason,
        };
        let mut spans: Vec<UnobservedSpan> = self
            .damaged()
            .map(|(from, to, reason)| span(from, to, reason))
            .collect();
        let Some(coverage) = self.coverage(resource) else {
            return spans;
        };
        let covered = coverage.spans();
        if coverage.imported().is_none() {
            let before = self.before_first(coverage);
            spans.extend(before.map(|(from, to, reason)| span(from, to, reason)));
        }
        spans.extend(coverage.holes().iter().map(|hole| {
            let to = self.wall_of(hole.closed_by).max(hole.gap.to_time);
            let cause = hole.gap.cause;
            span(hole.gap.from_time, to, UnobservedReason::Gap { cause })
        }));
        for excluded in coverage.excluded() {
            let from = self.wall_of(excluded.since);
            let again = covered.iter().find(|span| span.begun_by > excluded.since);
            let listed = again.map(|again| again.covered.from_time);
            if excluded.reason == NotCoveredReason::Gone {
                // What vanished from the server has no changes that could be lost. If it comes back, it has
                // them from a moment on that nobody saw: objects may have come and gone before the list.
                let again = listed.map(|to| (from, to, UnobservedReason::NotListedYet));
                let never = || {
                    let from = self.wall_of(coverage.announced_after(excluded.since)?);
                    let never = UnobservedReason::NeverListed;
                    (!covered.is_empty()).then_some((from, self.open_end(from), never))
                };
                let back = again.or_else(never);
                spans.extend(back.map(|(from, to, reason)| span(from, to, reason)));
                continue;
            }
            let reason = UnobservedReason::NotRecorded {
                reason: excluded.reason,
                detail: excluded.detail.clone(),
            };
            spans.push(span(
                from,
                listed.unwrap_or_else(|| self.open_end(from)),
                reason,
            ));
        }
        spans.extend(coverage.unparsed().iter().map(|unparsed| {
            let to = unparsed.to.unwrap_or_else(|| self.open_end(unparsed.from));
            span(unparsed.from, to, unparsed.reason())
        }));
        spans.extend(
            coverage
                .lost()
                .iter()
                .map(|lost| span(lost.from, lost.to, lost.reason())),
        );
        let open = coverage.blind().iter().filter(|blind| blind.to.is_none());
        let open = open.map(|blind| {
            let to = self.open_end(blind.from);
            span(blind.from, to, UnobservedReason::WatchEnded)
        });
        spans.extend(open.filter(|one| {
            coverage.is_refused || one.to.micros_since(one.from) >= SHORTEST_BLINDNESS_MICROS
        }));
        spans.retain(|span| span.from < span.to);
        spans.sort_by_key(|span| (span.from, span.to));
        spans
    }

    /// Tells whether changes of a resource may be missing between two of its versions, received at
    /// these times.
    pub fn may_miss_changes(&self, resource: ResourceId, from: RecordedAt, to: RecordedAt) -> bool {
        let spans = self.unobserved(resource);
        spans.iter().any(|span| {
            let is_of_all = !matches!(span.reason, UnobservedReason::LostChange { .. });
            is_of_all && span.from < to && span.to > from
        })
    }

    /// Gives the time before the first list, if that came late or never.
    fn before_first(
        &self,
        coverage: &Coverage,
    ) -> Option<(RecordedAt, RecordedAt, UnobservedReason)> {
        let announced = self.wall_of(coverage.first_announced()?);
        let Some(first) = coverage.spans().first() else {
            let gone = coverage.excluded().last();
            let gone = gone.filter(|last| {
                let is_back = coverage.announced_after(last.since).is_some();
                last.reason == NotCoveredReason::Gone && !is_back
            });
            let to = gone.map_or_else(|| self.open_end(announced), |gone| self.wall_of(gone.since));
            return Some((announced, to, UnobservedReason::NeverListed));
        };
        // Before anything was listed there was no recording of a state at all.
        let begin = self
            .first_complete()
            .map_or(self.start(), |seq| self.wall_of(seq));
        let (from, to) = (announced.max(begin), first.covered.from_time);
        let is_late = to.micros_since(from) >= LATEST_LIST_MICROS;
        is_late.then_some((from, to, UnobservedReason::NotListedYet))
    }

    /// Gives the end of what nothing ended: also what began with the last record lasts a moment.
    fn open_end(&self, from: RecordedAt) -> RecordedAt {
        self.end()
            .max(RecordedAt::from_micros(from.micros.saturating_add(1)))
    }

    /// Gives the times of which the reel cannot be read.
    fn damaged(&self) -> impl Iterator<Item = (RecordedAt, RecordedAt, UnobservedReason)> {
        self.reel().damage().iter().map(|damage| {
            let Damage {
                place,
                cause,
                first,
                last,
            } = damage;
            let before = first.and_then(|first| first.0.checked_sub(1)).map(Seq);
            let stamp = |seq: Seq| self.reel().stamp(seq).map(|stamp| stamp.wall);
            let after = last.map(|last| Seq(last.0.saturating_add(1)));
            (
                before.and_then(stamp).unwrap_or_else(|| self.start()),
                after.and_then(stamp).unwrap_or_else(|| self.end()),
                UnobservedReason::Damaged {
                    place: format!("{place}: {cause}"),
                },
            )
        })
    }
}
