//! The times in which a machine config pool was updating or degraded. It does not handle its other
//! conditions.

use super::SpanScope;
use crate::gather::Draft;
use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_cluster::{StateKind, StateTrack};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// Conditions that are drawn while they are true, and how bad that is.
const CONDITIONS: [(&str, Level); 4] = [
    ("Updating", Level::Info),
    ("Degraded", Level::Error),
    ("NodeDegraded", Level::Error),
    ("RenderDegraded", Level::Error),
];

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    if run.mode.is_exact() {
        of_tracks(run.tracks)
    } else {
        of_instants(raw, run)
    }
}

fn known(condition: Option<&str>) -> Option<(&'static str, Level)> {
    let mut all = CONDITIONS.into_iter();
    all.find(|(kind, _)| Some(*kind) == condition)
}

fn of_tracks(tracks: &[StateTrack]) -> Vec<Interval> {
    let mut made = Vec::new();
    let own = tracks
        .iter()
        .filter(|track| track.object().kind == StateKind::Pool);
    for track in own {
        let Some((condition, level)) = known(track.aspect().condition()) else {
            continue;
        };
        let runs = track.runs(|state| &*state.status == "True").into_iter();
        for (_, states) in runs.filter(|(is_on, _)| *is_on) {
            let (Some(first), Some(last)) = (states.first(), states.last()) else {
                continue;
            };
            let draft = Draft::new(source::POOL_STATE, level, first.from.at)
                .about("MachineConfigPool", [("pool", &*first.object.name)])
                .shown_by(first.from.seq)
                .human(&*first.state.message);
            let draft = if first.state.reason.is_empty() {
                draft
            } else {
                draft.reason(&*first.state.reason)
            };
            let first = draft.interval();
            made.push(span(&first, level, condition, last.to.map(|to| to.at)));
        }
    }
    made
}

fn of_instants(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut open: BTreeMap<(&str, &str), (&Interval, Level)> = BTreeMap::new();
    for now in raw {
        if now.source.as_str() != source::POOL_MONITOR {
            continue;
        }
        let condition = known(now.message.annotation("condition"));
        let (Some((condition, level)), Some(pool)) = (condition, now.locator.get("pool")) else {
            continue;
        };
        let is_on = now.message.annotation("status") == Some("True");
        if let Some((first, level)) = open.remove(&(pool, condition)) {
            made.push(span(first, level, condition, Some(now.from)));
        }
        if is_on {
            open.insert((pool, condition), (now, level));
        }
    }
    for ((_, condition), (first, level)) in open {
        made.push(span(first, level, condition, run.open_end()));
    }
    made
}

fn span(first: &Interval, level: Level, condition: &str, to: Option<RecordedAt>) -> Interval {
    let message = IntervalMessage {
        human: first.message.human.clone(),
        ..IntervalMessage::default()
    };
    Interval {
        level,
        source: Source::new(source::POOL_STATE),
        display: Display::Drawn,
        locator: first.locator.clone(),
        message: message
            .reason(&first.message.reason)
            .with("condition", condition)
            .with("status", "True"),
        from: first.from,
        to,
        seq: first.seq,
    }
}
