//! The counters of one run. Each is a current value, or a sum since the start.

use super::account::{NoteTally, RunAccount};
use super::reach::{ReachTracker, ResourceReach};
use crate::clock::Clock;
use crate::number::len64;
use crate::queue::QueueEntry;
use crate::resource::GroupResource;
use crate::version::ResourceVersion;
use kubereel_format::{
    CommitStats, Elapsed, EpochId, EventType, GapVerdict, Note, ResourceId, ResourceInfo,
};
use kubereel_redact::Redactor;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of the recording at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderStatus {
    /// The duration of this run, in microseconds.
    pub elapsed_micros: u64,
    /// The events of this run: ADDED.
    pub added: u64,
    /// The events of this run: MODIFIED.
    pub modified: u64,
    /// The events of this run: DELETED.
    pub deleted: u64,
    /// The gaps of this run.
    pub gaps: u64,
    /// How many of them are closed: every change in them was read back.
    pub closed_gaps: u64,
    /// The anomalies of this run.
    pub odd_lines: u64,
    /// The list and watch requests of this run that succeeded.
    pub connections: u64,
    /// How many responses of this run reported a lost history.
    pub expired: u64,
    /// The outages of the API in this run.
    pub outages: u64,
    /// Whether the API is currently out.
    pub is_out: bool,
    /// The time since the last successful probe, in microseconds; `None` before the first.
    pub probed_ago_micros: Option<u64>,
    /// The size of the file, in bytes.
    pub file_bytes: u64,
    /// The bytes that are received and not yet durable.
    pub queued_bytes: u64,
    /// How long the oldest of them has waited, in microseconds.
    pub lag_micros: u64,
    /// The number of followed resources.
    pub resources: u64,
    /// The number of them whose recording is complete up to the present.
    pub resources_complete: u64,
    /// The number of resources that are not covered.
    pub resources_not_covered: u64,
    /// The number of them that the recorder leaves out because of a limit.
    pub resources_left_out: u64,
    /// Whether the cluster responds.
    pub is_reachable: bool,
    /// Why the recorder cannot reach the cluster; empty if it can.
    pub trouble: String,
    /// Why the recorder cannot write; empty if it can.
    pub write_trouble: String,
    /// The size limit of the file, in bytes; 0 if there is none.
    pub max_bytes: u64,
    /// The last budget step; empty if there was none.
    pub budget: String,
    /// The number of budget steps.
    pub budget_steps: u64,
    /// The number of records that were not written because of them.
    pub budget_dropped: u64,
    /// How far sealing the finished file has come, in percent; `None` if it is not being sealed.
    pub sealing_percent: Option<u64>,
}

impl RecorderStatus {
    /// Returns the number of events of this run.
    pub const fn events(&self) -> u64 {
        self.added + self.modified + self.deleted
    }
}

/// The state of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceCoverage {
    /// It is followed, and its recording is not complete.
    Behind,
    /// Its recording is complete up to the present.
    Complete,
    /// It currently cannot be recorded.
    NotCovered,
    /// The recorder does not record it, because of its size or memory limit.
    LeftOut,
}

/// How far all resources are durably recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordingProgress {
    /// The uid of the cluster; empty if it is not known.
    pub(crate) cluster: String,
    /// Its resources.
    pub(crate) resources: BTreeMap<GroupResource, ResourceProgress>,
}

/// How far one resource is recorded.
#[derive(Clone, Debug)]
pub(crate) struct ResourceProgress {
    /// Its state.
    pub(crate) state: ResourceCoverage,
    /// The version that its recording has reached.
    pub(crate) come: ResourceReach,
}

/// The counters, and what the derived fields of a status are made of.
#[derive(Debug, Default)]
struct HealthState {
    /// Without the fields that [`Health::status`] derives.
    status: RecorderStatus,
    probed_at: Option<Elapsed>,
    /// When the oldest record that is not durable was received.
    pending_since: Option<Elapsed>,
    used_percent: u64,
    resources: BTreeMap<u32, ResourceCoverage>,
    left_out: u64,
    /// Resources that the reel never recorded, because of a limit.
    unstarted: u64,
    waiting_resources: u64,
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Health {
    clock: Clock,
    redactor: Redactor,
    state: Mutex<HealthState>,
    tally: NoteTally,
    reach: Mutex<ReachTracker>,
}

impl Health {
    /// Creates a set of zeros. Error texts pass the redactor: the status page and the terminal show
    /// them.
    pub(crate) fn new(clock: Clock, redactor: Redactor) -> Self {
        Self {
            clock,
            redactor,
            state: Mutex::default(),
            tally: NoteTally::default(),
            reach: Mutex::default(),
        }
    }

