//! What the recording says of itself: times without a server, and gaps. It does not handle what a
//! running watch proves anyway.

use super::ledger::{Draft, Ledger};
use crate::interval::{Interval, Level, source};
use kubereel_history::{GapOutcome, Timeline};

/// Returns the intervals of a reel's own story.
pub(crate) fn intervals(timeline: &Timeline) -> Vec<Interval> {
    let mut ledger = Ledger::default();
    for outage in timeline.outages() {
        let (level, reason) = if outage.is_before_first_answer {
            (Level::Info, "APINotUpYet")
        } else {
            (Level::Error, "APIUnreachableFromRecorder")
        };
        let draft = Draft::new(source::API_UNREACHABLE_FROM_CLIENT, level, outage.from)
            .about("APIUnreachableFromClient", [("component", "kubereel")])
            .reason(reason)
            .human(outage.error.as_str())
            .until(Some(outage.to));
        ledger.add(&draft.drawn());
    }
    for info in timeline.resources().iter() {
        let Some(coverage) = timeline.coverage(info.id) else {
            continue;
        };
        let resource = info.qualified();
        for hole in coverage.gaps(GapOutcome::MayMiss) {
            let gap = &hole.gap;
            let cause = hole.cause();
            let words = match gap.missing_at_most {
                Some(missing) => format!("{cause}: up to {missing} changes may be missing"),
                None => cause.to_owned(),
            };
            let draft = Draft::new(source::RECORDING_GAP, Level::Warning, gap.from_time)
                .about("Resource", [("resource", &*resource)])
                .reason("RecordingGap")
                .human(words)
                .with("differences", gap.differences.to_string())
                .until(Some(gap.to_time));
            ledger.add(&draft.drawn());
        }
    }
    ledger.into_intervals().collect()
}
