//! The place of a resourceVersion in the order of arrival: when its storage had reached it, by the
//! events of all resources with the same storage, and which deletions belong before it.

use crate::account::{AccountExclusion, RevisionSequence, SequenceMember};
use crate::coverage::Coverage;
use crate::session::Cluster;
use crate::tables::ReelTables;
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceId, Seq};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The number of remembered places: a comparison of all resources asks for the same two again and again.
const MOST_PLACES: usize = 8;

/// The place in the order of arrival at which a storage had reached a resourceVersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RevisionPlace {
    /// The first record behind it.
    pub(crate) below: Seq,
    /// The wall-clock time.
    pub(crate) wall: RecordedAt,
    /// Whether the storage is known to have gone as far, by a probe or by another resource.
    pub(crate) is_reached: bool,
}

/// The places that were asked for last: each needs the versions of all later events.
#[derive(Default)]
pub(crate) struct RevisionPlaces(Mutex<Vec<(PlaceKey, RevisionPlace)>>);

/// The version, the first record of its cluster, and the resource if it does not share the storage of the others.
type PlaceKey = (u128, Seq, Option<ResourceId>);

impl RevisionPlaces {
    fn get_or_insert(&self, key: PlaceKey, find: impl FnOnce() -> RevisionPlace) -> RevisionPlace {
        // Entries are complete at any moment, so a panic elsewhere does not spoil them.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().iter().find(|(known, _)| *known == key).copied();
        if let Some((_, place)) = known {
            return place;
        }
        let place = find();
        let mut places = lock();
        if places.len() >= MOST_PLACES {
            places.remove(0);
        }
        places.push((key, place));
        place
    }
}

/// The resourceVersions of a reel.
#[derive(Clone, Copy)]
pub(crate) struct ReelRevisions<'a> {
    pub(crate) tables: &'a ReelTables,
    pub(crate) coverage: &'a BTreeMap<ResourceId, Coverage>,
    pub(crate) sequences: &'a [RevisionSequence],
    pub(crate) clusters: &'a [Cluster],
    pub(crate) places: &'a RevisionPlaces,
}

impl ReelRevisions<'_> {
    /// Finds the place in the order of arrival of a resourceVersion of a resource: behind the last event up to that
    /// version that was received when it was new, of any resource with the same storage, and behind the list with
    /// which the state of the resource begins.
    pub(crate) fn place(self, resource: ResourceId, rv: u128) -> RevisionPlace {
        let records = self.epoch(resource, rv);
        let storage = SharedStorage::of(self, resource, &records);
        let only = (!storage.is_shared()).then_some(resource);
        let key = (rv, records.start, only);
        let place = self
            .places
            .get_or_insert(key, || storage.place(rv, &records));
        let coverage = self.coverage.get(&resource);
        match coverage.and_then(|coverage| coverage.span_at_revision(rv)) {
            Some(span) if place.below <= span.begun_by => RevisionPlace {
                below: Seq(span.begun_by.0.saturating_add(1)),
                wall: span.covered.from_time,
                ..place
            },
            _ => place,
        }
    }

    /// Returns the records of the cluster epoch of a resourceVersion: versions of a restored
    /// cluster start lower again.
    pub(crate) fn epoch(self, resource: ResourceId, rv: u128) -> Range<Seq> {
        let begun_by = self
            .coverage
            .get(&resource)
            .and_then(|coverage| coverage.span_at_revision(rv))
            .map_or(Seq(0), |span| span.begun_by);
        let from = self
            .restored()
            .rfind(|&first| first <= begun_by)
            .unwrap_or(Seq(0));
        let to = self
            .restored()
            .find(|&first| first > begun_by)
            .unwrap_or(self.tables.reel().end());
        from..to
    }

    /// Returns the first records of all clusters but the first.
    fn restored(self) -> impl DoubleEndedIterator<Item = Seq> {
        self.clusters.iter().skip(1).map(|cluster| cluster.first)
    }

    /// Returns the resourceVersion of an event's change. `None` for a deletion that has none of its own, as other
    /// tools write them: none at all, or that of the last version.
    fn change_rv(self, seq: Seq) -> Option<u128> {
        let reel = self.tables.reel();
        let own = reel.rv_of(seq)?;
        if reel.kind_of(seq) != Some(EventType::Deleted) {
            return Some(own);
        }
        let last = self.version_before(seq).and_then(|last| reel.rv_of(last));
        last.is_none_or(|last| last < own).then_some(own)
    }

    /// Returns the resourceVersion that orders an event among those of its object: of a change without one, that of
    /// the version before.
    pub(crate) fn state_rv(self, seq: Seq) -> Option<u128> {
        let before = || self.tables.reel().rv_of(self.version_before(seq)?);
        self.change_rv(seq).or_else(before)
    }

    /// Returns the version of the same object before an event, in the same cluster.
    fn version_before(self, seq: Seq) -> Option<Seq> {
        let reel = self.tables.reel();
        let versions = reel.versions(reel.object_of(seq)?);
        let place = versions.partition_point(|known| *known < seq);
        let before = *versions.get(place.checked_sub(1)?)?;
        let is_of_other_cluster = self.restored().any(|first| before < first && first <= seq);
        (!is_of_other_cluster).then_some(before)
    }

    /// Returns whether an event is part of the state at a resourceVersion. A change without a version of its own
    /// happened before what was received after it.
    pub(crate) fn is_within(self, seq: Seq, rv: u128) -> bool {
        if let Some(own) = self.change_rv(seq) {
            return own <= rv;
        }
        let resource = self.resource_of(seq);
        resource.is_some_and(|resource| seq < self.place(resource, rv).below)
    }

    fn resource_of(self, seq: Seq) -> Option<ResourceId> {
        let object = self.tables.reel().object_of(seq)?;
        Some(self.tables.key_of(object)?.resource)
    }
}