    /// Counts an entry that was appended.
    pub(crate) fn appended(&self, entry: &QueueEntry) {
        self.tally.take(entry);
        self.reach().take(entry);
        let status = &mut self.state().status;
        let counter = match entry {
            QueueEntry::Event(event) => match event.kind {
                EventType::Added => &mut status.added,
                EventType::Modified => &mut status.modified,
                EventType::Deleted => &mut status.deleted,
            },
            QueueEntry::Note {
                note: Note::Gap(_), ..
            } => &mut status.gaps,
            QueueEntry::Note {
                note:
                    Note::GapJudged {
                        verdict: GapVerdict::Reconstructed,
                        ..
                    },
                ..
            } => &mut status.closed_gaps,
            QueueEntry::Note {
                note: Note::Connected { .. },
                ..
            } => &mut status.connections,
            QueueEntry::Note {
                note: Note::OutageBegan { .. },
                ..
            } => &mut status.outages,
            QueueEntry::Blob {
                note: kubereel_format::BlobNote::OddLine { .. },
                ..
            } => &mut status.odd_lines,
            QueueEntry::Note { .. } | QueueEntry::Blob { .. } => return,
        };
        *counter += 1;
    }

    /// Everything appended is durable.
    pub(crate) fn committed(&self, stats: &CommitStats) {
        self.state().status.file_bytes = stats.file_bytes;
        self.reach().committed();
    }

    /// The cluster of an earlier run is recorded again.
    pub(crate) fn resume_cluster(&self, epoch: EpochId, uid: &str) {
        self.reach().resume_cluster(epoch, uid.to_owned());
    }

    /// A resource of an earlier run is resumed; the version up to which that run recorded it.
    pub(crate) fn resume(&self, info: ResourceInfo, reached: Option<ResourceVersion>) {
        self.reach().resume(info, reached);
    }

    /// Sets when the oldest record that is not durable was received.
    pub(crate) fn set_pending(&self, since: Option<Elapsed>) {
        self.state().pending_since = since;
    }

    /// Sets the number of received bytes that are not durable.
    pub(crate) fn set_queued(&self, bytes: usize) {
        self.state().status.queued_bytes = len64(bytes);
    }

    /// Counts a response that reported a lost history.
    pub(crate) fn count_expired(&self) {
        self.state().status.expired += 1;
    }

    /// The API answered a probe at that time.
    pub(crate) fn probed(&self, at: Elapsed) {
        let mut state = self.state();
        state.probed_at = Some(at);
        self.tally.tick(at, |resource| {
            // What is refused did not come back.
            let coverage = state.resources.get(&resource.0);
            coverage.is_some_and(|coverage| *coverage != ResourceCoverage::Complete)
        });
    }

    /// Sets whether the API is out.
    pub(crate) fn set_out(&self, is_out: bool) {
        self.state().status.is_out = is_out;
    }

    /// Returns whether the API is out: then other failures are a consequence.
    pub(crate) fn is_out(&self) -> bool {
        self.state().status.is_out
    }

    /// Sets whether the cluster responds, with the reason if it does not.
    pub(crate) fn set_reachable(&self, trouble: Option<&str>) {
        let trouble = trouble.map(|trouble| self.redactor.words(trouble));
        let status = &mut self.state().status;
        status.is_reachable = trouble.is_none();
        status.trouble = trouble.unwrap_or_default().into_owned();
    }

    /// Sets whether the file can be written, with the reason if it cannot.
    pub(crate) fn set_write_trouble(&self, trouble: &str) {
        let trouble = self.redactor.words(trouble).into_owned();
        self.state().status.write_trouble = trouble;
    }

    /// Sets the size limit of the file.
    pub(crate) fn set_max_bytes(&self, bytes: u64) {
        self.state().status.max_bytes = bytes;
    }

    /// Sets the used share of the size limit, in percent.
    pub(crate) fn set_used_percent(&self, percent: u64) {
        self.state().used_percent = percent;
    }

    /// Returns the used share of the size limit, in percent; 0 without a limit.
    pub(crate) fn used_percent(&self) -> u64 {
        self.state().used_percent
    }

    /// Sealing the finished file has come so far, in percent; `None` if it is not being sealed.
    pub(crate) fn set_sealing(&self, percent: Option<u64>) {
        self.state().status.sealing_percent = percent;
    }

