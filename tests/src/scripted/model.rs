//! The cluster in memory: its resources, its storages, the one revision counter over them and the
//! oracle. It does not speak HTTP.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use tokio::sync::watch;

use super::cluster;
use super::log::{Altered, Change, Committed};
use super::resource::Resource;

/// The content of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// Members to add inside `metadata` and members beside it.
    Members {
        metadata: &'a str,
        members: &'a [u8],
    },
    /// The whole object, with holes.
    Template(&'a [u8]),
}

/// The cluster.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) revision: u128,
    pub(crate) epoch: u32,
    /// The first eight digits of every uid, so that two clusters never share one.
    identity: u32,
    next_uid: u64,
    pub(crate) resources: BTreeMap<String, Resource>,
    storages: BTreeMap<String, Storage>,
    pub(crate) committed: Vec<Committed>,
    pub(crate) altered: Vec<Altered>,
}

impl Model {
    pub(crate) fn new(identity: u32, first_revision: u128) -> Self {
        Self {
            revision: first_revision,
            epoch: 0,
            identity,
            next_uid: 1,
            resources: BTreeMap::new(),
            storages: BTreeMap::new(),
            committed: Vec::new(),
            altered: Vec::new(),
        }
    }

    pub(crate) fn serve(&mut self, resource: Resource) {
        let floor = self.revision;
        self.storages
            .entry(resource.storage.clone())
            .or_insert_with(|| Storage::new(floor));
        self.resources.insert(resource.key(), resource);
    }

    /// Stops serving a resource; its streams end cleanly, its objects stay in the storage.
    pub(crate) fn withdraw(&mut self, key: &str) -> Result<Resource> {
        let resource = self
            .resources
            .remove(key)
            .with_context(|| format!("no resource {key}"))?;
        let revision = self.revision;
        if let Some(storage) = self.storages.get_mut(&resource.storage) {
            storage.reinitialise(revision);
        }
        Ok(resource)
    }

    pub(crate) fn resource(&self, key: &str) -> Result<&Resource> {
        self.resources
            .get(key)
            .with_context(|| format!("no resource {key}"))
    }

    pub(crate) fn storage_of(&self, resource: &Resource) -> Option<&Storage> {
        self.storages.get(&resource.storage)
    }

    pub(crate) fn storage_mut(&mut self, key: &str) -> Result<&mut Storage> {
        let storage = self.resource(key)?.storage.clone();
        self.storages
            .get_mut(&storage)
            .with_context(|| format!("no storage {storage}"))
    }

    pub(crate) fn storages_mut(&mut self) -> impl Iterator<Item = &mut Storage> {
        self.storages.values_mut()
    }

    /// Creates or writes an object at the next revision.
    pub(crate) fn put(
        &mut self,
        key: &str,
        object: ObjectKey,
        content: Content<'_>,
    ) -> Result<u128> {
        let resource = self.resource(key)?;
        ensure!(
            resource.namespaced != object.namespace.is_empty(),
            "{key} and namespace {:?} do not go together",
            object.namespace
        );
        let storage = resource.storage.clone();
        let previous = self.current(&storage, &object);
        let (uid, created) = match &previous {
            Some(version) => (Arc::clone(&version.uid), Arc::clone(&version.created)),
            None => (self.new_uid(), cluster::creation_timestamp().into()),
        };
        let template = Arc::new(match content {
            Content::Members { metadata, members } => {
                Template::parse(&compose(&object, &created, metadata, members))
            }
            Content::Template(source) => Template::parse(source),
        });
        self.revision += 1;
        let change = if previous.is_some() {
            Change::Modified
        } else {
            Change::Added
        };
        let version = Version {
            template,
            uid,
            created,
            revision: self.revision,
            commit: self.committed.len(),
        };
        self.commit(&storage, change, object, version, previous);
        Ok(self.revision)
    }

    /// Deletes objects, all at one revision, as an expired lease does.
    pub(crate) fn delete(&mut self, key: &str, objects: &[ObjectKey]) -> Result<u128> {
        let storage = self.resource(key)?.storage.clone();
        for object in objects {
            ensure!(
                self.current(&storage, object).is_some(),
                "no {key} {}/{}",
                object.namespace,
                object.name
            );
        }
        self.revision += 1;
        for object in objects {
            let Some(previous) = self.current(&storage, object) else {
                continue;
            };
            let version = Version {
                revision: self.revision,
                commit: self.committed.len(),
                ..previous.clone()
            };
            self.commit(
                &storage,
                Change::Deleted,
                object.clone(),
                version,
                Some(previous),
            );
        }
        Ok(self.revision)
    }

