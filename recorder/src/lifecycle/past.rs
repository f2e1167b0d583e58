//! Reads the state that an existing reel leaves to the next recorder: the ids in use, the cluster,
//! and for each resource the end of its unbroken chain and the live objects.
//!
//! Invariants:
//! * Every id that the reel has used stays used: the counters continue behind the highest one.
//! * A list that did not end proves nothing: the position is that of the last complete list, or of
//!   the events after it.
//! * Events of a gap that was being read back when the recorder was killed are remembered until the
//!   gap is noted, so that they are not written twice.

use crate::known::{KnownObjects, Uid};
use crate::resource::GroupResource;
use crate::version::ResourceVersion;
use crate::watch::state::{ResumeState, WatchPosition};
use kubereel_format::{
    ConnectionId, EpochId, EventType, Evidence, ListMethod, NotCoveredReason, Note, ObjectId,
    RecordedAt, Reel, ResourceInfo, Seq,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The state of an existing reel.
#[derive(Debug, Default)]
pub(crate) struct EarlierRuns {
    /// The number of the next session.
    pub(crate) session: u32,
    /// The number of the next connection.
    pub(crate) connection: u32,
    /// The number of the next gap.
    pub(crate) gap: u32,
    /// The number of the next resource.
    pub(crate) resource: u32,
    /// The cluster that was recorded last.
    pub(crate) cluster: Option<PastCluster>,
    /// The resources, by number.
    pub(crate) resources: BTreeMap<u32, PastResource>,
    /// What the budget had left out at the end.
    pub(crate) left_out: BTreeSet<GroupResource>,
}

/// The cluster of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastCluster {
    /// Its number.
    pub(crate) epoch: EpochId,
    /// Its uid; empty if it could not be read.
    pub(crate) uid: String,
    pub(crate) version: String,
}

/// A resource of an earlier run.
#[derive(Debug)]
pub(crate) struct PastResource {
    /// Its last description.
    pub(crate) info: ResourceInfo,
    /// The state from which a stream resumes.
    pub(crate) memory: ResumeState,
}

/// The chain of one resource while notes and events are read.
#[derive(Debug, Default)]
struct PastChain {
    position: Option<WatchPosition>,
    /// The objects deleted at exactly the position's version.
    deleted_here: Vec<ObjectId>,
    /// The events that were read back of a gap that is not noted yet.
    read_back: Vec<Seq>,
}

