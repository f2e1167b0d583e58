//! Owns the cluster in memory: its resources, its storages, the one revision counter over them and the oracle.
//! Refuses to speak HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::clock;
use super::oracle::{Altered, Change, Committed};
use super::resource::Resource;
use super::storage::{ObjectKey, Step, Storage, Version};
use super::template::Template;

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
    pub(crate) history_limit: Option<usize>,
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
            history_limit: None,
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
            None => (self.new_uid(), clock::creation_timestamp().into()),
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
        let limit = self.history_limit;
        if let Some(storage) = self.storages.get_mut(storage) {
            let step = Step {
                change,
                key,
                version,
                previous,
            };
            storage.apply(step, limit);
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