    /// Goes back to an earlier revision, as a restored snapshot does.
    pub(crate) fn restore(&mut self, revision: u128) -> Result<()> {
        ensure!(revision < self.revision, "{revision} is not in the past");
        let floor = self
            .storages
            .values()
            .map(|storage| storage.list_floor)
            .max();
        ensure!(
            floor.is_none_or(|floor| revision >= floor),
            "{revision} was compacted away"
        );
        for storage in self.storages.values_mut() {
            storage.restore(revision);
        }
        self.revision = revision;
        self.epoch += 1;
        Ok(())
    }

    fn current(&self, storage: &str, object: &ObjectKey) -> Option<Version> {
        self.storages.get(storage)?.objects.get(object).cloned()
    }

    fn commit(
        &mut self,
        storage: &str,
        change: Change,
        key: ObjectKey,
        version: Version,
        previous: Option<Version>,
    ) {
        self.committed.push(Committed {
            sequence: self.committed.len(),
            epoch: self.epoch,
            storage: storage.to_owned(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: Arc::clone(&version.uid),
            revision: version.revision,
            change,
            at: Instant::now(),
            first_watched: None,
            first_listed: None,
            template: Arc::clone(&version.template),
        });
        if let Some(storage) = self.storages.get_mut(storage) {
            let step = Step {
                change,
                key,
                version,
                previous,
            };
            storage.apply(step);
            storage.notify();
        }
    }

    fn new_uid(&mut self) -> Arc<str> {
        let uid = format!(
            "{:08x}-0000-4000-8000-{:012x}",
            self.identity, self.next_uid
        );
        self.next_uid += 1;
        uid.into()
    }
}

fn compose(object: &ObjectKey, created: &str, metadata: &str, members: &[u8]) -> Vec<u8> {
    let ObjectKey { namespace, name } = object;
    let mut source = format!(r#"{{$TYPE"metadata":{{"name":"{name}","#).into_bytes();
    if !namespace.is_empty() {
        source.extend_from_slice(format!(r#""namespace":"{namespace}","#).as_bytes());
    }
    source.extend_from_slice(
        format!(r#""uid":"$UID","resourceVersion":"$RV","creationTimestamp":"{created}""#)
            .as_bytes(),
    );
    for more in [
        metadata.as_bytes(),
        b"}".as_slice(),
        members,
        b"}".as_slice(),
    ] {
        let opens = !matches!(more, b"}" | b"");
        if opens {
            source.push(b',');
        }
        source.extend_from_slice(more);
    }
    source
}

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

    fn apply(&mut self, step: Step) {
        if step.change == Change::Deleted {
            self.objects.remove(&step.key);
        } else {
            self.objects.insert(step.key.clone(), step.version.clone());
        }
        self.history.push_back(step);
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

/// An object's bytes between the holes, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    /// `"kind":"Pod","apiVersion":"v1",`, or nothing in lists of built-in types.
    Type,
    Uid,
    Revision,
}

impl Template {
    /// Splits the source at its holes; a `$` that begins none of them stands for itself.
    pub(crate) fn parse(source: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = source;
        while let Some(dollar) = rest.iter().position(|byte| *byte == b'$') {
            let (before, hole) = rest.split_at(dollar);
            literal.extend_from_slice(before);
            if let Some((piece, after)) = Piece::at(hole) {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                pieces.push(piece);
                rest = after;
            } else {
                literal.push(b'$');
                rest = hole.get(1..).unwrap_or_default();
            }
        }
        literal.extend_from_slice(rest);
        pieces.push(Piece::Literal(literal));
        Self { pieces }
    }

    /// The object as sent, with the holes filled.
    pub(crate) fn render(&self, type_members: &str, uid: &str, revision: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            bytes.extend_from_slice(match piece {
                Piece::Literal(literal) => literal,
                Piece::Type => type_members.as_bytes(),
                Piece::Uid => uid.as_bytes(),
                Piece::Revision => revision.as_bytes(),
            });
        }
        bytes
    }
}

impl Piece {
    fn at(source: &[u8]) -> Option<(Self, &[u8])> {
        let holes = [
            (b"$TYPE".as_slice(), Self::Type),
            (b"$UID".as_slice(), Self::Uid),
            (b"$RV".as_slice(), Self::Revision),
        ];
        holes
            .into_iter()
            .find_map(|(name, piece)| Some((piece, source.strip_prefix(name)?)))
    }
}

#[cfg(test)]
mod template_tests {
    use super::Template;

    #[test]
    fn fills_the_holes_and_leaves_every_other_byte() {
        let template = Template::parse(b"{$TYPE\"a\":\"$UID/$RV\", \"$\": \"$x\xff\"}");
        let expected = b"{\"kind\":\"K\",\"a\":\"u/7\", \"$\": \"$x\xff\"}";
        assert_eq!(template.render("\"kind\":\"K\",", "u", "7"), expected);
    }
}
