//! The beginning of a cluster, where the recording shows it: what is not well until then is normal.
//!
//! An OpenShift cluster says itself how far its installation is. Of any other one, the namespace
//! `kube-system` was created when its first API server began; without a recording of that moment nothing
//! is claimed.

use crate::signs::Reading;
use kubereel_cluster::{ClusterHistory, UpdateKind};
use kubereel_format::{ObjectId, RecordedAt};
use kubereel_history::field::text;
use kubereel_history::{Timeline, timetext};
use kubereel_monitortests::WatchedEvent;
use std::collections::BTreeSet;

const SYSTEM: &str = "kube-system";
/// A recording that begins this much later than the cluster, in microseconds, shows its beginning: 60 s.
const FIRST_MINUTE: i64 = 60_000_000;
/// A beginning that takes longer than this, in microseconds, is none: 30 min.
const LONGEST: i64 = 1_800_000_000;

/// How far the installation of a cluster is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Installation {
    /// The reel does not show one.
    #[default]
    None,
    /// It goes on until the end of the reel.
    Running,
    /// It was complete then.
    Done(RecordedAt),
}

/// What a pass sees of the beginning of a cluster.
#[derive(Debug, Default)]
pub(crate) struct ClusterBirth {
    start: Option<RecordedAt>,
    /// The installation of an OpenShift cluster.
    openshift: Option<Installation>,
    /// When the cluster began.
    began: Option<RecordedAt>,
    /// Whether a Node was ready.
    has_node: bool,
    /// The workloads of the system that are not available.
    waited_for: BTreeSet<ObjectId>,
    /// When all was there for the first time.
    done: Option<RecordedAt>,
}

impl ClusterBirth {
    pub(crate) fn of(timeline: &Timeline) -> Self {
        Self {
            start: Some(timeline.start()),
            openshift: openshift(timeline),
            ..Self::default()
        }
    }

    /// Returns how far the installation is at the end of the reel.
    pub(crate) fn installation(&self, end: RecordedAt) -> Installation {
        if let Some(installation) = self.openshift {
            return installation;
        }
        let Some(began) = self.began else {
            return Installation::None;
        };
        let longest = RecordedAt::from_micros(began.micros.saturating_add(LONGEST));
        match self.done {
            Some(done) => Installation::Done(done.min(longest)),
            None if end < longest => Installation::Running,
            None => Installation::Done(longest),
        }
    }

    /// Returns whether the cluster is being installed at a time that the pass has reached.
    pub(crate) fn is_under_way(&self, at: RecordedAt) -> bool {
        match self.openshift {
            Some(Installation::None) => false,
            Some(Installation::Running) => true,
            Some(Installation::Done(done)) => at < done,
            None => self.began.is_some() && self.done.is_none(),
        }
    }

    /// Returns whether it is that of an OpenShift cluster.
    pub(crate) const fn is_openshift(&self) -> bool {
        self.openshift.is_some()
    }

    /// Takes a version, and what it says.
    pub(crate) fn take(&mut self, seen: &WatchedEvent<'_>, reading: &Reading) {
        if self.done.is_some() {
            return;
        }
        let in_system = seen.key.namespace == SYSTEM;
        match (seen.resource.group.as_str(), seen.resource.plural.as_str()) {
            ("", "namespaces") if seen.key.name == SYSTEM => {
                let created = timetext::parsed(text(seen.now, "/metadata/creationTimestamp"));
                self.began = self.began.or(created.filter(|created| {
                    let start = self.start.unwrap_or(seen.at);
                    let is_seen = created.micros_since(start) >= -FIRST_MINUTE;
                    // A clock that is far ahead says nothing.
                    is_seen && created.micros_since(seen.at) <= FIRST_MINUTE
                }));
            }
            ("", "nodes") => self.has_node |= reading.is_well,
            ("apps", "deployments" | "daemonsets" | "statefulsets") if in_system => {
                if reading.signs.is_empty() {
                    self.waited_for.remove(&seen.object);
                } else {
                    self.waited_for.insert(seen.object);
                }
            }
            _ => return,
        }
        if self.began.is_some() && self.has_node && self.waited_for.is_empty() {
            self.done = Some(seen.at);
        }
    }

    /// Takes the end of an object.
    pub(crate) fn end(&mut self, seen: &WatchedEvent<'_>) {
        self.waited_for.remove(&seen.object);
    }
}

/// Asks how far the first installation of an OpenShift cluster is; `None` if it is no such cluster.
fn openshift(timeline: &Timeline) -> Option<Installation> {
    // A damaged reel does not tell.
    let updates = ClusterHistory::of(timeline)
        .updates(timeline.last_cut())
        .ok()?;
    if !updates.is_seen {
        return None;
    }
    let mut all = updates.all.iter();
    let install = all.find(|update| update.kind == UpdateKind::Install);
    Some(
        install.map_or(Installation::None, |install| match install.end {
            Some(end) => Installation::Done(end.mark.at),
            None => Installation::Running,
        }),
    )
}
