//! The counters of one run. Each is a value of now, or a sum since the start.

use super::account::{NoteTally, RunAccount};
use super::reach::{ReachTracker, ResourceReach};
use crate::clock::Clock;
use crate::number::len64;
use crate::queue::QueueEntry;
use crate::resource::GroupResource;
use kubereel_format::{CommitStats, Elapsed, EventType, Note, ResourceId, ResourceInfo};
use kubereel_redact::Redactor;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stands for "nothing is waiting" and for "never" where a time is kept.
const NOTHING: u64 = u64::MAX;

/// How the recording stands, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderStatus {
    /// How long this run has lasted, in microseconds.
    pub elapsed_micros: u64,
    /// The events of this run: ADDED.
    pub added: u64,
    /// The events of this run: MODIFIED.
    pub modified: u64,
    /// The events of this run: DELETED.
    pub deleted: u64,
    /// The gaps of this run.
    pub gaps: u64,
    /// The lines of this run that were no events.
    pub odd_lines: u64,
    /// The list and watch requests of this run that were answered.
    pub connections: u64,
    /// How often a server reported in this run that it had lost the history.
    pub expired: u64,
    /// The outages of the API in this run.
    pub outages: u64,
    /// Whether the API is out at the moment.
    pub is_out: bool,
    /// How long ago the API answered a probe last, in microseconds; `None` if it never did.
    pub probed_ago_micros: Option<u64>,
    /// The size of the file, in bytes.
    pub file_bytes: u64,
    /// The bytes that are received and not yet durable.
    pub queued_bytes: u64,
    /// How long the oldest of them has been waiting, in microseconds.
    pub lag_micros: u64,
    /// The resources that are followed.
    pub resources: u64,
    /// Those of them whose recording is complete up to the present.
    pub resources_complete: u64,
    /// The resources that are not covered.
    pub resources_not_covered: u64,
    /// Whether the cluster answers.
    pub is_reachable: bool,
    /// What keeps the recorder from the cluster; empty if nothing does.
    pub trouble: String,
    /// What keeps the recorder from writing; empty if nothing does.
    pub write_trouble: String,
    /// How large the file may become, in bytes; 0 if it is not limited.
    pub max_bytes: u64,
    /// The last step that was taken to stay below that; empty if none was.
    pub budget: String,
    /// How many such steps were taken.
    pub budget_steps: u64,
    /// How many records were not written because of them.
    pub budget_dropped: u64,
}

impl RecorderStatus {
    /// Counts the events of this run.
    pub const fn events(&self) -> u64 {
        self.added + self.modified + self.deleted
    }
}

/// How one resource stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceCoverage {
    /// It is followed, and its state is not complete.
    Behind,
    /// Its recording is complete up to the present.
    Complete,
    /// It cannot be recorded for now.
    NotCovered,
}

/// How far the recording of all resources has come, durably.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordingProgress {
    /// The uid of the cluster; empty if it is not known.
    pub(crate) cluster: String,
    /// The resources that are followed.
    pub(crate) resources: BTreeMap<GroupResource, ResourceProgress>,
}

/// How far that of one resource has come.
#[derive(Clone, Debug)]
pub(crate) struct ResourceProgress {
    /// Whether it is complete up to the present.
    pub(crate) is_complete: bool,
    /// How far it has come.
    pub(crate) come: ResourceReach,
}

