//! Owns what else happened to the Pods and nodes of failed sandboxes: deletions, nodes that were not
//! ready, roll-outs of the network. Refuses verdicts.

use crate::interval::{Interval, Intervals};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// What happened besides.
#[derive(Debug, Default)]
pub(crate) struct Besides<'a> {
    /// When each Pod, by namespace and name, was deleted first.
    deleted: BTreeMap<(&'a str, &'a str), RecordedAt>,
    /// When each node was not ready.
    not_ready: BTreeMap<&'a str, Spans>,
    /// When the network or the nodes' configuration was rolled out.
    rollouts: Spans,
}

impl<'a> Besides<'a> {
    /// Finds it in the intervals of a run.
    pub(crate) fn new(intervals: &'a Intervals) -> Self {
        let mut besides = Self::default();
        for interval in intervals.all() {
            besides.take(interval, intervals.end());
        }
        besides
    }

    fn take(&mut self, interval: &'a Interval, end: RecordedAt) {
        let locator = &interval.locator;
        let span = (interval.from, interval.to_or(end));
        if let Some(pod) = deleted_pod(interval) {
            let namespace = locator.get("namespace").unwrap_or_default();
            self.deleted
                .entry((namespace, pod))
                .or_insert(interval.from);
        }
        if let Some(node) = not_ready_node(interval) {
            self.not_ready.entry(node).or_default().add(span);
        }
        if is_rollout(interval) {
            self.rollouts.add(span);
        }
    }

    /// Tells whether an interval is one that it is found in.
    pub(crate) fn reads(interval: &Interval) -> bool {
        deleted_pod(interval).is_some()
            || not_ready_node(interval).is_some()
            || is_rollout(interval)
    }

    /// Gives when the Pod of an Event was deleted, if it was.
    pub(crate) fn deleted(&self, event: &Interval) -> Option<RecordedAt> {
        let pod = event.locator.get("pod")?;
        let namespace = event.locator.get("namespace").unwrap_or_default();
        self.deleted.get(&(namespace, pod)).copied()
    }

    /// Tells whether the node of an Event, or some node if it names none, was not ready then.
    pub(crate) fn node_was_not_ready(&self, event: &Interval) -> bool {
        match event.locator.get("node") {
            Some(node) => {
                let spans = self.not_ready.get(node);
                spans.is_some_and(|spans| spans.hold(event))
            }
            None => self.not_ready.values().any(|spans| spans.hold(event)),
        }
    }

    /// Tells whether the network or the nodes' configuration was rolled out then.
    pub(crate) fn is_in_rollout(&self, event: &Interval) -> bool {
        self.rollouts.hold(event)
    }
}

/// Gives the Pod that was deleted, if that is what an interval says.
fn deleted_pod(interval: &Interval) -> Option<&str> {
    let pod = interval.locator.get("pod")?;
    (&*interval.message.reason == "Deleted").then_some(pod)
}

/// Gives the node that was not ready, if that is what an interval says.
fn not_ready_node(interval: &Interval) -> Option<&str> {
    let is_of_node = matches!(interval.source.as_str(), "NodeState" | "NodeMonitor");
    let node = interval.locator.get("node")?;
    (is_of_node && &*interval.message.reason == "NotReady").then_some(node)
}

fn is_rollout(interval: &Interval) -> bool {
    let operator = interval.locator.get("clusteroperator");
    matches!(operator, Some("network" | "machine-config"))
        && interval.message.annotation("condition") == Some("Progressing")
}

/// Spans of time by their begin; each end is the latest one so far, so that the last span that began
/// before an Event tells of all of them.
#[derive(Debug, Default)]
struct Spans(BTreeMap<RecordedAt, RecordedAt>);

impl Spans {
    /// Adds a span; none begins before the ones that are there.
    fn add(&mut self, (from, to): (RecordedAt, RecordedAt)) {
        let latest = self.0.last_key_value().map_or(to, |(_, end)| *end);
        self.0.insert(from, to.max(latest));
    }

    /// Tells whether an Event lies strictly inside one of them.
    fn hold(&self, event: &Interval) -> bool {
        let to = event.to.unwrap_or(event.from);
        let before = self.0.range(..event.from).next_back();
        before.is_some_and(|(_, end)| to < *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_lies_inside_if_a_span_began_before_it_and_ends_after_it() {
        let at = |secs: i64| RecordedAt {
            micros: secs * 1_000_000,
        };
        let mut spans = Spans::default();
        for (from, to) in [(10, 90), (20, 30), (100, 110)] {
            spans.add((at(from), at(to)));
        }
        let held = |from: i64, to: i64| {
            spans.hold(&Interval {
                from: at(from),
                to: Some(at(to)),
                ..Interval::default()
            })
        };
        assert!(held(11, 11) && held(40, 41) && held(21, 31));
        assert!(!held(10, 11) && !held(89, 90) && !held(95, 95) && !held(9, 11));
    }
}
