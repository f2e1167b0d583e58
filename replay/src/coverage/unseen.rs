//! Owns the times in which changes of a resource may be missing. Refuses times in which they came late
//! and whole: a watch that was resumed told everything.

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
pub struct Unseen {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended.
    pub to: RecordedAt,
    /// Why.
    pub why: UnseenWhy,
}

/// Why changes may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenWhy {
    /// The first complete list came late.
    NotListedYet,
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
    /// A line came that is kept as it was, and is no event.
    Unread {
        /// Why it is none.
        problem: OddLineProblem,
    },
    /// A part of the reel cannot be read.
    Damaged {
        /// Which part, and what is wrong with it.
        place: String,
    },
}

impl fmt::Display for UnseenWhy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListedYet => out.write_str("not listed yet"),
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
            Self::Unread {
                problem: OddLineProblem::TooLong,
            } => out.write_str("a line is too long to be an event; it is kept"),
            Self::Unread { .. } => out.write_str("a line is no event of a known kind; it is kept"),
            Self::Damaged { place } => write!(out, "the reel is damaged: {place}"),
        }
    }
}

impl Timeline {
    /// Gives the times in which changes of a recorded resource may be missing, by their begin.
    ///
    /// Times without a watch that was resumed later are none: what happened in them came late, but
    /// it came. An imported recording does not tell what it leaves out; of it only damage is known.
    pub fn unseen(&self, resource: ResourceId) -> Vec<Unseen> {
        let mut unseen: Vec<Unseen> = self.damaged().collect();
        let Some(coverage) = self.coverage(resource) else {
            return unseen;
        };
        let spans = coverage.spans();
        if coverage.imported().is_none() {
            unseen.extend(self.before_first(resource));
        }
        for hole in coverage.holes() {
            unseen.push(Unseen {
                from: hole.gap.from_time,
                to: self.wall_of(hole.closed_by).max(hole.gap.to_time),
                why: UnseenWhy::Gap {
                    cause: hole.gap.cause,
                },
            });
        }
        for excluded in coverage.excluded() {
            let again = spans.iter().find(|span| span.begun_by > excluded.since);
            if excluded.reason == NotCoveredReason::Gone {
                // What vanished from the server has no changes that could be lost. If it comes back, it has
                // them from a moment on that nobody saw: objects may have come and gone before the list.
                unseen.extend(again.map(|span| Unseen {
                    from: self.wall_of(excluded.since),
                    to: span.covered.from_time,
                    why: UnseenWhy::NotListedYet,
                }));
                continue;
            }
            unseen.push(Unseen {
                from: self.wall_of(excluded.since),
                to: again.map_or(self.end(), |span| span.covered.from_time),
                why: UnseenWhy::NotRecorded {
                    reason: excluded.reason,
                    detail: excluded.detail.clone(),
                },
            });
        }
        unseen.extend(coverage.unread().iter().map(|unread| Unseen {
            from: unread.from,
            to: unread.to.unwrap_or_else(|| self.end()),
            why: UnseenWhy::Unread {
                problem: unread.problem,
            },
        }));
        unseen.extend(coverage.lost().iter().map(|lost| Unseen {
            from: lost.from,
            to: lost.to,
            why: UnseenWhy::LostChange {
                is_deletion: lost.is_deletion,
            },
        }));
        let open = coverage.blind().iter().filter(|blind| blind.to.is_none());
        unseen.extend(open.map(|blind| Unseen {
            from: blind.from,
            to: self.end(),
            why: UnseenWhy::WatchEnded,
        }));
        unseen.retain(|unseen| {
            unseen.from < unseen.to
                && (unseen.why != UnseenWhy::WatchEnded
                    || unseen.to.micros_since(unseen.from) >= SHORTEST_BLINDNESS_MICROS)
        });
        unseen.sort_by_key(|unseen| (unseen.from, unseen.to));
        unseen
    }

    /// Gives the time before the first list, if that came late.
    fn before_first(&self, resource: ResourceId) -> Option<Unseen> {
        let coverage = self.coverage(resource)?;
        let announced = self.wall_of(coverage.first_announced()?);
        // Before anything was listed there was no recording of a state at all.
        let begin = self
            .first_complete()
            .map_or(self.start(), |seq| self.wall_of(seq));
        let from = announced.max(begin);
        let first = coverage.spans().first();
        let to = first.map_or(self.end(), |span| span.covered.from_time);
        let is_late = to.micros_since(from) >= LATEST_LIST_MICROS || first.is_none();
        is_late.then_some(Unseen {
            from,
            to,
            why: UnseenWhy::NotListedYet,
        })
    }

    /// Gives the times of which the reel cannot be read.
    fn damaged(&self) -> impl Iterator<Item = Unseen> {
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
            Unseen {
                from: before.and_then(stamp).unwrap_or_else(|| self.start()),
                to: after.and_then(stamp).unwrap_or_else(|| self.end()),
                why: UnseenWhy::Damaged {
                    place: format!("{place}: {cause}"),
                },
            }
        })
    }
}
