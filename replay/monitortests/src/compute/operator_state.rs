//! Owns the times in which an operator was unavailable, progressing or degraded. Refuses other
//! conditions, as upstream does.

use super::Run;
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// A condition, its good status, and how bad another one is.
const CONDITIONS: [(&str, &str, Level); 3] = [
    ("Available", "True", Level::Error),
    ("Progressing", "False", Level::Warning),
    ("Degraded", "False", Level::Error),
];

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &Run<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    for (condition, good, level) in CONDITIONS {
        let bars = Bars { condition, level };
        // What is bad now, by operator.
        let mut bad: BTreeMap<&str, &Interval> = BTreeMap::new();
        for now in raw {
            if now.source.as_str() != source::CLUSTER_OPERATOR_MONITOR
                || now.message.annotation("condition") != Some(condition)
            {
                continue;
            }
            let Some(operator) = now.locator.get("clusteroperator") else {
                continue;
            };
            let status = now.message.annotation("status").unwrap_or_default();
            let last = bad.get(operator).copied();
            if status == good {
                bad.remove(operator);
                match last {
                    Some(last) => made.push(bars.bar(last, Some(now.from))),
                    // Upstream takes what becomes good for what was bad all the time.
                    None if !run.mode.is_exact() => made.push(bars.unknown(now, run, good)),
                    None => {}
                }
            } else if last.is_none() {
                // Other reasons of one spell are instants of their own: rules ask how long all of it was.
                bad.insert(operator, now);
            } else if let Some(last) = last
                && run.mode.is_exact()
                && last.message.annotation("status") != Some(status)
            {
                // What nobody knew and what is wrong are two spells.
                made.push(bars.bar(last, Some(now.from)));
                bad.insert(operator, now);
            }
        }
        let open = bad.into_values();
        made.extend(open.map(|last| bars.bar(last, run.open_end())));
    }
    made
}

struct Bars {
    condition: &'static str,
    level: Level,
}

impl Bars {
    /// Gives the span of a bad status, which keeps what it said first.
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

    /// Gives the span before the first sight, when nothing is known but that the status changed.
    fn unknown(&self, now: &Interval, run: &Run<'_>, good: &str) -> Interval {
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
