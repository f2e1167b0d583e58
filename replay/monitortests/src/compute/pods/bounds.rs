//! Between which moments a pod's and a container's spans may lie, where its begin or its end was
//! not seen. In exact mode they lie where the pod was seen; upstream takes the pod's own words
//! first, then what was seen, then the run.

use crate::compute::SpanScope;
use crate::gather::{LastPod, PodName};
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
    /// When its phase became `Failed`.
    pub(super) failed: Option<RecordedAt>,
}

impl PodBounds<'_> {
    fn last(&self) -> Option<&LastPod> {
        self.run.pods.get(self.pod)
    }

    /// Returns when the pod began: it existed when anything was seen of it.
    pub(super) fn start(&self) -> RecordedAt {
        let said = self.last().and_then(|last| last.began);
        let said = said.filter(|_| !self.run.mode.is_exact());
        let known = [said, self.first].into_iter().flatten();
        known.min().unwrap_or(self.run.start)
    }

    /// Returns when the pod ended; `None` if it did not.
    pub(super) fn end(&self) -> Option<RecordedAt> {
        let mut changes = self.changes.iter();
        let gone = changes.find(|now| &*now.message.reason == "Deleted");
        let gone = gone.map(|gone| gone.from);
        if self.run.mode.is_exact() {
            return gone;
        }
        let last = self.last();
        if let Some(done) = last.and_then(|last| last.done) {
            return Some(done);
        }
        let Some(gone) = gone else {
            return self.run.open_end();
        };
        // A watch may tell late; the pod's own grace ends it.
        let gone_by = last.and_then(|last| last.gone_by);
        Some(gone_by.map_or(gone, |by| by.min(gone)))
    }

    /// Returns when a container began to be there.
    pub(super) fn container_start(&self, life: &[&Interval]) -> RecordedAt {
        // A container that was first seen to run was there before it ever waited.
        let considered = if self.run.mode.is_exact() {
            life.get(..1).unwrap_or_default()
        } else {
            life
        };
        first(considered, "ContainerWait").unwrap_or_else(|| self.start())
    }

    /// Returns when a container ended for good; `None` if it did not.
    pub(super) fn container_end(
        &self,
        container: &str,
        life: &[&Interval],
        ready: &[&Interval],
    ) -> Option<RecordedAt> {
        let ended = self.last().and_then(|last| {
            let mut ended = last.ended.iter();
            ended.find(|(name, _)| name.as_ref() == container)
        });
        let last = life.last();
        let exit = last.filter(|last| &*last.message.reason == "ContainerExit");
        let exit = exit.map(|exit| exit.from);
        if !self.run.mode.is_exact() {
            let ended = ended.map(|(_, at)| *at);
            return ended.or(exit).or_else(|| self.end());
        }
        // One that was not observed to wait or run had ended when it was first observed.
        let ended = ended.filter(|_| life.is_empty());
        let ended = ended.and_then(|_| ready.first().map(|now| now.from));
        // The kubelet drops the statuses of an evicted Pod's containers.
        exit.or(ended).or(self.failed).or_else(|| self.end())
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
