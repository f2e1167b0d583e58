//! The times in which someone held a lease, and those between holders. It does not handle the time
//! before the first sight.

use super::SpanScope;
use crate::gather::LEASE_DELETED;
use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut open: BTreeMap<(&str, &str), &Interval> = BTreeMap::new();
    for now in raw {
        if now.source.as_str() != source::LEASE_MONITOR {
            continue;
        }
        let key = |key| now.locator.get(key).unwrap_or_default();
        let lease = (key("namespace"), key("lease"));
        let last = if &*now.message.reason == LEASE_DELETED {
            open.remove(&lease)
        } else {
            open.insert(lease, now)
        };
        made.extend(last.map(|last| span(last, Some(now.from))));
    }
    made.extend(open.into_values().map(|last| span(last, run.open_end())));
    made
}

fn span(last: &Interval, to: Option<RecordedAt>) -> Interval {
    let holder = last.message.annotation("holder").unwrap_or_default();
    let (reason, words, display) = if holder.is_empty() {
        ("LeaseFree", "held by nobody".to_owned(), Display::Drawn)
    } else {
        ("LeaseHeld", format!("held by {holder}"), Display::Hidden)
    };
    Interval {
        level: Level::Info,
        source: Source::new(source::LEASE_STATE),
        display,
        locator: last.locator.clone(),
        message: IntervalMessage::new(&words)
            .reason(reason)
            .with("holder", holder),
        from: last.from,
        to,
        seq: last.seq,
    }
}