impl EarlierRuns {
    pub(crate) fn read(reel: &Reel) -> Self {
        let mut past = Self::default();
        let mut chains: BTreeMap<u32, PastChain> = BTreeMap::new();
        let mut resource_of: BTreeMap<ConnectionId, u32> = BTreeMap::new();
        let mut listing: BTreeSet<ConnectionId> = BTreeSet::new();
        let mut notes = reel.notes().iter().peekable();
        for seq in 0..reel.end().0 {
            let seq = Seq(seq);
            if let Some(note) = notes.next_if(|note| note.seq == seq) {
                past.note(&note.note);
                match &note.note {
                    Note::Connected {
                        connection,
                        resource,
                        method,
                        ..
                    } => {
                        resource_of.insert(*connection, resource.0);
                        if matches!(method, ListMethod::WatchList | ListMethod::Pages) {
                            // Until `Synced`, events and bookmarks of this connection belong to a
                            // list.
                            listing.insert(*connection);
                        }
                    }
                    Note::Synced {
                        resource,
                        connection,
                        rv,
                        ..
                    } => {
                        listing.remove(connection);
                        let chain = chains.entry(resource.0).or_default();
                        // Only here a list counts: an interrupted one leaves the chain at its
                        // earlier end.
                        chain.begin(rv, note.stamp.wall);
                    }
                    Note::Gap(gap) => {
                        let chain = chains.entry(gap.resource.0).or_default();
                        // The gap is noted, so its events are final.
                        chain.read_back.clear();
                    }
                    Note::Bookmark { connection, rv } if !listing.contains(connection) => {
                        if let Some(resource) = resource_of.get(connection) {
                            let chain = chains.entry(*resource).or_default();
                            chain.advance(rv, note.stamp.wall, None);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            let Some(head) = reel.head(seq) else {
                continue;
            };
            if head.evidence == Evidence::Reconstructed
                && let Some(resource) = resource_of.get(&head.connection)
            {
                chains.entry(*resource).or_default().read_back.push(seq);
            }
            if head.evidence != Evidence::Live || listing.contains(&head.connection) {
                continue;
            }
            if let Some(resource) = resource_of.get(&head.connection) {
                let chain = chains.entry(*resource).or_default();
                let deleted = (head.kind == EventType::Deleted).then_some(head.object);
                chain.advance(&head.resource_version, head.stamp.wall, deleted);
            }
        }
        for (resource, chain) in chains {
            if let Some(past) = past.resources.get_mut(&resource) {
                past.memory.position = chain.position;
                let read_back = chain.read_back.into_iter();
                past.memory.read_back = read_back.filter_map(|seq| event_key(reel, seq)).collect();
                let deleted = chain.deleted_here.into_iter();
                past.memory.deleted_here =
                    deleted.filter_map(|object| uid_of(reel, object)).collect();
            }
        }
        past.read_objects(reel);
        past
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::SessionStarted { session, .. } => {
                self.session = self.session.max(session.0.saturating_add(1));
            }
            Note::Cluster {
                epoch,
                uid,
                version,
            } => {
                self.cluster = Some(PastCluster {
                    epoch: *epoch,
                    uid: uid.clone(),
                    version: version.clone(),
                });
            }
            // What was left out for memory is recorded again: the limit may be a higher one, and the
            // first commit measures the objects.
            Note::NotCovered {
                group,
                plural,
                reason: NotCoveredReason::SizeBudget,
                ..
            } => {
                self.left_out.insert((group.clone(), plural.clone()));
            }
            Note::Resource(info) => {
                self.left_out
                    .remove(&(info.group.clone(), info.plural.clone()));
                self.resource = self.resource.max(info.id.0.saturating_add(1));
                self.resources
                    .entry(info.id.0)
                    .and_modify(|past| past.info = info.clone())
                    .or_insert_with(|| PastResource {
                        info: info.clone(),
                        memory: ResumeState::default(),
                    });
            }
            Note::Connected { connection, .. } | Note::Disconnected { connection, .. } => {
                self.connection = self.connection.max(connection.0.saturating_add(1));
            }
            Note::Gap(gap) => self.gap = self.gap.max(gap.id.0.saturating_add(1)),
            _ => {}
        }
    }

    fn read_objects(&mut self, reel: &Reel) {
        let mut known: BTreeMap<u32, KnownObjects> = BTreeMap::new();
        for object in reel.objects() {
            let Some(last) = newest(reel, object.id) else {
                continue;
            };
            let Some(head) = reel.head(last) else {
                continue;
            };
            if head.kind == EventType::Deleted {
                continue;
            }
            let key = &object.key;
            known.entry(key.resource.0).or_default().put(
                key.namespace,
                key.name,
                Uid::new(&key.uid.text()),
                ResourceVersion::parse(&head.resource_version),
            );
        }
        for (resource, known) in known {
            if let Some(past) = self.resources.get_mut(&resource) {
                past.memory.known = known;
            }
        }
    }
}

/// Finds the newest version of an object: versions may have arrived out of order.
fn newest(reel: &Reel, object: ObjectId) -> Option<Seq> {
    let mut versions = reel.versions(object).iter().copied();
    let first = versions.next()?;
    Some(versions.fold(first, |best, next| {
        match (reel.rv_of(best), reel.rv_of(next)) {
            (Some(old), Some(new)) if new < old => best,
            _ => next,
        }
    }))
}

impl PastChain {
    fn begin(&mut self, rv: &str, at: RecordedAt) {
        self.position = ResourceVersion::parse(rv).map(|version| WatchPosition { version, at });
        self.deleted_here.clear();
    }

    fn advance(&mut self, rv: &str, at: RecordedAt, deleted: Option<ObjectId>) {
        let Some(position) = &mut self.position else {
            return;
        };
        position.at = position.at.max(at);
        let Some(version) = ResourceVersion::parse(rv) else {
            return;
        };
        match version.order(&position.version) {
            Some(Ordering::Less) => return,
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) | None => {
                position.version = version;
                self.deleted_here.clear();
            }
        }
        self.deleted_here.extend(deleted);
    }
}

/// Returns the key by which an event that was read back is recognized.
fn event_key(reel: &Reel, seq: Seq) -> Option<(Box<str>, Box<str>, bool)> {
    let head = reel.head(seq)?;
    let uid = reel.key(head.object)?.uid.text().as_ref().into();
    let is_deletion = head.kind == EventType::Deleted;
    Some((uid, head.resource_version.as_str().into(), is_deletion))
}

fn uid_of(reel: &Reel, object: ObjectId) -> Option<Uid> {
    Some(Uid::new(&reel.key(object)?.uid.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::plain_info;
    use kubereel_format::{Appender, Gap, GapCause, GapId, NewBody, NewEvent, ResourceId, Stamp};

    fn read_back(is_noted: bool) -> usize {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let mut reel = Appender::create(&path).expect("a reel");
        let resource = ResourceId(0);
        let at = Stamp::default();
        let info = plain_info(0, "", "pods");
        let connected = Note::Connected {
            connection: ConnectionId(3),
            resource,
            from_rv: Some("5".to_owned()),
            method: ListMethod::Exact,
        };
        for note in [Note::Resource(info), connected] {
            reel.append_note(at, note).expect("room");
        }
        for (kind, rv) in [(EventType::Added, "6"), (EventType::Deleted, "7")] {
            let event = NewEvent {
                stamp: at,
                connection: ConnectionId(3),
                kind,
                evidence: Evidence::Reconstructed,
                resource,
                namespace: "a",
                name: "b",
                uid: "u",
                resource_version: rv,
                body: NewBody::Bytes(b"{}"),
            };
            reel.append_event(&event).expect("room");
        }
        if is_noted {
            let gap = Gap {
                id: GapId(0),
                resource,
                from_rv: Some("5".to_owned()),
                to_rv: "9".to_owned(),
                from_time: at.wall,
                to_time: at.wall,
                cause: GapCause::RecorderStopped,
                missing_at_most: None,
                differences: 0,
            };
            reel.append_note(at, Note::Gap(gap)).expect("room");
        }
        reel.commit().expect("room");
        drop(reel);
        let past = EarlierRuns::read(&Reel::open(&path).expect("the reel"));
        let mut memories = past.resources.into_values();
        memories
            .next()
            .map_or(0, |past| past.memory.read_back.len())
    }

    /// A gap is read back again if the recorder was killed at its end, but no event is written
    /// twice.
    #[test]
    fn what_was_read_back_counts_until_its_gap_is_told() {
        assert_eq!(read_back(false), 2);
        assert_eq!(read_back(true), 0);
    }
}
