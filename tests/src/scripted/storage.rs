//! Owns the objects of one storage, the history of their changes and how far back it reaches.
//! Refuses to know revisions of other storages or how anything is sent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::sync::watch;

use super::oracle::Change;
use super::template::Template;

/// Namespace and name; the namespace is empty for cluster-scoped objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// One version of an object.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub(crate) template: Arc<Template>,
    pub(crate) uid: Arc<str>,
    pub(crate) created: Arc<str>,
    pub(crate) revision: u128,
    /// The sequence number in the oracle.
    pub(crate) commit: usize,
}

/// One step of the history.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) change: Change,
    pub(crate) key: ObjectKey,
    /// The content after the change; for a deletion the last content with the deletion's revision.
    pub(crate) version: Version,
    pub(crate) previous: Option<Version>,
}

/// The objects and the history behind one or several resources.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) objects: BTreeMap<ObjectKey, Version>,
    history: VecDeque<Step>,
    /// How many steps were dropped from the front of the history.
    dropped: usize,
    /// A watch from below answers 410.
    pub(crate) watch_floor: u128,
    /// A list of exactly a revision below answers 410.
    pub(crate) list_floor: u128,
    /// Streams opened under another generation end cleanly, once they sent what waits.
    pub(crate) generation: u64,
    /// Streams opened under another lineage end at once: their history is no longer this one.
    pub(crate) lineage: u64,
    /// Counts the bookmarks asked for by hand.
    pub(crate) bookmark_round: u64,
    changed: watch::Sender<()>,
}

impl Storage {
    /// An empty storage that can be watched from `floor` on.
    pub(crate) fn new(floor: u128) -> Self {
        Self {
            objects: BTreeMap::new(),
            history: VecDeque::new(),
            dropped: 0,
            watch_floor: floor,
            list_floor: 0,
            generation: 0,
            lineage: 0,
            bookmark_round: 0,
            changed: watch::Sender::new(()),
        }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Wakes the streams of this storage.
    pub(crate) fn notify(&self) {
        self.changed.send_replace(());
    }

    /// Ends the open streams cleanly and forgets the watch cache, as a schema change does.
    pub(crate) fn reinitialise(&mut self, revision: u128) {
        self.generation += 1;
        self.watch_floor = revision;
        self.notify();
    }

    pub(crate) fn apply(&mut self, step: Step, history_limit: Option<usize>) {
        if step.change == Change::Deleted {
            self.objects.remove(&step.key);
        } else {
            self.objects.insert(step.key.clone(), step.version.clone());
        }
        self.history.push_back(step);
        while history_limit.is_some_and(|limit| self.history.len() > limit) {
            self.drop_oldest();
        }
    }

    /// Drops the history up to and including `revision`.
    pub(crate) fn compact(&mut self, revision: u128) {
        while self
            .history
            .front()
            .is_some_and(|step| step.version.revision <= revision)
        {
            self.drop_oldest();
        }
        self.watch_floor = self.watch_floor.max(revision);
        self.list_floor = self.list_floor.max(revision);
    }

    fn drop_oldest(&mut self) {
        if let Some(step) = self.history.pop_front() {
            self.dropped += 1;
            self.watch_floor = self.watch_floor.max(step.version.revision);
            self.list_floor = self.list_floor.max(step.version.revision);
        }
    }

    /// The position after every step up to `revision`.
    pub(crate) fn position_after(&self, revision: u128) -> usize {
        let kept = self
            .history
            .partition_point(|step| step.version.revision <= revision);
        self.dropped + kept
    }

    /// The steps from a position on, or nothing when some of them were dropped.
    pub(crate) fn steps_from(&self, position: usize) -> Option<impl Iterator<Item = &Step>> {
        let start = position.checked_sub(self.dropped)?;
        Some(self.history.iter().skip(start))
    }

    /// The revision before the last `count` changes, or before as many of them as are kept.
    pub(crate) fn revision_before(&self, count: usize) -> Option<u128> {
        let first = self.history.len().saturating_sub(count);
        let step = self.history.get(first)?;
        Some(step.version.revision.saturating_sub(1))
    }

    /// The objects as they were at `revision`, which must not lie below the list floor.
    pub(crate) fn objects_at(&self, revision: u128) -> BTreeMap<ObjectKey, Version> {
        let mut objects = self.objects.clone();
        let later = self
            .history
            .iter()
            .rev()
            .take_while(|step| step.version.revision > revision);
        for step in later {
            match &step.previous {
                Some(previous) => objects.insert(step.key.clone(), previous.clone()),
                None => objects.remove(&step.key),
            };
        }
        objects
    }

    /// Forgets everything after `revision`, as a restored snapshot does.
    pub(crate) fn restore(&mut self, revision: u128) {
        self.lineage += 1;
        self.objects = self.objects_at(revision);
        while self
            .history
            .back()
            .is_some_and(|step| step.version.revision > revision)
        {
            self.history.pop_back();
        }
        self.reinitialise(revision);
    }
}
