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
    not_ready: Vec<(&'a str, RecordedAt, RecordedAt)>,
    /// When the network or the nodes' configuration was rolled out.
    rollouts: Vec<(RecordedAt, RecordedAt)>,
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
        let said = &interval.message;
        let span = (interval.from, interval.to_or(end));
        if let (Some(pod), "Deleted") = (locator.get("pod"), said.reason.as_ref()) {
            let namespace = locator.get("namespace").unwrap_or_default();
            self.deleted
                .entry((namespace, pod))
                .or_insert(interval.from);
        }
        let of_node = matches!(interval.source.as_str(), "NodeState" | "NodeMonitor");
        if let (true, Some(node), "NotReady") = (of_node, locator.get("node"), &*said.reason) {
            self.not_ready.push((node, span.0, span.1));
        }
        let operator = locator.get("clusteroperator").unwrap_or_default();
        if matches!(operator, "network" | "machine-config")
            && said.annotation("condition") == Some("Progressing")
        {
            self.rollouts.push(span);
        }
    }

    /// Gives when the Pod of an Event was deleted, if it was.
    pub(crate) fn deleted(&self, event: &Interval) -> Option<RecordedAt> {
        let pod = event.locator.get("pod")?;
        let namespace = event.locator.get("namespace").unwrap_or_default();
        self.deleted.get(&(namespace, pod)).copied()
    }

    /// Tells whether the node of an Event, or some node if it names none, was not ready then.
    pub(crate) fn node_was_not_ready(&self, event: &Interval) -> bool {
        let node = event.locator.get("node");
        self.not_ready.iter().any(|(of, from, to)| {
            node.is_none_or(|node| node == *of) && is_inside(event, (*from, *to))
        })
    }

    /// Tells whether the network or the nodes' configuration was rolled out then.
    pub(crate) fn is_in_rollout(&self, event: &Interval) -> bool {
        self.rollouts.iter().any(|span| is_inside(event, *span))
    }
}

fn is_inside(event: &Interval, (from, to): (RecordedAt, RecordedAt)) -> bool {
    from < event.from && event.to.unwrap_or(event.from) < to
}
