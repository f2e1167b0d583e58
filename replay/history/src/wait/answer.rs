//! What a wait over a recording answers, and the time that it searches.

use super::goal::WaitFor;
use crate::coverage::Coverage;
use crate::cursor::Track;
use crate::moment::Cut;
use crate::timeline::Timeline;
use crate::writers::Authors;
use kubereel_format::{RecordedAt, ResourceId, Seq};

/// A place in a reel: after all records below one, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReelInstant {
    /// The first record that does not count.
    pub below: Seq,
    /// The time.
    pub at: RecordedAt,
}

/// The time that is searched; its ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    /// Where it begins: the state there is judged first.
    pub from: ReelInstant,
    /// Where it ends.
    pub to: ReelInstant,
}

impl WaitSpan {
    /// Finds the time that is searched for objects of a resource: from a moment, or from the first at
    /// which the resource is known (and Events, if those are waited for), to another, but no longer than
    /// `timeout_micros`.
    pub fn of(
        timeline: &Timeline,
        resource: ResourceId,
        goals: &[WaitFor],
        from: Option<Cut>,
        to: Cut,
        timeout_micros: Option<i64>,
    ) -> Self {
        let from = from.map_or_else(
            || {
                let own = Self::first_known(timeline, resource);
                let of_events = goals.iter().any(WaitFor::is_momentary);
                let events = timeline.event_resources().first().copied();
                let events = events
                    .filter(|_| of_events)
                    .map(|id| Self::first_known(timeline, id));
                events.map_or(own, |events| own.max(events))
            },
            |from| Self::instant(timeline, resource, from),
        );
        let mut to = Self::instant(timeline, resource, to);
        if let Some(timeout) = timeout_micros {
            let latest = Self::instant(timeline, resource, timeline.moved(from.at, timeout));
            if latest.at < to.at {
                to = ReelInstant {
                    below: latest.below.max(from.below),
                    at: latest.at,
                };
            }
            if timeout == 0 {
                to = from;
            }
        }
        Self { from, to }
    }

    /// Turns a moment into a place in the order of arrival.
    pub(super) fn instant(timeline: &Timeline, resource: ResourceId, cut: Cut) -> ReelInstant {
        let cut = match cut {
            Cut::Arrival { .. } => cut,
            Cut::Revision(_) => timeline.cursor(Track::Resource(resource), cut).cut(),
        };
        match cut {
            Cut::Arrival { below, wall } => ReelInstant { below, at: wall },
            // A cursor stands between records, never at a resourceVersion.
            Cut::Revision(_) => ReelInstant {
                below: timeline.reel().end(),
                at: timeline.end(),
            },
        }
    }

    fn first_known(timeline: &Timeline, resource: ResourceId) -> ReelInstant {
        let first = timeline.coverage(resource).and_then(Coverage::first_known);
        first.map_or(
            ReelInstant {
                below: Seq(0),
                at: timeline.start(),
            },
            |(seq, at)| ReelInstant {
                below: Seq(seq.0.saturating_add(1)),
                at,
            },
        )
    }
}

/// What came of a wait for one object.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitAnswer {
    /// The answer.
    pub verdict: WaitVerdict,
    /// What was met, in order; the last one is what the answer hangs on.
    pub steps: Vec<WaitStep>,
    /// Where the wait for the next object begins, if one is waited for after the other.
    pub reached: ReelInstant,
    /// The times before the answer of which it is not known what held.
    pub missed: Vec<MissedTime>,
    /// How many gaps the object passed unchanged.
    pub bridged_gaps: usize,
    /// Whether another tool recorded, which does not tell what it leaves out.
    pub is_imported: bool,
    /// Whether a version could not be read.
    pub has_unreadable: bool,
}

/// How a wait ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitVerdict {
    /// Everything was met.
    Met,
    /// Something was not, and nothing is missing from that time.
    NotMet,
    /// Nothing shows that it was met, but it may have been unseen.
    Unknown,
    /// kubectl would have stopped with an error.
    Refused {
        /// When.
        at: RecordedAt,
        /// The cause.
        problem: String,
    },
    /// What must not be met first was.
    Failed {
        /// What.
        goal: String,
        /// When.
        at: RecordedAt,
    },
}

/// Something that was waited for and met.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitStep {
    /// What was waited for, as it was written.
    pub goal: String,
    /// When the wait was over.
    pub at: RecordedAt,
    /// Since when it held; earlier than `at` if it had to hold for some time.
    pub since: RecordedAt,
    /// When it was last seen not to hold, if it came to hold unseen.
    pub not_before: Option<RecordedAt>,
    /// The event that brought the version which met it, if there is one.
    pub seq: Option<Seq>,
    /// That version's resourceVersion; empty if there is none.
    pub rv: String,
    /// Who wrote that version.
    pub authors: Authors,
    /// When it was first seen not to hold any more.
    pub until: Option<RecordedAt>,
    /// Whether it held to the end of the time that was searched.
    pub lasts_to_end: bool,
    /// For how many microseconds it is known to have held, in the whole time.
    pub met_micros: u64,
    /// The longest of these times without interruption.
    pub longest_micros: u64,
}

/// A time of which it is not known what held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedTime {
    /// Its begin.
    pub from: RecordedAt,
    /// Its end.
    pub to: RecordedAt,
    /// The cause.
    pub why: MissedReason,
}

/// Why it is not known what held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedReason {
    /// The recording has a gap, and the object changed in it.
    Gap,
    /// The resource was not observed yet, or not any more.
    NotObserved,
    /// The recording was over.
    RecordingEnded,
    /// The version cannot be read.
    Unreadable,
    /// The value was taken out before it was recorded.
    Redacted,
}

impl MissedReason {
    /// Returns the word that programs read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::NotObserved => "not observed",
            Self::RecordingEnded => "recording ended",
            Self::Unreadable => "unreadable",
            Self::Redacted => "redacted",
        }
    }
}
