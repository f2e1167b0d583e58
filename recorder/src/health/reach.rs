//! How far each resource is durably recorded: the first list of the run, and the last version that
//! a list, an event or a bookmark proves. Versions of a list that has not ended prove nothing.

use crate::queue::QueueEntry;
use crate::version::ResourceVersion;
use kubereel_format::{
    ConnectionId, EpochId, EventType, Evidence, ListMethod, Note, ResourceId, ResourceInfo,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How far one resource is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceReach {
    /// The version of the first list of this run.
    pub(crate) listed: Option<ResourceVersion>,
    /// The last version up to which every change is recorded.
    pub(crate) reached: Option<ResourceVersion>,
}

impl ResourceReach {
    /// Returns whether the resource has a list in this run.
    pub(crate) const fn is_anywhere(&self) -> bool {
        self.listed.is_some() || self.reached.is_some()
    }
}

/// How far all resources are recorded.
#[derive(Debug, Default)]
pub(crate) struct ReachTracker {
    /// As appended.
    appended: BTreeMap<ResourceId, ResourceReach>,
    /// As committed.
    durable: BTreeMap<ResourceId, ResourceReach>,
    infos: BTreeMap<ResourceId, ResourceInfo>,
    of: BTreeMap<ConnectionId, ResourceId>,
    /// Connections whose list has not ended.
    listing: BTreeSet<ConnectionId>,
    /// The uid of the cluster.
    cluster: String,
    epoch: Option<EpochId>,
}

impl ReachTracker {
    /// The cluster of an earlier run: what it recorded of another one proves nothing of this one.
    pub(crate) fn resume_cluster(&mut self, epoch: EpochId, uid: String) {
        self.epoch = Some(epoch);
        self.cluster = uid;
    }

    /// A resource of an earlier run, which may not be announced again, and the version up to which
    /// that run recorded it. Until its watch has delivered something, nothing later is proven.
    pub(crate) fn resume(&mut self, info: ResourceInfo, reached: Option<ResourceVersion>) {
        if reached.is_some() {
            let listed = None;
            let come = ResourceReach { listed, reached };
            self.appended.insert(info.id, come.clone());
            self.durable.insert(info.id, come);
        }
        self.describe(info);
    }

    fn describe(&mut self, info: ResourceInfo) {
        self.infos.insert(info.id, info);
    }

    /// Returns the uid of the cluster; empty if it is not known.
    pub(crate) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Returns each resource, and how far it is durably recorded.
    pub(crate) fn of(&self, id: ResourceId) -> Option<(&ResourceInfo, ResourceReach)> {
        let come = self.durable.get(&id).cloned().unwrap_or_default();
        Some((self.infos.get(&id)?, come))
    }

    /// Everything that was appended is durable.
    pub(crate) fn committed(&mut self) {
        self.durable.clone_from(&self.appended);
    }

    /// Takes an appended entry.
    pub(crate) fn take(&mut self, entry: &QueueEntry) {
        match entry {
            QueueEntry::Event(event) => {
                let is_live = matches!(event.evidence, Evidence::Live);
                // Several objects may be deleted at one version, and the rest of them may still be
                // missing.
                let proves = is_live && event.kind != EventType::Deleted;
                if proves && !self.listing.contains(&event.connection) {
                    self.advance(event.connection, &event.version);
                }
            }
            QueueEntry::Note { note, .. } => self.note(note),
            QueueEntry::Blob { .. } => {}
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Cluster { epoch, uid, .. } => {
                // Versions of another cluster, or of before a restore, cannot be compared with the
                // current ones.
                let is_other = !self.cluster.is_empty() && self.cluster != *uid;
                if is_other || self.epoch.is_some_and(|known| known != *epoch) {
                    self.appended.clear();
                    self.durable.clear();
                }
                self.epoch = Some(*epoch);
                self.cluster.clone_from(uid);
            }
            Note::Resource(info) => self.describe(info.clone()),
            Note::Connected {
                connection,
                resource,
                method,
                ..
            } => {
                self.of.insert(*connection, *resource);
                if matches!(method, ListMethod::WatchList | ListMethod::Pages) {
                    self.listing.insert(*connection);
                }
            }
            Note::Disconnected { connection, .. } => {
                self.of.remove(connection);
                self.listing.remove(connection);
            }
            Note::Synced {
                resource,
                connection,
                rv,
                ..
            } => {
                self.listing.remove(connection);
                let version = ResourceVersion::parse(rv);
                let come = self.appended.entry(*resource).or_default();
                come.listed = come.listed.take().or_else(|| version.clone());
                come.reached = version;
            }
            Note::Bookmark { connection, rv } if !self.listing.contains(connection) => {
                self.advance(*connection, rv);
            }
            _ => {}
        }
    }

    fn advance(&mut self, connection: ConnectionId, version: &str) {
        let (Some(resource), Some(version)) =
            (self.of.get(&connection), ResourceVersion::parse(version))
        else {
            return;
        };
        let come = self.appended.entry(*resource).or_default();
        let is_back = come
            .reached
            .as_ref()
            .is_some_and(|known| version.order(known) == Some(Ordering::Less));
        if !is_back {
            come.reached = Some(version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::EventEntry;
    use kubereel_format::Stamp;

    const PODS: ResourceId = ResourceId(3);

    fn note(note: Note) -> QueueEntry {
        QueueEntry::Note {
            stamp: Stamp::default(),
            note,
        }
    }

    fn connected(id: u32, method: ListMethod) -> QueueEntry {
        note(Note::Connected {
            connection: ConnectionId(id),
            resource: PODS,
            from_rv: None,
            method,
        })
    }

    fn synced(id: u32, rv: &str) -> QueueEntry {
        note(Note::Synced {
            resource: PODS,
            connection: ConnectionId(id),
            rv: rv.to_owned(),
            method: ListMethod::WatchList,
            objects: 1,
        })
    }

    fn bookmark(id: u32, rv: &str) -> QueueEntry {
        note(Note::Bookmark {
            connection: ConnectionId(id),
            rv: rv.to_owned(),
        })
    }

    fn event(id: u32, kind: EventType, rv: &str) -> QueueEntry {
        QueueEntry::Event(EventEntry {
            stamp: Stamp::default(),
            connection: ConnectionId(id),
            kind,
            evidence: Evidence::Live,
            resource: PODS,
            namespace: "a".into(),
            name: "b".into(),
            uid: "c".into(),
            version: rv.into(),
            body: None,
        })
    }

    fn reached(entries: &[QueueEntry]) -> (Option<String>, Option<String>) {
        let mut reach = ReachTracker::default();
        for entry in entries {
            reach.take(entry);
        }
        assert!(reach.durable.is_empty(), "nothing is durable yet");
        reach.committed();
        let come = reach.durable.get(&PODS).cloned().unwrap_or_default();
        let text = |version: Option<ResourceVersion>| version.map(|version| version.to_string());
        (text(come.listed), text(come.reached))
    }

    #[test]
    fn a_list_that_has_not_ended_proves_nothing() {
        let listing = connected(1, ListMethod::WatchList);
        let early = [listing.clone(), bookmark(1, "50")];
        assert_eq!(reached(&early), (None, None));
        let ended = [listing, synced(1, "60"), bookmark(1, "70")];
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(reached(&ended), (of("60"), of("70")));
    }

    #[test]
    fn events_advance_and_deletions_do_not() {
        let of = |text: &str| Some(text.to_owned());
        let entries = [
            connected(1, ListMethod::WatchList),
            synced(1, "60"),
            event(1, EventType::Modified, "65"),
            event(1, EventType::Deleted, "66"),
            event(1, EventType::Modified, "64"),
        ];
        assert_eq!(reached(&entries), (of("60"), of("65")));
    }

    #[test]
    fn what_an_earlier_run_recorded_is_reached_and_what_came_since_is_not() {
        let info = ResourceInfo::new(PODS, "v1", "pods", "Pod");
        let resumed = || {
            let mut reach = ReachTracker::default();
            reach.resume_cluster(EpochId(0), "x".to_owned());
            reach.resume(info.clone(), ResourceVersion::parse("60"));
            reach
        };
        let reached = |reach: &ReachTracker| {
            let (_, come) = reach.of(PODS).expect("described");
            come.reached.map(|version| version.to_string())
        };
        let same = |epoch| {
            note(Note::Cluster {
                epoch: EpochId(epoch),
                uid: "x".to_owned(),
                version: String::new(),
            })
        };
        let mut reach = resumed();
        reach.take(&same(0));
        assert_eq!(reached(&reach).as_deref(), Some("60"));
        reach.take(&connected(1, ListMethod::Watch));
        reach.take(&event(1, EventType::Modified, "65"));
        reach.committed();
        assert_eq!(reached(&reach).as_deref(), Some("65"));
        let mut reach = resumed();
        reach.take(&same(1));
        assert_eq!(reached(&reach), None);
    }

    #[test]
    fn another_cluster_begins_anew() {
        let cluster = |uid: &str, epoch| {
            note(Note::Cluster {
                epoch: EpochId(epoch),
                uid: uid.to_owned(),
                version: String::new(),
            })
        };
        let list = [connected(1, ListMethod::WatchList), synced(1, "60")];
        let mut entries = vec![cluster("x", 0)];
        entries.extend(list.clone());
        entries.push(cluster("x", 0));
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(reached(&entries), (of("60"), of("60")));
        for other in [cluster("y", 0), cluster("x", 1)] {
            let mut entries = entries.clone();
            entries.push(other);
            assert_eq!(reached(&entries), (None, None));
        }
    }
}
