//! One sequence of revisions: its probes, its resources, and the revisions with recorded events.
//! Events of another cluster and the estimated versions of inferred deletions are not part of it.

use super::probes::{self, AccountExclusion, CommitBounds, RevisionProbe, SequenceMember, members};
use crate::coverage::RecordedGap;
use crate::tables::{ReelTables, count_of};
use kubereel_format::{
    ConnectionId, EpochId, Evidence, GapCause, Note, ObjectId, RecordedAt, Reel, ResourceId,
    ResourceInfo, Seq,
};
use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// One sequence of revisions: that of the cluster's own storage, in one epoch.
#[derive(Debug)]
pub struct RevisionSequence {
    epoch: EpochId,
    /// The records of the epoch: from the first, below the second.
    records: (Seq, Seq),
    probes: Vec<RevisionProbe>,
    members: BTreeMap<ResourceId, SequenceMember>,
    connections: HashSet<ConnectionId>,
    revisions: OnceLock<ExplainedRevisions>,
}

impl RevisionSequence {
    /// Reads the sequences with probes, in order.
    pub(crate) fn all(reel: &Reel) -> Vec<Self> {
        let probes = probes::read(reel.notes());
        let all = probes.into_iter().map(|(epoch, probes)| Self {
            epoch,
            records: records(reel, epoch),
            members: members(reel.notes(), epoch, &probes),
            connections: connections(reel, epoch),
            probes,
            revisions: OnceLock::new(),
        });
        all.collect()
    }

    /// Returns the number of the cluster.
    pub const fn epoch(&self) -> EpochId {
        self.epoch
    }

    /// Returns the highest revision that a probe showed.
    pub(crate) fn last_revision(&self) -> Option<u128> {
        self.probes
            .iter()
            .map(|probe| u128::from(probe.revision))
            .max()
    }

    /// Returns the resources with a list in it, and whether they share the sequence.
    pub fn members(&self) -> impl Iterator<Item = (ResourceId, SequenceMember)> + '_ {
        self.members.iter().map(|(id, member)| (*id, *member))
    }

    /// Returns the resources that do not, or for which it is not known.
    pub fn left_out(&self) -> impl Iterator<Item = (ResourceId, AccountExclusion)> + '_ {
        self.members().filter_map(|(id, member)| match member {
            SequenceMember::LeftOut(why) => Some((id, why)),
            SequenceMember::Fits => None,
        })
    }

    /// Returns whether a resource shares the sequence.
    pub fn has_member(&self, resource: ResourceId) -> bool {
        self.members.get(&resource) == Some(&SequenceMember::Fits)
    }

    /// Returns whether a connection belongs to the cluster of the sequence.
    pub(super) fn holds(&self, connection: ConnectionId) -> bool {
        self.connections.contains(&connection)
    }

    /// Returns whether a record was written in the epoch.
    pub(crate) fn is_of(&self, seq: Seq) -> bool {
        self.records.0 <= seq && seq < self.records.1
    }

    /// Returns the number behind the epoch's last record.
    pub(super) const fn end(&self) -> Seq {
        self.records.1
    }

    pub(super) fn probes(&self) -> &[RevisionProbe] {
        &self.probes
    }

    /// Returns between which times the change of a resource's event was committed; `None` if the
    /// event's revision is not of the sequence, or is older than its probes.
    pub(crate) fn committed(
        &self,
        reel: &Reel,
        resource: ResourceId,
        seq: Seq,
    ) -> Option<CommitBounds> {
        if !self.holds(reel.connection_of(seq)?) || !self.has_member(resource) {
            return None;
        }
        self.bounds(reel.rv_of(seq)?, reel.stamp(seq)?.wall)
    }

    /// Returns a time at which the change of a resource's event was not committed yet. It is not
    /// known for an inferred deletion, whose revision is an estimate.
    pub(crate) fn not_committed_at(
        &self,
        reel: &Reel,
        resource: ResourceId,
        seq: Seq,
    ) -> Option<RecordedAt> {
        if reel.evidence_of(seq)? == Evidence::Inferred {
            return None;
        }
        self.committed(reel, resource, seq)?.after
    }

    fn bounds(&self, rv: u128, received: RecordedAt) -> Option<CommitBounds> {
        probes::bounds(&self.probes, rv, received)
    }

    /// Returns the revisions with recorded events; they are sorted once.
    pub(super) fn revisions(&self, tables: &ReelTables) -> &ExplainedRevisions {
        self.revisions.get_or_init(|| {
            let reel = tables.reel();
            let mut events: Vec<Recorded> = Vec::new();
            for (resource, member) in self.members() {
                if member != SequenceMember::Fits {
                    continue;
                }
                for &object in tables.objects_of(resource) {
                    let versions = reel.versions(object).iter();
                    let told = versions.filter_map(|&seq| self.revision(reel, seq));
                    events.extend(told.map(|revision| (revision, object.0)));
                }
            }
            ExplainedRevisions::new(events, |one, other| are_one(tables, one, other))
        })
    }

    /// Returns the revision that an event explains; none for an inferred deletion, whose version is
    /// an estimate.
    fn revision(&self, reel: &Reel, seq: Seq) -> Option<u64> {
        if reel.evidence_of(seq)? == Evidence::Inferred || !self.holds(reel.connection_of(seq)?) {
            return None;
        }
        u64::try_from(reel.rv_of(seq)?).ok()
    }

    /// Counts the revisions inside a gap without a recorded event: an upper bound of the missing
    /// changes of its resource. `None` if the revisions prove nothing for the resource.
    pub(crate) fn unexplained_in(&self, tables: &ReelTables, gap: &RecordedGap) -> Option<u64> {
        let (noted, gap) = (gap.closed_by, &gap.gap);
        let info = tables.resources().get(gap.resource)?;
        if gap.cause == GapCause::NewEpoch
            || !self.is_of(noted)
            || !self.has_member(gap.resource)
            || is_events(info)
        {
            return None;
        }
        let from = gap.from_rv.as_ref()?.parse::<u64>().ok()?;
        let to = gap.to_rv.parse::<u64>().ok()?;
        let revisions = self.revisions(tables);
        (from <= to && revisions.shared() == 0).then(|| revisions.unexplained(from, to))
    }
}

