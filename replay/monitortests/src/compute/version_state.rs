//! The times in which the version operator waited for operators. It does not handle what nobody
//! waited for.

use super::SpanScope;
use crate::gather::version_instant;
use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_cluster::{StateKind, StateTrack};
use kubereel_format::RecordedAt;
use std::sync::Arc;

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    if run.mode.is_exact() {
        of_tracks(run.tracks)
    } else {
        of_instants(raw)
    }
}

fn is_waiting(status: &str, words: &str) -> bool {
    status == "True" && words.contains("waiting on ")
}

fn of_tracks(tracks: &[StateTrack]) -> Vec<Interval> {
    let own = tracks.iter().filter(|track| {
        let object = track.object();
        (object.kind, object.name.as_str()) == (StateKind::Version, "version")
            && track.aspect().condition() == Some("Progressing")
    });
    let states = own.flat_map(StateTrack::intervals);
    let waits = states.filter(|one| is_waiting(&one.state.status, &one.state.message));
    let made = waits.map(|one| {
        let at = (one.from.at, one.from.seq);
        let state = one.state;
        let text = (&*state.status, &*state.reason, &*state.message);
        let first = version_instant(at, "Progressing", text).interval();
        span(&first, one.to.map(|to| to.at))
    });
    made.collect()
}

/// Returns the spans as upstream makes them of instants; it forgets what it still waits for at the
/// end.
fn of_instants(raw: &[Interval]) -> Vec<Interval> {
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
        let status = now.message.annotation("status").unwrap_or_default();
        waiting = Some(now).filter(|now| is_waiting(status, &now.message.human));
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
