//! What the recording says of itself: times without a server, and times in which changes may be
//! missing. It does not handle what a running watch proves anyway.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::interval::{Interval, Level, source};
use kubereel_format::RecordedAt;
use kubereel_history::{RecordedGap, Timeline, UnobservedSpan};

/// Returns the intervals of a reel's own story.
pub(crate) fn intervals(timeline: &Timeline, mode: Mode) -> Vec<Interval> {
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
        let resource = info.qualified();
        for span in timeline.unobserved(info.id) {
            let gap = span.open_gap();
            let Some((from, to)) = bounds(span, mode) else {
                continue;
            };
            let words = words(span, gap);
            let draft = Draft::new(source::RECORDING_GAP, Level::Warning, from)
                .about("Resource", [("resource", &*resource)])
                .reason("RecordingGap")
                .human(words)
                .until(to);
            let draft = match gap {
                Some(gap) => draft.with("differences", gap.gap.differences.to_string()),
                None => draft,
            };
            ledger.add(&draft.drawn());
        }
    }
    ledger.into_intervals().collect()
}

/// Returns when a time without observation began and ended; `None` for the end if nothing ended it.
fn bounds(span: &UnobservedSpan, mode: Mode) -> Option<(RecordedAt, Option<RecordedAt>)> {
    if mode.is_exact() {
        let to = (!span.is_open()).then_some(span.to);
        return Some((span.from, to));
    }
    // The files of upstream's way name the gaps that the recorder declared, by its times.
    let gap = &span.open_gap()?.gap;
    Some((gap.from_time, Some(gap.to_time)))
}

fn words(span: &UnobservedSpan, gap: Option<&RecordedGap>) -> String {
    let Some(gap) = gap else {
        return span.reason.to_string();
    };
    let cause = gap.cause();
    match gap.missing_at_most() {
        Some(missing) => format!("{cause}: up to {missing} changes may be missing"),
        None => cause.to_owned(),
    }
}