/// Returns whether objects of a resource expire in bulk, many in one revision.
pub(super) fn is_events(info: &ResourceInfo) -> bool {
    info.plural == "events" && matches!(info.group.as_str(), "" | "events.k8s.io")
}

/// Returns whether two objects may share a revision: one object that is recorded in two versions of
/// its resource, and Events that expired together.
fn are_one(tables: &ReelTables, one: u32, other: u32) -> bool {
    let keys = (tables.key_of(ObjectId(one)), tables.key_of(ObjectId(other)));
    let (Some(one), Some(other)) = keys else {
        return false;
    };
    let expires = |resource| tables.resources().get(resource).is_some_and(is_events);
    (one.uid == other.uid && !one.uid.is_empty())
        || (expires(one.resource) && expires(other.resource))
}

/// Finds the records of an epoch: from the note of the cluster to the next one.
fn records(reel: &Reel, wanted: EpochId) -> (Seq, Seq) {
    let mut named = reel.notes().iter().filter_map(|entry| match entry.note {
        Note::Cluster { epoch, .. } => Some((epoch, entry.seq)),
        _ => None,
    });
    let Some((_, first)) = named.find(|(epoch, _)| *epoch == wanted) else {
        return (Seq(0), reel.end());
    };
    let next = named.find(|(epoch, _)| *epoch != wanted);
    (first, next.map_or(reel.end(), |(_, seq)| seq))
}

/// Finds the connections of an epoch.
fn connections(reel: &Reel, wanted: EpochId) -> HashSet<ConnectionId> {
    let mut now = EpochId::default();
    let begun = reel.notes().iter().filter_map(|entry| match &entry.note {
        Note::Cluster { epoch, .. } => {
            now = *epoch;
            None
        }
        Note::Connected { connection, .. } => (now == wanted).then_some(*connection),
        _ => None,
    });
    begun.collect()
}

/// The revisions of one sequence with a recorded event, each once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExplainedRevisions {
    numbers: Vec<u64>,
    /// The number of revisions with several objects.
    shared: u64,
}

