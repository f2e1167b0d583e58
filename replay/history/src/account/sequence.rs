//! Owns one sequence of revisions: whose probes, whose resources, and what was recorded of it. Refuses
//! events that came from another cluster, and revisions that nobody received.

use super::fit::{LeftOut, Member, members};
use super::probes::{self, CommitBounds, Probe};
use super::revisions::{Recorded, Revisions};
use crate::coverage::RecordedGap;
use crate::tables::ReelTables;
use kubereel_format::{
    ConnectionId, EpochId, Evidence, GapCause, Note, ObjectId, RecordedAt, Reel, ResourceId,
    ResourceInfo, Seq,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

/// One sequence of revisions: that of the cluster's own storage, in one epoch.
#[derive(Debug)]
pub struct Sequence {
    epoch: EpochId,
    /// The records of the epoch: from the first, below the second.
    records: (Seq, Seq),
    probes: Vec<Probe>,
    members: BTreeMap<ResourceId, Member>,
    connections: HashSet<ConnectionId>,
    revisions: OnceLock<Revisions>,
}

impl Sequence {
    /// Reads the sequences of which probes tell, in order.
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

    /// Gives the cluster's number among those met.
    pub const fn epoch(&self) -> EpochId {
        self.epoch
    }

    /// Gives the resources that were listed in it, and whether they share the sequence.
    pub fn members(&self) -> impl Iterator<Item = (ResourceId, Member)> + '_ {
        self.members.iter().map(|(id, member)| (*id, *member))
    }

    /// Gives the resources that do not, or of which that is not known.
    pub fn left_out(&self) -> impl Iterator<Item = (ResourceId, LeftOut)> + '_ {
        self.members().filter_map(|(id, member)| match member {
            Member::LeftOut(why) => Some((id, why)),
            Member::Fits => None,
        })
    }

    /// Tells whether a resource shares the sequence.
    pub fn has_member(&self, resource: ResourceId) -> bool {
        self.members.get(&resource) == Some(&Member::Fits)
    }

    /// Tells whether a request went to the cluster of the sequence.
    pub(super) fn holds(&self, connection: ConnectionId) -> bool {
        self.connections.contains(&connection)
    }

    /// Tells whether a record was written in the epoch.
    pub(super) fn is_of(&self, seq: Seq) -> bool {
        self.records.0 <= seq && seq < self.records.1
    }

    /// Gives the record behind the epoch's last.
    pub(super) const fn end(&self) -> Seq {
        self.records.1
    }

    pub(super) fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Gives between which times the change that an event of a resource brought was committed; `None` if
    /// the event's revision is none of the sequence, or older than its probes.
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

    /// Gives a time at which the change that an event of a resource brought had not been committed yet. That
    /// of an inferred deletion is not known: its revision is a guess.
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

    /// Gives the revisions at which something was recorded; they are put in order once.
    pub(super) fn revisions(&self, tables: &ReelTables) -> &Revisions {
        self.revisions.get_or_init(|| {
            let reel = tables.reel();
            let mut events: Vec<Recorded> = Vec::new();
            for (resource, member) in self.members() {
                if member != Member::Fits {
                    continue;
                }
                for &object in tables.objects_of(resource) {
                    let versions = reel.versions(object).iter();
                    let told = versions.filter_map(|&seq| self.revision(reel, seq));
                    events.extend(told.map(|revision| (revision, object.0)));
                }
            }
            Revisions::new(events, |one, other| are_one(tables, one, other))
        })
    }

    /// Gives the revision that an event explains: the version of an inferred deletion is a guess.
    fn revision(&self, reel: &Reel, seq: Seq) -> Option<u64> {
        if reel.evidence_of(seq)? == Evidence::Inferred || !self.holds(reel.connection_of(seq)?) {
            return None;
        }
        u64::try_from(reel.rv_of(seq)?).ok()
    }

    /// Counts the revisions inside a gap at which nothing was recorded: so many changes of its resource
    /// can be missing, and no more. `None` if the revisions say nothing of the resource.
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

/// Tells whether many objects of a resource are deleted in one revision, when their time is over.
pub(super) fn is_events(info: &ResourceInfo) -> bool {
    info.plural == "events" && matches!(info.group.as_str(), "" | "events.k8s.io")
}

/// Tells whether two objects may share a revision: one that is recorded under two names of its
/// resource, and Events that expired together.
fn are_one(tables: &ReelTables, one: u32, other: u32) -> bool {
    let keys = (tables.key_of(ObjectId(one)), tables.key_of(ObjectId(other)));
    let (Some(one), Some(other)) = keys else {
        return false;
    };
    let expires = |resource| tables.resources().get(resource).is_some_and(is_events);
    (one.uid == other.uid && !one.uid.is_empty())
        || (expires(one.resource) && expires(other.resource))
}

/// Finds the records of an epoch: from the note that names it to the one that names another.
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

/// Finds the requests that were begun in an epoch.
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
