//! An opened reel with tables of its notes and names, which every query reads. `coverage` derives
//! from them what was not observed.

use crate::select::ResourceTable;
use crate::session::{self, RecordingSession};
use kubereel_format::{ObjectId, ObjectKeyRef, RecordedAt, Reel, ResourceId, Seq};
use std::collections::BTreeMap;

/// An opened reel and its tables.
pub(crate) struct ReelTables {
    reel: Reel,
    start: RecordedAt,
    end: RecordedAt,
    resources: ResourceTable,
    objects: BTreeMap<ResourceId, Vec<ObjectId>>,
    sessions: Vec<RecordingSession>,
}

impl ReelTables {
    pub(crate) fn new(reel: Reel) -> Self {
        let wall = |seq| reel.stamp(seq).map(|stamp| stamp.wall);
        let start = wall(Seq(0)).unwrap_or_default();
        // After a clock stepped back, the last record may not have the latest time.
        let last = before(reel.end()).and_then(wall);
        let notes = reel.notes().iter().map(|entry| entry.stamp.wall);
        let latest = reel.event_span().map(|(_, latest)| latest);
        let end = notes.chain(last).chain(latest).max().unwrap_or(start);
        let mut objects: BTreeMap<ResourceId, Vec<ObjectId>> = BTreeMap::new();
        for object in reel.objects() {
            let of_resource = objects.entry(object.key.resource).or_default();
            of_resource.push(object.id);
        }
        let sessions = session::sessions(reel.notes(), |seq| before(seq).and_then(wall), end);
        Self {
            start,
            end,
            resources: ResourceTable::new(reel.notes()),
            objects,
            sessions,
            reel,
        }
    }

    pub(crate) const fn reel(&self) -> &Reel {
        &self.reel
    }

    pub(crate) const fn start(&self) -> RecordedAt {
        self.start
    }

    pub(crate) const fn end(&self) -> RecordedAt {
        self.end
    }

    /// Returns whether the time of any record is known.
    pub(crate) fn is_dated(&self) -> bool {
        self.end != RecordedAt::default()
    }

    pub(crate) const fn resources(&self) -> &ResourceTable {
        &self.resources
    }

    pub(crate) fn sessions(&self) -> &[RecordingSession] {
        &self.sessions
    }

    pub(crate) fn objects_of(&self, resource: ResourceId) -> &[ObjectId] {
        self.objects.get(&resource).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn key_of(&self, object: ObjectId) -> Option<ObjectKeyRef<'_>> {
        self.reel.key(object)
    }

    /// Returns the wall-clock time of a record; beyond the last record, the end of the recording.
    pub(crate) fn wall_of(&self, seq: Seq) -> RecordedAt {
        self.reel
            .stamp(seq)
            .map_or_else(|| self.end, |stamp| stamp.wall)
    }

    /// Returns the earliest time whose state includes a record. It is later than the record's own time if one
    /// in front of it is: connections deliver beside each other, and the first lists come within milliseconds.
    pub(crate) fn seen_from(&self, seq: Seq) -> RecordedAt {
        let at = self.wall_of(seq);
        let later = (self.reel.seq_after(at).0..=seq.0).map(|between| self.wall_of(Seq(between)));
        later.fold(at, RecordedAt::max)
    }

    /// Returns the last version of an object before a record.
    pub(crate) fn last_version(&self, object: ObjectId, below: Seq) -> Option<Seq> {
        let versions = self.reel.versions(object);
        let count = versions.partition_point(|&seq| seq < below);
        versions.get(count.checked_sub(1)?).copied()
    }

    /// Finds the last event of a resource before a record.
    pub(crate) fn last_event(&self, resource: ResourceId, below: Seq) -> Option<Seq> {
        let objects = self.objects_of(resource).iter();
        objects
            .filter_map(|&object| self.last_version(object, below))
            .max()
    }
}

/// Returns the record before another.
pub(crate) fn before(seq: Seq) -> Option<Seq> {
    seq.0.checked_sub(1).map(Seq)
}

/// Converts a count of things in memory.
#[expect(clippy::expect_used, reason = "a usize has at most 64 bits")]
pub(crate) fn count_of(things: usize) -> u64 {
    u64::try_from(things).expect("a usize has at most 64 bits")
}