/// The resources whose events date a resourceVersion.
struct SharedStorage<'a> {
    revisions: ReelRevisions<'a>,
    /// The resource in question.
    resource: ResourceId,
    /// The sequence of its cluster; `None` without probes: nothing shows that a storage is another one.
    sequence: Option<&'a RevisionSequence>,
    member: SequenceMember,
}

impl<'a> SharedStorage<'a> {
    fn of(revisions: ReelRevisions<'a>, resource: ResourceId, records: &Range<Seq>) -> Self {
        let last = Seq(records.end.0.saturating_sub(1));
        let mut sequences = revisions.sequences.iter();
        let sequence = sequences.find(|sequence| sequence.is_of(last));
        let member = sequence.map_or(SequenceMember::Fits, |sequence| {
            let mut members = sequence.members();
            let member = members.find(|(id, _)| *id == resource);
            let unknown = SequenceMember::LeftOut(AccountExclusion::NotKnown);
            member.map_or(unknown, |(_, member)| member)
        });
        Self {
            revisions,
            resource,
            sequence,
            member,
        }
    }

    fn is_shared(&self) -> bool {
        self.member == SequenceMember::Fits
    }

    fn has(&self, resource: ResourceId) -> bool {
        let counts_for_itself = SequenceMember::LeftOut(AccountExclusion::CountsForItself);
        resource == self.resource
            || self.member != counts_for_itself
                && self.sequence.is_none_or(|all| all.has_member(resource))
    }

    /// Returns whether an event was received when its version was new: a list shows old versions, too.
    fn dates(&self, seq: Seq) -> bool {
        let resource = self.revisions.resource_of(seq);
        let Some(resource) = resource.filter(|id| self.has(*id)) else {
            return false;
        };
        let is_imported = || {
            let coverage = self.revisions.coverage.get(&resource);
            coverage.is_some_and(Coverage::is_only_imported)
        };
        let is_new = match self.revisions.tables.reel().evidence_of(seq) {
            Some(Evidence::Live | Evidence::Polled | Evidence::Imported) => true,
            Some(Evidence::Listed) => is_imported(),
            Some(Evidence::Initial | Evidence::Inferred | Evidence::Reconstructed) | None => false,
        };
        is_new && self.revisions.change_rv(seq).is_some()
    }

    fn place(&self, rv: u128, records: &Range<Seq>) -> RevisionPlace {
        let reel = self.revisions.tables.reel();
        let probed = self.sequence.filter(|_| self.is_shared());
        let probed = probed.and_then(RevisionSequence::last_revision);
        let mut is_reached = probed.is_some_and(|last| rv <= last);
        // Without probes, or for a storage of its own, later events prove nothing.
        let can_prove = self.sequence.is_some() && self.is_shared();
        let place = |below, at, is_reached| RevisionPlace {
            below,
            wall: self.revisions.tables.wall_of(at),
            is_reached,
        };
        for seq in (records.start.0..records.end.0).rev().map(Seq) {
            let Some(own) = reel.rv_of(seq) else {
                continue;
            };
            let is_needed = own <= rv || (can_prove && !is_reached);
            if !is_needed || !self.dates(seq) {
                continue;
            }
            is_reached |= can_prove && own >= rv;
            if own <= rv {
                return place(Seq(seq.0.saturating_add(1)), seq, is_reached);
            }
        }
        place(records.start, records.start, is_reached)
    }
}