    /// Sets the last budget step.
    pub(crate) fn set_budget(&self, words: &str) {
        let words = self.redactor.words(words).into_owned();
        let status = &mut self.state().status;
        status.budget_steps += 1;
        status.budget = words;
    }

    /// Counts a record that was not written because of a budget.
    pub(crate) fn count_budget_dropped(&self) {
        self.state().status.budget_dropped += 1;
    }

    /// Sets the state of a resource; `None` when it is no longer followed.
    pub(crate) fn set_resource(&self, resource: u32, state: Option<ResourceCoverage>) {
        let resources = &mut self.state().resources;
        match state {
            Some(state) => resources.insert(resource, state),
            None => resources.remove(&resource),
        };
    }

    /// Sets how many resources wait for the definitions before they are followed.
    pub(crate) fn set_waiting(&self, resources: usize) {
        self.state().waiting_resources = len64(resources);
    }

    /// Sets how many resources are left out by decision: they have no watch or list, or another one
    /// has their storage.
    pub(crate) fn set_left_out(&self, resources: usize) {
        self.state().left_out = len64(resources);
    }

    /// Sets how many resources that the reel never recorded are not followed because of a limit.
    pub(crate) fn set_unstarted(&self, resources: usize) {
        self.state().unstarted = len64(resources);
    }

    /// Returns the summary of the notes so far.
    pub(crate) fn account(&self) -> RunAccount {
        self.tally.account()
    }

    /// Returns the state of everything.
    pub(crate) fn status(&self) -> RecorderStatus {
        let elapsed = self.clock.elapsed().micros;
        let since = |at: Elapsed| elapsed.saturating_sub(at.micros);
        let state = self.state();
        let count = |wanted| {
            let states = state.resources.values();
            len64(states.filter(|state| **state == wanted).count())
        };
        let complete = count(ResourceCoverage::Complete);
        let limited = state.unstarted + count(ResourceCoverage::LeftOut);
        let uncovered = state.left_out + count(ResourceCoverage::NotCovered);
        RecorderStatus {
            elapsed_micros: elapsed,
            probed_ago_micros: state.probed_at.map(since),
            lag_micros: state.pending_since.map_or(0, since),
            resources: complete + count(ResourceCoverage::Behind) + state.waiting_resources,
            resources_complete: complete,
            resources_not_covered: uncovered + limited,
            resources_left_out: limited,
            ..state.status.clone()
        }
    }

    /// Returns how far the resources of this run are recorded, also those that no longer are.
    pub(crate) fn stand(&self) -> RecordingProgress {
        let states = self.state().resources.clone();
        let reach = self.reach();
        let resources = states.into_iter().filter_map(|(id, state)| {
            let (info, come) = reach.of(ResourceId(id))?;
            let stands = ResourceProgress { state, come };
            Some(((info.group.clone(), info.plural.clone()), stands))
        });
        RecordingProgress {
            cluster: reach.cluster().to_owned(),
            resources: resources.collect(),
        }
    }

    fn reach(&self) -> MutexGuard<'_, ReachTracker> {
        self.reach.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, HealthState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_it_was_told() {
        let health = Health::new(Clock::start(), crate::queue::redactor());
        health.set_resource(1, Some(ResourceCoverage::Complete));
        health.set_resource(2, Some(ResourceCoverage::Behind));
        health.set_resource(3, Some(ResourceCoverage::NotCovered));
        health.set_resource(4, Some(ResourceCoverage::Complete));
        health.set_resource(4, None);
        health.set_resource(5, Some(ResourceCoverage::LeftOut));
        health.set_unstarted(3);
        health.set_left_out(2);
        health.set_reachable(Some("connection refused"));
        let status = health.status();
        assert_eq!(status.resources, 2);
        assert_eq!(status.resources_complete, 1);
        assert_eq!(status.resources_not_covered, 7);
        assert_eq!(status.resources_left_out, 4);
        assert!(!status.is_reachable);
        assert_eq!(status.trouble, "connection refused");
        assert_eq!(status.lag_micros, 0);
        assert_eq!(status.probed_ago_micros, None);
        health.probed(Elapsed::default());
        health.set_out(true);
        let out = health.status();
        assert!(out.is_out);
        assert_eq!(out.probed_ago_micros, Some(out.elapsed_micros));
        health.set_reachable(None);
        assert!(health.status().is_reachable);
        assert_eq!(health.status().sealing_percent, None);
        health.set_sealing(Some(7));
        assert_eq!(health.status().sealing_percent, Some(7));
    }
}
