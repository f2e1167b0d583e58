//! The times in which a machine was in a phase. It does not handle an end for the phase it is still
//! in.

use super::SpanScope;
use crate::interval::{Display, Interval, IntervalMessage, Level, Source, source};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

const CREATED: &str = "MachineCreated";
const CHANGED: &str = "MachinePhaseChange";
const DELETED: &str = "MachineDeletedInAPI";

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut machines: BTreeMap<&str, Vec<&Interval>> = BTreeMap::new();
    for now in raw {
        if now.source.as_str() == source::MACHINE_MONITOR
            && let Some(machine) = now.locator.get("machine")
        {
            machines.entry(machine).or_default().push(now);
        }
    }
    let machines = machines.into_values();
    if run.mode.is_exact() {
        machines.flat_map(of_lives).collect()
    } else {
        machines.flat_map(|changes| of_name(&changes)).collect()
    }
}

/// Returns the phases of all machines that had one name, each up to the change or the deletion that
/// ended it.
fn of_lives(mut changes: Vec<&Interval>) -> Vec<Interval> {
    // The record of a machine that replaced another one without a recorded deletion ends the other
    // one first.
    changes.sort_by_key(|now| (now.from, now.seq, &*now.message.reason != DELETED));
    let mut made = Vec::new();
    let mut open: Option<&Interval> = None;
    for now in changes {
        let reason = &*now.message.reason;
        if ![CREATED, CHANGED, DELETED].contains(&reason) {
            continue;
        }
        if let Some(last) = open.take() {
            let whose = if reason == CREATED { last } else { now };
            made.push(phase_span(last, node(whose), Some(now.from)));
        }
        open = (reason != DELETED).then_some(now);
    }
    made.extend(open.map(|last| phase_span(last, node(last), None)));
    made
}

/// Returns the phases as upstream makes them: it takes all machines that had one name for one.
fn of_name(changes: &[&Interval]) -> Vec<Interval> {
    let mut made = Vec::new();
    let with = |reason: &str| {
        let found = changes.iter().find(|now| &*now.message.reason == reason);
        found.copied()
    };
    let mut since = with(CREATED).map(|created| created.from);
    let mut last: Option<&Interval> = None;
    for &now in changes {
        if &*now.message.reason != CHANGED {
            continue;
        }
        let phase = now.message.annotation("previousPhase").unwrap_or_default();
        let from = since.unwrap_or(now.from);
        made.push(span(now, phase, node(now), from, Some(now.from)));
        since = Some(now.from);
        last = Some(now);
    }
    let gone = with(DELETED);
    if let Some(last) = last {
        let node = gone.map_or_else(|| node(last), node);
        made.push(phase_span(last, node, gone.map(|gone| gone.from)));
    }
    made
}

/// Returns the span of the phase that a change began.
fn phase_span(began: &Interval, node: &str, to: Option<RecordedAt>) -> Interval {
    let phase = began.message.annotation("phase").unwrap_or_default();
    span(began, phase, node, began.from, to)
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
