//! Owns an opened reel and what can be said about it as a whole: its time span, its resources, what
//! is covered. Refuses bodies: the questions read those.

use crate::account::Sequence;
use crate::coverage::{Coverage, UnobservedSpan};
use crate::outage::{self, Outage};
use crate::select::ResourceTable;
use crate::session::{self, Cluster, Session};
use crate::timetext;
use kubereel_format::{ObjectId, ObjectKey, OpenError, RecordedAt, Reel, ResourceId, Seq};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// A reel, opened for questions.
pub struct Timeline {
    reel: Reel,
    start: RecordedAt,
    end: RecordedAt,
    resources: ResourceTable,
    objects: BTreeMap<ResourceId, Vec<ObjectId>>,
    sessions: Vec<Session>,
    clusters: Vec<Cluster>,
    outages: Vec<Outage>,
    coverage: BTreeMap<ResourceId, Coverage>,
    sequences: OnceLock<Vec<Sequence>>,
    unobserved: OnceLock<BTreeMap<ResourceId, Vec<UnobservedSpan>>>,
}

impl Timeline {
    /// Opens a reel.
    ///
    /// # Errors
    /// When the file cannot be read, is no reel, or is being recorded at the moment.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self::new(Reel::open(path)?))
    }

    /// Takes a reel that is open already.
    pub fn new(reel: Reel) -> Self {
        let wall = |seq| reel.stamp(seq).map(|stamp| stamp.wall);
        let start = wall(Seq(0)).unwrap_or_default();
        // A clock that stepped back must not cut the recording short.
        let last = before(reel.end()).and_then(wall);
        let notes = reel.notes().iter().map(|entry| entry.stamp.wall);
        let end = notes.chain(last).max().unwrap_or(start);
        let mut objects: BTreeMap<ResourceId, Vec<ObjectId>> = BTreeMap::new();
        for object in reel.objects() {
            objects
                .entry(object.key.resource)
                .or_default()
                .push(object.id);
        }
        let sessions = session::sessions(reel.notes(), |seq| before(seq).and_then(wall), end);
        let clusters = session::clusters(reel.notes());
        let outages = outage::outages(reel.notes(), &sessions);
        let resources = ResourceTable::new(reel.notes());
        let coverage = Coverage::of_all(&reel, &objects, &sessions);
        let mut timeline = Self {
            reel,
            start,
            end,
            resources,
            objects,
            sessions,
            clusters,
            outages,
            coverage,
            sequences: OnceLock::new(),
            unobserved: OnceLock::new(),
        };
        timeline.bound_holes();
        timeline
    }

    /// Bounds what gaps can have lost by the revisions that nothing explains.
    fn bound_holes(&mut self) {
        let is_bound = |coverage: &Coverage| coverage.holes().is_empty();
        if self.coverage.values().all(is_bound) || self.sequences().is_empty() {
            return;
        }
        let mut coverage = std::mem::take(&mut self.coverage);
        for one in coverage.values_mut() {
            one.bound(self);
        }
        self.coverage = coverage;
    }

    pub(crate) const fn sequence_cell(&self) -> &OnceLock<Vec<Sequence>> {
        &self.sequences
    }

    pub(crate) const fn unobserved_cell(
        &self,
    ) -> &OnceLock<BTreeMap<ResourceId, Vec<UnobservedSpan>>> {
        &self.unobserved
    }

    /// Gives the reel itself.
    pub const fn reel(&self) -> &Reel {
        &self.reel
    }

    /// Gives the time of the first record.
    pub const fn start(&self) -> RecordedAt {
        self.start
    }

    /// Gives the latest time of the recording: that of the last record, unless a clock stepped back.
    pub const fn end(&self) -> RecordedAt {
        self.end
    }

    /// Gives the recorded resources and those that are not covered.
    pub const fn resources(&self) -> &ResourceTable {
        &self.resources
    }

    /// Gives the objects of a resource that the reel ever saw.
    pub fn objects_of(&self, resource: ResourceId) -> &[ObjectId] {
        self.objects.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// Gives who an object is.
    pub fn key_of(&self, object: ObjectId) -> Option<&ObjectKey> {
        let place = usize::try_from(object.0).ok()?;
        self.reel.objects().get(place).map(|object| &object.key)
    }

    /// Gives the recorder's runs, in order.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// Gives the clusters met, in order.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// Gives the times without a server, in order.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    /// Gives what is covered of a resource.
    pub fn coverage(&self, resource: ResourceId) -> Option<&Coverage> {
        self.coverage.get(&resource)
    }

    /// Gives the record that completed the first list of any resource.
    pub fn first_complete(&self) -> Option<Seq> {
        let begins = self
            .coverage
            .values()
            .filter_map(|coverage| coverage.spans().first());
        begins.map(|span| span.begun_by).min()
    }

    /// Writes a time so that it names the same moment of this reel when it is pasted after `--at`.
    pub fn written(&self, at: RecordedAt) -> String {
        timetext::within(self.start, self.end, at)
    }
}

/// Gives the record before another.
pub(crate) fn before(seq: Seq) -> Option<Seq> {
    seq.0.checked_sub(1).map(Seq)
}
