//! The times in which an operator was unavailable, progressing or degraded. It does not handle
//! other conditions, as upstream does.

use super::SpanScope;
use crate::gather::operator_instant;
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_cluster::{StateKind, StateTrack};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A condition, its good status, and how bad another one is.
const CONDITIONS: [(&str, &str, Level); 3] = [
    ("Available", "True", Level::Error),
    ("Progressing", "False", Level::Warning),
    ("Degraded", "False", Level::Error),
];

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let all = CONDITIONS.into_iter();
    all.flat_map(|(condition, good, level)| {
        let bars = Bars { condition, level };
        if run.mode.is_exact() {
            bars.of_tracks(run.tracks, good)
        } else {
            bars.of_instants(raw, run, good)
        }
    })
    .collect()
}

struct Bars {
    condition: &'static str,
    level: Level,
}

impl Bars {
    /// Returns a span for each run of states of one bad status: rules ask how long all of it was.
    fn of_tracks(&self, tracks: &[StateTrack], good: &str) -> Vec<Interval> {
        let mut made = Vec::new();
        let own = tracks.iter().filter(|track| {
            track.object().kind == StateKind::Operator
                && track.aspect().condition() == Some(self.condition)
        });
        for track in own {
            for (status, states) in track.runs(|state| Arc::clone(&state.status)) {
                let (Some(first), Some(last)) = (states.first(), states.last()) else {
                    continue;
                };
                if &*status != good {
                    let at = (first.from.at, first.from.seq);
                    let state = first.state;
                    let text = (&*status, &*state.reason, &*state.message);
                    let first = operator_instant(&track.object().name, at, self.condition, text);
                    made.push(self.bar(&first.interval(), last.to.map(|to| to.at)));
                }
            }
        }
        made
    }

    /// Returns the spans as upstream makes them of instants.
    fn of_instants(&self, raw: &[Interval], run: &SpanScope<'_>, good: &str) -> Vec<Interval> {
        let mut made = Vec::new();
        // What is bad now, by operator.
        let mut bad: BTreeMap<&str, &Interval> = BTreeMap::new();
        for now in raw {
            if now.source.as_str() != source::CLUSTER_OPERATOR_MONITOR
                || now.message.annotation("condition") != Some(self.condition)
            {
                continue;
            }
            let Some(operator) = now.locator.get("clusteroperator") else {
                continue;
            };
            if now.message.annotation("status").unwrap_or_default() != good {
                // Other reasons of one spell are instants of their own.
                bad.entry(operator).or_insert(now);
            } else if let Some(last) = bad.remove(operator) {
                made.push(self.bar(last, Some(now.from)));
            } else {
                // Upstream takes what becomes good for what was bad all the time.
                made.push(self.unknown(now, run, good));
            }
        }
        let open = bad.into_values();
        made.extend(open.map(|last| self.bar(last, run.open_end())));
        made
    }

    /// Returns the span of a bad status, which keeps what it said first.
    fn bar(&self, first: &Interval, to: Option<RecordedAt>) -> Interval {
        let said = &first.message;
        let mut message = IntervalMessage {
            human: said.human.clone(),
            ..IntervalMessage::default()
        }
        .reason(&said.reason);
        message = message
            .with("condition", self.condition)
            .with("status", said.annotation("status").unwrap_or_default());
        self.interval(first.locator.clone(), message, first, to)
    }

    /// Returns the span before the first sight, when nothing is known but that the status changed.
    fn unknown(&self, now: &Interval, run: &SpanScope<'_>, good: &str) -> Interval {
        let status = if good == "True" { "False" } else { "True" };
        let message = IntervalMessage::new("Unknown")
            .reason("Unknown")
            .with("condition", self.condition)
            .with("status", status);
        let mut interval = self.interval(now.locator.clone(), message, now, Some(now.from));
        interval.from = run.start.min(now.from);
        interval
    }

    fn interval(
        &self,
        locator: Locator,
        message: IntervalMessage,
        shown_by: &Interval,
        to: Option<RecordedAt>,
    ) -> Interval {
        Interval {
            level: self.level,
            source: Source::new(source::OPERATOR_STATE),
            display: Display::Drawn,
            locator,
            message,
            from: shown_by.from,
            to,
            seq: shown_by.seq,
        }
    }
}
