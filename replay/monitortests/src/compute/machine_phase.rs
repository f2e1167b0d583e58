//! The times in which a machine was in a phase. It does not handle an end for the phase it is still
//! in.

use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// Computes the spans.
pub(super) fn spans(raw: &[Interval]) -> Vec<Interval> {
    let mut machines: BTreeMap<&str, Vec<&Interval>> = BTreeMap::new();
    for now in raw {
        if now.source.as_str() == source::MACHINE_MONITOR
            && let Some(machine) = now.locator.get("machine")
        {
            machines.entry(machine).or_default().push(now);
        }
    }
    let mut made = Vec::new();
    for changes in machines.into_values() {
        let with = |reason: &str| {
            let found = changes.iter().find(|now| &*now.message.reason == reason);
            found.copied()
        };
        let mut since = with("MachineCreated").map(|created| created.from);
        let mut last: Option<&Interval> = None;
        for &now in &changes {
            if &*now.message.reason != "MachinePhaseChange" {
                continue;
            }
            let phase = now.message.annotation("previousPhase").unwrap_or_default();
            let from = since.unwrap_or(now.from);
            made.push(span(now, phase, node(now), from, Some(now.from)));
            since = Some(now.from);
            last = Some(now);
        }
        let gone = with("MachineDeletedInAPI");
        if let Some(last) = last {
            let phase = last.message.annotation("phase").unwrap_or_default();
            let node = gone.map_or_else(|| node(last), node);
            made.push(span(
                last,
                phase,
                node,
                last.from,
                gone.map(|gone| gone.from),
            ));
        }
    }
    made
}

fn node(now: &Interval) -> &str {
    now.message.annotation("node").unwrap_or_default()
}

fn span(
    shown_by: &Interval,
    phase: &str,
    node: &str,
    from: RecordedAt,
    to: Option<RecordedAt>,
) -> Interval {
    let message = IntervalMessage::new(&format!("Machine is in {phase:?}"))
        .reason("MachinePhase")
        .with("constructed", "machine-lifecycle-constructor")
        .with("phase", phase)
        .with("node", node);
    Interval {
        level: Level::Info,
        source: Source::new(source::MACHINE_MONITOR),
        display: Display::Drawn,
        locator: shown_by.locator.clone(),
        message,
        from,
        to,
        seq: shown_by.seq,
    }
}
