//! Between which moments a pod's and a container's spans may lie, where its begin or its end was
//! not seen. It does not invent: the pod's own words come first, then what was seen, then the run.

use crate::compute::SpanScope;
use crate::gather::{LastPod, PodName, moment};
use crate::interval::Interval;
use kubereel_format::RecordedAt;

/// What is known of a pod.
pub(super) struct PodBounds<'a> {
    pub(super) run: &'a SpanScope<'a>,
    pub(super) pod: &'a PodName,
    /// The first time that anything was seen of it.
    pub(super) first: Option<RecordedAt>,
    /// Its own changes, in order.
    pub(super) changes: &'a [&'a Interval],
}

impl PodBounds<'_> {
    fn last(&self) -> Option<&LastPod> {
        self.run.pods.get(self.pod)
    }

    /// Returns when the pod began: it existed when anything was seen of it.
    pub(super) fn start(&self) -> RecordedAt {
        let said = self.last().and_then(|last| last.began);
        match (said, self.first) {
            // A pod's own time has whole seconds: what was seen within them says more.
            (Some(said), Some(first)) if self.run.mode.is_exact() => {
                moment(Some(said), None, first)
            }
            (said, first) => [said, first]
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(self.run.start),
        }
    }

    /// Returns when the pod ended.
    pub(super) fn end(&self) -> RecordedAt {
        if let Some(done) = self.last().and_then(|last| last.done) {
            return done;
        }
        let mut changes = self.changes.iter();
        let Some(gone) = changes.find(|now| &*now.message.reason == "Deleted") else {
            return self.run.end;
        };
        // A watch may tell late; the pod's own grace ends it.
        let gone_by = self.last().and_then(|last| last.gone_by);
        gone_by.map_or(gone.from, |by| by.min(gone.from))
    }

    /// Returns when a container began to be there.
    pub(super) fn container_start(&self, life: &[&Interval]) -> RecordedAt {
        first(life, "ContainerWait").unwrap_or_else(|| self.start())
    }

    /// Returns when a container ended.
    pub(super) fn container_end(&self, container: &str, life: &[&Interval]) -> RecordedAt {
        let ended = self.last().and_then(|last| {
            let mut ended = last.ended.iter();
            ended.find(|(name, _)| name.as_ref() == container)
        });
        let exit = life.last().map(|last| (last.from, &*last.message.reason));
        match (ended, exit) {
            (Some((_, at)), Some((exit, "ContainerExit"))) if self.run.mode.is_exact() => {
                moment(Some(*at), None, exit)
            }
            (Some((_, at)), _) => *at,
            (None, Some((exit, "ContainerExit"))) => exit,
            _ => self.end(),
        }
    }

    /// Returns from when a container can be ready.
    pub(super) fn ready_start(&self, life: &[&Interval]) -> RecordedAt {
        if life.is_empty() {
            return self.container_start(life);
        }
        first(life, "ContainerStart").unwrap_or_else(|| self.container_start(life))
    }
}

fn first(life: &[&Interval], reason: &str) -> Option<RecordedAt> {
    let found = life.iter().find(|now| &*now.message.reason == reason);
    found.map(|now| now.from)
}
