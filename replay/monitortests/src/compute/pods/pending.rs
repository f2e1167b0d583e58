//! The times in which a pod was pending for long. It does not handle those of less than a minute,
//! unless they never ended.

use super::{CONSTRUCTED, locator, pod_of};
use crate::compute::SpanScope;
use crate::compute::states::{Since, States};
use crate::gather::PodName;
use crate::interval::{Display, Interval, IntervalMessage, Level, SharedTexts, Source, source};
use kubereel_format::RecordedAt;

const LONG_MICROS: i64 = 60_000_000;

/// Computes the spans.
pub(crate) fn pending(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut states: States<PodName> = States::new();
    for now in raw {
        let is_begin = match now.message.reason.as_ref() {
            "PodIsPending" => true,
            "PodIsNotPending" | "Deleted" => false,
            _ => continue,
        };
        let Some(pod) = pod_of(now) else {
            continue;
        };
        if is_begin {
            let since = Since {
                from: now.from,
                seq: now.seq,
            };
            states.open(pod, since);
        } else if let Some(since) = states.close(&pod)
            && now.from.micros_since(since.from) >= LONG_MICROS
        {
            let words = IntervalMessage::new("pod has been pending longer than a minute");
            made.push(span(&pod, words, since, Some(now.from)));
        }
    }
    for (pod, since) in states.still_open() {
        let words = IntervalMessage::new("never completed")
            .reason("PodWasPending")
            .with("constructed", CONSTRUCTED)
            .with("state", "Pending");
        made.push(span(&pod, words, since, run.open_end()));
    }
    made
}

fn span(pod: &PodName, message: IntervalMessage, since: Since, to: Option<RecordedAt>) -> Interval {
    Interval {
        level: Level::Warning,
        source: Source::new(source::POD_STATE),
        display: Display::Hidden,
        locator: locator(pod, None, &mut SharedTexts::default()),
        message,
        from: since.from,
        to,
        seq: since.seq,
    }
}
