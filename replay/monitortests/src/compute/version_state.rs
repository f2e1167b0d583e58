//! Owns the times in which the version operator waited for operators. Refuses what nobody waited for.

use super::Run;
use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_format::RecordedAt;
use std::sync::Arc;

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &Run<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut waiting: Option<&Interval> = None;
    for now in raw {
        if now.source.as_str() != source::CLUSTER_OPERATOR_MONITOR
            || now.locator.get("clusterversion") != Some("version")
            || now.message.annotation("condition") != Some("Progressing")
        {
            continue;
        }
        if let Some(last) = waiting.take() {
            made.push(span(last, Some(now.from)));
        }
        let is_progressing = now.message.annotation("status") == Some("True");
        if is_progressing && now.message.human.contains("waiting on ") {
            waiting = Some(now);
        }
    }
    // Upstream forgets what it still waits for at the end.
    if let Some(last) = waiting
        && run.mode.is_exact()
    {
        made.push(span(last, None));
    }
    made
}

fn span(last: &Interval, to: Option<RecordedAt>) -> Interval {
    let human = last.message.human.replacen("changed to ", "stayed in ", 1);
    let message = IntervalMessage {
        human: Arc::from(human),
        ..IntervalMessage::default()
    };
    Interval {
        level: Level::Warning,
        source: Source::new(source::VERSION_STATE),
        display: Display::Hidden,
        locator: last.locator.clone(),
        message: message
            .reason(&last.message.reason)
            .with("condition", "Progressing")
            .with("status", "True"),
        from: last.from,
        to,
        seq: last.seq,
    }
}
