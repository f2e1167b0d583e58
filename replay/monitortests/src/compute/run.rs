//! What spans are computed in, and the order in which they are. It does not handle the rules of
//! each state: the other files have them.

use super::{
    lease_state, machine_phase, node_state, operator_state, pods, pool_state, shutdown,
    static_pods, version_state,
};
use crate::gather::{LastPod, Mode, PodName, WantedIntervals};
use crate::interval::{Interval, Intervals, SharedTexts};
use crate::reading;
use kubereel_cluster::StateTrack;
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::collections::BTreeMap;

/// What spans are computed in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanScope<'a> {
    /// By which rules.
    pub(crate) mode: Mode,
    /// Its first moment.
    pub(crate) start: RecordedAt,
    /// Its last moment.
    pub(crate) end: RecordedAt,
    /// Each pod as it was last seen.
    pub(crate) pods: &'a BTreeMap<PodName, LastPod>,
    /// The states of what has some, which spans are views of; none where upstream's rules count.
    pub(crate) tracks: &'a [StateTrack],
    /// What of it is held: the spans of pods are many.
    pub(crate) kept: &'a WantedIntervals,
}

impl SpanScope<'_> {
    /// Returns the end of what is open when the run ends.
    pub(crate) fn open_end(&self) -> Option<RecordedAt> {
        (!self.mode.is_exact()).then_some(self.end)
    }
}

/// Computes intervals of states from raw ones, such as a file holds: what `Gathering` computes for a
/// reel.
///
/// `last_pods` are Pods as they were last seen, where they are known: spans end when a Pod says so.
/// Computed intervals among the raw ones are not computed from.
pub fn computed_from(raw: &Intervals, mode: Mode, last_pods: &[Value]) -> Vec<Interval> {
    let pods = last_pods.iter().map(|pod| {
        let text = |pointer| reading::text(pod, pointer).into();
        let name = PodName {
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            uid: text("/metadata/uid"),
        };
        (name, LastPod::of(pod))
    });
    let run = SpanScope {
        mode,
        start: raw.start(),
        end: raw.end(),
        pods: &pods.collect(),
        tracks: &[],
        kept: &WantedIntervals::default(),
    };
    let is_raw = |interval: &&Interval| interval.message.annotation("constructed").is_none();
    let raw: Vec<Interval> = raw.all().iter().filter(is_raw).cloned().collect();
    computed(&raw, &run)
}

/// Returns whether [`of_others`] may be computed from the interval of an Event or of a Pod.
pub(crate) fn is_computed_from(interval: &Interval) -> bool {
    node_state::reads(interval) || shutdown::reads(interval) || static_pods::reads(interval)
}

/// Computes all that is computed from raw intervals, which are sorted.
fn computed(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = of_others(raw, run);
    made.extend(of_pods(raw, run, &mut SharedTexts::default()));
    made
}

/// Computes the states of Pods from all raw intervals of these Pods, which are sorted: those that are held.
pub(crate) fn of_pods(
    raw: &[Interval],
    run: &SpanScope<'_>,
    words: &mut SharedTexts,
) -> Vec<Interval> {
    let mut made = pods::pending(raw, run);
    made.retain(|span| run.kept.has(span));
    made.extend(pods::states(raw, run, words));
    made
}

/// Computes the states of all that is not a Pod from raw intervals, which are sorted: of those of Events and
/// Pods it reads no others than [`is_computed_from`] tells.
pub(crate) fn of_others(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = operator_state::spans(raw, run);
    made.extend(version_state::spans(raw, run));
    made.extend(node_state::spans(raw, run));
    made.extend(machine_phase::spans(raw, run));
    made.extend(pool_state::spans(raw, run));
    made.extend(lease_state::spans(raw, run));
    made.extend(static_pods::spans(raw));
    made.extend(shutdown::spans(raw, run));
    made
}