#[derive(Debug, Default)]
struct StatusTexts {
    trouble: String,
    is_reachable: bool,
    write_trouble: String,
    budget: String,
    resources: BTreeMap<u32, ResourceCoverage>,
    left_out: u64,
    held: u64,
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Health {
    clock: Clock,
    redactor: Redactor,
    added: AtomicU64,
    modified: AtomicU64,
    deleted: AtomicU64,
    gaps: AtomicU64,
    odd_lines: AtomicU64,
    connections: AtomicU64,
    expired: AtomicU64,
    outages: AtomicU64,
    is_out: AtomicBool,
    probed_at: AtomicU64,
    file_bytes: AtomicU64,
    queued_bytes: AtomicU64,
    pending_since: AtomicU64,
    max_bytes: AtomicU64,
    budget_steps: AtomicU64,
    budget_dropped: AtomicU64,
    used_percent: AtomicU64,
    words: Mutex<StatusTexts>,
    tally: NoteTally,
    reach: Mutex<ReachTracker>,
}

impl Health {
    /// Makes a set of zeros. The text of errors passes the redactor: the status page and the
    /// terminal show it.
    pub(crate) fn new(clock: Clock, redactor: Redactor) -> Self {
        let zero = AtomicU64::default;
        Self {
            clock,
            redactor,
            added: zero(),
            modified: zero(),
            deleted: zero(),
            gaps: zero(),
            odd_lines: zero(),
            connections: zero(),
            expired: zero(),
            outages: zero(),
            is_out: AtomicBool::new(false),
            probed_at: AtomicU64::new(NOTHING),
            file_bytes: zero(),
            queued_bytes: zero(),
            pending_since: AtomicU64::new(NOTHING),
            max_bytes: zero(),
            budget_steps: zero(),
            budget_dropped: zero(),
            used_percent: zero(),
            words: Mutex::default(),
            tally: NoteTally::default(),
            reach: Mutex::default(),
        }
    }

