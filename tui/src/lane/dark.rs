//! Owns the times of which nothing is known of a resource, with the words why. Refuses judgement about
//! single objects: what may be missing may be any of them.

use kubereel_format::{RecordedAt, ResourceId, Seq};
use kubereel_replay::{Timeline, UnobservedReason};
use std::ops::Range;

/// A watch that begins again sooner than this, in microseconds, left nothing in the dark: 1 s.
const SHORTEST_MICROS: i64 = 1_000_000;

/// Why a time is dark in which no watch ran, and after which one went on where it had ended.
const NO_WATCH: &str = "no watch ran";

/// A time of which nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dark {
    /// From when to when.
    pub(crate) span: Range<RecordedAt>,
    /// Why.
    pub(crate) why: String,
}

impl Dark {
    /// Tells whether what happened then came later, so that nothing is missing.
    pub(crate) fn is_blind(&self) -> bool {
        self.why == NO_WATCH
    }
}

/// Gives when nothing is known of some resource, in order of time.
pub(crate) fn all_dark(timeline: &Timeline) -> Vec<Dark> {
    let mut all = Vec::new();
    for info in timeline.resources().iter() {
        // What comes later is not dark: it was not there.
        let own = dark_of(timeline, info.id).into_iter();
        all.extend(own.filter(|dark| dark.span.start > timeline.start()));
    }
    all.sort_by_key(|dark| (dark.span.start, dark.span.end));
    all
}

/// Gives when nothing is known of a resource, in order of time and without overlap.
pub(crate) fn dark_of(timeline: &Timeline, resource: ResourceId) -> Vec<Dark> {
    let (start, end) = (timeline.start(), beyond(timeline));
    let wall = |seq: Seq| timeline.reel().stamp(seq).map_or(end, |stamp| stamp.wall);
    let unobserved = timeline.unobserved(resource);
    let mut all = Vec::new();
    let mut add = |from: RecordedAt, to: RecordedAt, why: &str| {
        if from < to {
            all.push(Dark {
                span: from..to,
                why: why.to_owned(),
            });
        }
    };
    for damage in timeline.reel().damage() {
        add(damage.first.map_or(start, wall), end, "the reel is damaged");
    }
    if let Some(coverage) = timeline.coverage(resource) {
        if let Some(imported) = coverage.imported() {
            add(start, imported.since, "the recording had not begun");
        } else {
            let first = coverage.spans().first().map(|span| wall(span.begun_by));
            let never = || {
                let mut never = unobserved.iter();
                never.find(|span| span.reason == UnobservedReason::NeverListed)
            };
            let known_of = first.or_else(|| never().map(|span| span.from));
            add(start, known_of.unwrap_or(end), "not recorded yet");
        }
        for span in &unobserved {
            // What else there is stands here with words of its own.
            if matches!(
                span.reason,
                UnobservedReason::NeverListed
                    | UnobservedReason::Unparsed { .. }
                    | UnobservedReason::LostChange { .. }
            ) {
                add(span.from, span.to, &span.reason.to_string());
            }
        }
        for hole in coverage.holes() {
            let why = hole.gap.cause.as_str();
            add(hole.gap.from_time, wall(hole.closed_by), why);
        }
        for blind in coverage.blind() {
            let to = blind.to.unwrap_or(end);
            if to.micros_since(blind.from) >= SHORTEST_MICROS {
                add(blind.from, to, NO_WATCH);
            }
        }
        for excluded in coverage.excluded() {
            let next = coverage.spans().iter().map(|span| span.begun_by);
            let next = next.filter(|begun| *begun > excluded.since).min();
            add(wall(excluded.since), next.map_or(end, wall), "not recorded");
        }
    } else {
        add(start, end, "never recorded");
    }
    all.sort_by_key(|dark| (dark.span.start, dark.span.end));
    // Of two at once the earlier one is told.
    let mut known_to = start;
    all.retain_mut(|dark| {
        dark.span.start = dark.span.start.max(known_to);
        known_to = known_to.max(dark.span.end);
        dark.span.start < dark.span.end
    });
    all
}

/// Gives the first moment after a reel.
fn beyond(timeline: &Timeline) -> RecordedAt {
    RecordedAt::from_micros(timeline.end().micros.saturating_add(1))
}