/// An event: its revision, and a number for its object.
pub(super) type Recorded = (u64, u32);

impl ExplainedRevisions {
    /// Sorts events. `are_one` decides whether two objects may share a revision: because they are
    /// the same one, or because they were deleted together.
    pub(super) fn new(mut events: Vec<Recorded>, are_one: impl Fn(u32, u32) -> bool) -> Self {
        events.sort_unstable();
        let mut shared = 0u64;
        let mut last_shared = None;
        for pair in events.windows(2) {
            if let [(one, a), (other, b)] = pair
                && one == other
                && a != b
                && last_shared != Some(*one)
                && !are_one(*a, *b)
            {
                shared = shared.saturating_add(1);
                last_shared = Some(*one);
            }
        }
        let mut numbers: Vec<u64> = events.into_iter().map(|(revision, _)| revision).collect();
        numbers.dedup();
        numbers.shrink_to_fit();
        Self { numbers, shared }
    }

    /// Returns the number of revisions with several objects, which no etcd has.
    pub(super) const fn shared(&self) -> u64 {
        self.shared
    }

    /// Returns the recorded revisions after `from`, up to and including `to`.
    fn within(&self, from: u64, to: u64) -> &[u64] {
        let begin = self.numbers.partition_point(|number| *number <= from);
        let end = self.numbers.partition_point(|number| *number <= to);
        self.numbers.get(begin..end).unwrap_or_default()
    }

    /// Counts the recorded revisions after `from`, up to and including `to`.
    pub(super) fn explained(&self, from: u64, to: u64) -> u64 {
        count_of(self.within(from, to).len())
    }

    /// Counts the revisions after `from`, up to and including `to`, without a recorded event.
    pub(super) fn unexplained(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from)
            .saturating_sub(self.explained(from, to))
    }

    /// Returns the runs of these revisions, in order.
    pub(super) fn ranges(
        &self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let ends = self.within(from, to).iter().copied().map(Some);
        let mut next = from.checked_add(1);
        ends.chain([None]).filter_map(move |number| {
            let last = number.map_or(to, |number| number.saturating_sub(1));
            let run = next?..=last;
            next = number.and_then(|number| number.checked_add(1));
            (!run.is_empty()).then_some(run)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn counts_as_a_naive_account_does(
            events in vec((0u64..60, 0u32..4), 0..80),
            from in 0u64..60,
            span in 0u64..30,
        ) {
            let to = from + span;
            let revisions = ExplainedRevisions::new(events.clone(), |_, _| false);
            let known: BTreeSet<u64> = events.iter().map(|(revision, _)| *revision).collect();
            let missing: Vec<u64> =
                (from + 1..=to).filter(|revision| !known.contains(revision)).collect();
            let listed: Vec<u64> = revisions.ranges(from, to).flatten().collect();
            prop_assert_eq!(&listed, &missing);
            let count = u64::try_from(missing.len()).expect("few");
            prop_assert_eq!(revisions.unexplained(from, to), count);
            prop_assert_eq!(revisions.explained(from, to), span - count);
            let runs: Vec<_> = revisions.ranges(from, to).collect();
            let is_apart = runs.windows(2).all(|pair| pair[0].end() + 1 < *pair[1].start());
            prop_assert!(is_apart, "{:?}", runs);
            let shared = known.iter().filter(|revision| {
                let objects: BTreeSet<u32> = events
                    .iter()
                    .filter(|(number, _)| number == *revision)
                    .map(|(_, object)| *object)
                    .collect();
                objects.len() > 1
            });
            prop_assert_eq!(revisions.shared(), u64::try_from(shared.count()).expect("few"));
        }
    }

    #[test]
    fn the_ends_of_the_numbers_do_no_harm() {
        let revisions = ExplainedRevisions::new(vec![(0, 0), (u64::MAX, 0)], |_, _| false);
        assert_eq!(revisions.unexplained(5, 3), 0);
        assert_eq!(revisions.ranges(5, 3).count(), 0);
        let all: Vec<_> = revisions.ranges(0, u64::MAX).collect();
        assert_eq!(all, [1..=u64::MAX - 1]);
    }
}