    /// Counts an entry that was appended.
    pub(crate) fn appended(&self, entry: &QueueEntry) {
        self.tally.take(entry);
        self.reach().take(entry);
        let counter = match entry {
            QueueEntry::Event(event) => match event.kind {
                EventType::Added => &self.added,
                EventType::Modified => &self.modified,
                EventType::Deleted => &self.deleted,
            },
            QueueEntry::Note {
                note: Note::Gap(_), ..
            } => &self.gaps,
            QueueEntry::Note {
                note: Note::Connected { .. },
                ..
            } => &self.connections,
            QueueEntry::Note {
                note: Note::OutageBegan { .. },
                ..
            } => &self.outages,
            QueueEntry::Blob {
                note: kubereel_format::BlobNote::OddLine { .. },
                ..
            } => &self.odd_lines,
            QueueEntry::Note { .. } | QueueEntry::Blob { .. } => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything appended is durable.
    pub(crate) fn committed(&self, stats: &CommitStats) {
        self.file_bytes.store(stats.file_bytes, Ordering::Relaxed);
        self.reach().committed();
    }

    /// A resource of an earlier run is resumed.
    pub(crate) fn describe(&self, info: ResourceInfo) {
        self.reach().describe(info);
    }

    /// The oldest record that is not yet durable was received then.
    pub(crate) fn set_pending(&self, since: Option<Elapsed>) {
        let micros = since.map_or(NOTHING, |since| since.micros);
        self.pending_since.store(micros, Ordering::Relaxed);
    }

    /// So many bytes are received and not yet durable.
    pub(crate) fn set_queued(&self, bytes: usize) {
        let bytes = len64(bytes);
        self.queued_bytes.store(bytes, Ordering::Relaxed);
    }

    /// A server reported that it had lost the history.
    pub(crate) fn count_expired(&self) {
        self.expired.fetch_add(1, Ordering::Relaxed);
    }

    /// The API answered a probe then.
    pub(crate) fn probed(&self, at: Elapsed) {
        self.probed_at.store(at.micros, Ordering::Relaxed);
        let words = self.words();
        self.tally.tick(at, |resource| {
            words.resources.get(&resource.0) == Some(&ResourceCoverage::Behind)
        });
    }

    /// The API is out, or not.
    pub(crate) fn set_out(&self, is_out: bool) {
        self.is_out.store(is_out, Ordering::Relaxed);
    }

    /// Returns whether the API is out: then what fails is a consequence.
    pub(crate) fn is_out(&self) -> bool {
        self.is_out.load(Ordering::Relaxed)
    }

    /// The cluster answers, or not: then with the reason.
    pub(crate) fn set_reachable(&self, trouble: Option<&str>) {
        let trouble = trouble.map(|trouble| self.redactor.words(trouble));
        let mut words = self.words();
        words.is_reachable = trouble.is_none();
        words.trouble = trouble.unwrap_or_default().into_owned();
    }

    /// The file can be written, or not: then with the reason.
    pub(crate) fn set_write_trouble(&self, trouble: &str) {
        let trouble = self.redactor.words(trouble).into_owned();
        self.words().write_trouble = trouble;
    }

    /// The file may become so large.
    pub(crate) fn set_max_bytes(&self, bytes: u64) {
        self.max_bytes.store(bytes, Ordering::Relaxed);
    }

    /// So much of what the file may reach is used, in percent.
    pub(crate) fn set_used_percent(&self, percent: u64) {
        self.used_percent.store(percent, Ordering::Relaxed);
    }

    /// Returns how much of what the file may reach is used, in percent; 0 if that is not limited.
    pub(crate) fn used_percent(&self) -> u64 {
        self.used_percent.load(Ordering::Relaxed)
    }

    /// A step was taken to stay below that.
    pub(crate) fn set_budget(&self, words: &str) {
        self.budget_steps.fetch_add(1, Ordering::Relaxed);
        let words = self.redactor.words(words).into_owned();
        self.words().budget = words;
    }

    /// A record was not written because of such steps.
    pub(crate) fn count_budget_dropped(&self) {
        self.budget_dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the state of a resource; `None` when it is no longer followed.
    pub(crate) fn set_resource(&self, resource: u32, state: Option<ResourceCoverage>) {
        let resources = &mut self.words().resources;
        match state {
            Some(state) => resources.insert(resource, state),
            None => resources.remove(&resource),
        };
    }

    /// Returns how many resources will be followed and wait for the definitions.
    pub(crate) fn set_held(&self, resources: usize) {
        self.words().held = len64(resources);
    }

    /// So many resources are left out by decision: no watch, no list, another one stands for them.
    pub(crate) fn set_left_out(&self, resources: usize) {
        self.words().left_out = len64(resources);
    }

    /// Returns the account of the notes so far.
    pub(crate) fn account(&self) -> RunAccount {
        self.tally.account()
    }

    /// Returns the state of everything.
    pub(crate) fn status(&self) -> RecorderStatus {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let elapsed_micros = self.clock.elapsed().micros;
        let words = self.words();
        let count = |wanted| {
            let states = words.resources.values();
            len64(states.filter(|state| **state == wanted).count())
        };
        let complete = count(ResourceCoverage::Complete);
        RecorderStatus {
            elapsed_micros,
            added: get(&self.added),
            modified: get(&self.modified),
            deleted: get(&self.deleted),
            gaps: get(&self.gaps),
            odd_lines: get(&self.odd_lines),
            connections: get(&self.connections),
            expired: get(&self.expired),
            outages: get(&self.outages),
            is_out: self.is_out.load(Ordering::Relaxed),
            probed_ago_micros: match get(&self.probed_at) {
                NOTHING => None,
                at => Some(elapsed_micros.saturating_sub(at)),
            },
            file_bytes: get(&self.file_bytes),
            queued_bytes: get(&self.queued_bytes),
            lag_micros: match get(&self.pending_since) {
                NOTHING => 0,
                since => elapsed_micros.saturating_sub(since),
            },
            resources: complete + count(ResourceCoverage::Behind) + words.held,
            resources_complete: complete,
            resources_not_covered: words.left_out + count(ResourceCoverage::NotCovered),
            is_reachable: words.is_reachable,
            trouble: words.trouble.clone(),
            write_trouble: words.write_trouble.clone(),
            max_bytes: get(&self.max_bytes),
            budget: words.budget.clone(),
            budget_steps: get(&self.budget_steps),
            budget_dropped: get(&self.budget_dropped),
        }
    }

    /// Returns how far the recording of what is followed has come.
    pub(crate) fn stand(&self) -> RecordingProgress {
        let states = self.words().resources.clone();
        let reach = self.reach();
        let followed = states
            .into_iter()
            .filter(|(_, state)| *state != ResourceCoverage::NotCovered);
        let resources = followed.filter_map(|(id, state)| {
            let (info, come) = reach.of(ResourceId(id))?;
            let stands = ResourceProgress {
                is_complete: state == ResourceCoverage::Complete,
                come,
            };
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

    fn words(&self) -> MutexGuard<'_, StatusTexts> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
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
        health.set_left_out(2);
        health.set_reachable(Some("connection refused"));
        let status = health.status();
        assert_eq!(status.resources, 2);
        assert_eq!(status.resources_complete, 1);
        assert_eq!(status.resources_not_covered, 3);
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
    }
}
