//! The answer of a wait over a recording, and the searched time.

use super::goal::WaitFor;
use crate::cursor::Track;
use crate::moment::Cut;
use crate::timeline::Timeline;
use crate::writers::Authors;
use kubereel_format::worded;
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceId, Seq};

/// A place in a reel: after all records below one, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReelInstant {
    /// The first record that does not count.
    pub below: Seq,
    /// The time.
    pub at: RecordedAt,
}

impl ReelInstant {
    /// Returns it as a moment.
    pub const fn cut(self) -> Cut {
        let Self { below, at: wall } = self;
        Cut::Arrival { below, wall }
    }
}

/// The searched time, including its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    /// Its begin: the state there is judged first.
    pub from: ReelInstant,
    /// Where it ends.
    pub to: ReelInstant,
}

impl WaitSpan {
    /// Determines the searched time for objects of a resource: from a moment, or from the first at
    /// which the resource (and Events, if those are waited for) is known, to another, but at most
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
                let start = ReelInstant {
                    below: Seq(0),
                    at: timeline.start(),
                };
                let versions = timeline.resources().namesake_ids(resource);
                let firsts = versions.into_iter();
                let firsts = firsts.filter_map(|id| Self::first_known(timeline, id));
                let own = firsts.min().unwrap_or(start);
                let of_events = goals.iter().any(WaitFor::is_momentary);
                let events = timeline.event_resources().into_iter();
                let events = events
                    // An import knows of no list of Events: its first one must not be passed over.
                    .filter(|&id| of_events && !timeline.is_only_imported(id))
                    .filter_map(|id| Self::first_known(timeline, id));
                events.max().map_or(own, |events| own.max(events))
            },
            |from| Self::instant(timeline, resource, from),
        );
        let mut to = Self::instant(timeline, resource, to);
        if let Some(timeout) = timeout_micros {
            let latest = Self::instant(timeline, resource, timeline.moved(from.at, timeout));
            // Behind the end of the recording nothing is known: a shorter recording is no answer.
            let is_open = to.below >= timeline.reel().end() && to.at <= timeline.end();
            if latest.at < to.at || is_open {
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

    /// Converts a moment to a place in the order of arrival.
    pub(super) fn instant(timeline: &Timeline, resource: ResourceId, cut: Cut) -> ReelInstant {
        let below = match cut {
            Cut::Arrival { below, .. } => below,
            Cut::Revision(_) => timeline.cursor(Track::Resource(resource), cut).below(),
        };
        ReelInstant {
            below,
            at: timeline.wall_at(resource, cut),
        }
    }

    fn first_known(timeline: &Timeline, resource: ResourceId) -> Option<ReelInstant> {
        let (seq, at) = timeline.coverage(resource)?.first_known()?;
        Some(ReelInstant {
            below: Self::behind_first_list(timeline, seq, at),
            at,
        })
    }

    /// Returns the first record behind the first known state. That of an import begins with its
    /// source, and the objects follow it.
    fn behind_first_list(timeline: &Timeline, first: Seq, at: RecordedAt) -> Seq {
        let reel = timeline.reel();
        let mut behind = Seq(first.0.saturating_add(1));
        while behind < reel.end() && timeline.wall_of(behind) == at {
            let is_object = reel.evidence_of(behind) == Some(Evidence::Imported)
                && reel.kind_of(behind) == Some(EventType::Added);
            if !is_object && reel.kind_of(behind).is_some() {
                break;
            }
            behind = Seq(behind.0.saturating_add(1));
        }
        behind
    }
}

/// The result of a wait for one object.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitAnswer {
    /// The answer.
    pub verdict: WaitVerdict,
    /// What was met, in order; the last one decides.
    pub steps: Vec<WaitStep>,
    /// Where the wait for the next object begins, if objects are waited for one after another.
    pub reached: ReelInstant,
    /// The times before the answer whose state is not known.
    pub missed: Vec<MissedTime>,
    /// The number of gaps that the object passed unchanged.
    pub bridged_gaps: usize,
    /// Whether another tool recorded the resource, so that its completeness is not known.
    pub is_imported: bool,
    /// Whether a version could not be read.
    pub has_unreadable: bool,
}

/// The end of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitVerdict {
    /// Everything was met.
    Met,
    /// A condition was not met, and the time was observed completely.
    NotMet,
    /// No version met it, but it may have been met unobserved.
    Unknown,
    /// kubectl would have stopped with an error.
    Refused {
        /// When.
        at: RecordedAt,
        /// The cause.
        problem: String,
    },
    /// A condition of `--fail-on` was met first.
    Failed {
        /// Which one.
        goal: String,
        /// When.
        at: RecordedAt,
    },
}

/// A condition that was met.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitStep {
    /// The condition as the user wrote it.
    pub goal: String,
    /// When the wait ended.
    pub at: RecordedAt,
    /// Since when it was met; earlier than `at` if it had to be met for some time.
    pub since: RecordedAt,
    /// When it was last known not to be met, if it was met unobserved or received late.
    pub not_before: Option<RecordedAt>,
    /// The event of the version that met it, if there is one.
    pub seq: Option<Seq>,
    /// That version's resourceVersion; empty if there is none.
    pub rv: String,
    /// Who wrote that version.
    pub authors: Authors,
    /// When it was first observed not to be met any more.
    pub until: Option<RecordedAt>,
    /// When it was last known to be met before that, if its end was not observed or was received late.
    pub until_not_before: Option<RecordedAt>,
    /// Whether it was met to the end of the recording.
    pub lasts_to_end: bool,
    /// Whether it may have been met longer: a part of the time, or when it began or ended, is not known.
    pub may_last_longer: bool,
    /// For how many microseconds it is known to have been met, in the whole time.
    pub met_micros: u64,
    /// The longest of these times without interruption.
    pub longest_micros: u64,
}

/// A time whose state is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedTime {
    /// Its begin.
    pub from: RecordedAt,
    /// Its end.
    pub to: RecordedAt,
    /// The cause.
    pub why: MissedReason,
}

worded! {
/// Why the state is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedReason {
    /// The recording has a gap, and the object changed in it.
    Gap = "gap",
    /// The resource was not observed yet, or no longer.
    NotObserved = "not observed",
    /// The recording had ended.
    RecordingEnded = "recording ended",
    /// The version cannot be read, or records are lost by damage.
    Unreadable = "unreadable",
    /// The value was redacted.
    Redacted = "redacted",
}
}
