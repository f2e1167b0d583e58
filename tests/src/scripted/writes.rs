//! What a test does to the cluster's content: objects, resources, revisions, histories. It does not
//! handle anything about connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};

use super::cluster::{ScriptedCluster, State};
use super::log::locked;
use super::model::{Content, Model, ObjectKey};
use super::resource::Resource;

/// The resource that holds the definitions of the custom ones.
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

impl ScriptedCluster {
    /// Creates or writes an object from the members beside its metadata, such as `"data":{}`;
    /// returns the revision.
    ///
    /// The resource is named as `pods` or `deployments.apps`; the namespace is empty for
    /// cluster-scoped ones.
    ///
    /// # Errors
    ///
    /// When the resource is not served or the namespace does not go with it.
    pub fn put(&self, resource: &str, namespace: &str, name: &str, members: &str) -> Result<u128> {
        self.put_with_metadata(resource, namespace, name, "", members)
    }

    /// As [`Self::put`], with further members inside `metadata`, such as `"labels":{"a":"b"}`.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_with_metadata(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        metadata: &str,
        members: &str,
    ) -> Result<u128> {
        let content = Content::Members {
            metadata,
            members: members.as_bytes(),
        };
        self.write(|model| model.put(resource, key(namespace, name), content))
    }

    /// Creates or writes an object from all its bytes, any bytes, in which `$TYPE`, `$UID` and `$RV`
    /// stand for what the server decides. `$TYPE` becomes `"kind":…,"apiVersion":…,` or nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_template(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        template: &[u8],
    ) -> Result<u128> {
        self.write(|model| model.put(resource, key(namespace, name), Content::Template(template)))
    }

    /// Deletes an object; returns the deletion's revision.
    ///
    /// # Errors
    ///
    /// When there is no such object.
    pub fn delete(&self, resource: &str, namespace: &str, name: &str) -> Result<u128> {
        self.delete_together(resource, &[(namespace, name)])
    }

    /// Deletes objects at one revision, as an expired lease does.
    ///
    /// # Errors
    ///
    /// When one of them is not there; then none is deleted.
    pub fn delete_together(&self, resource: &str, objects: &[(&str, &str)]) -> Result<u128> {
        let keys: Vec<ObjectKey> = objects
            .iter()
            .map(|(namespace, name)| key(namespace, name))
            .collect();
        self.write(|model| model.delete(resource, &keys))
    }

    /// Serves a resource from now on, without a definition of it.
    pub fn serve(&self, resource: Resource) {
        self.write(|model| model.serve(resource));
    }

    /// Stops serving a resource: its streams end cleanly, its paths answer 404, discovery forgets it.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn withdraw(&self, resource: &str) -> Result<Resource> {
        self.write(|model| model.withdraw(resource))
    }

    /// Creates a custom resource definition, serves the resource, and marks it established.
    ///
    /// # Errors
    ///
    /// Never for a cluster that still serves definitions.
    pub fn install_crd(&self, resource: &Resource) -> Result<u128> {
        let name = resource.key();
        self.put(DEFINITIONS, "", &name, &definition(resource, false))?;
        self.serve(resource.clone());
        self.put(DEFINITIONS, "", &name, &definition(resource, true))
    }

    /// Changes a custom resource's definition: its storage is set up anew, its streams end cleanly,
    /// and revisions before this one can no longer be watched from.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn change_crd(&self, resource: &Resource) -> Result<u128> {
        self.serve(resource.clone());
        let name = resource.key();
        let revision = self.put(DEFINITIONS, "", &name, &definition(resource, true))?;
        self.reinitialise(&name)?;
        Ok(revision)
    }

    /// Changes a custom resource's definition as a server does in its first second: revisions before this
    /// one can no longer be watched from, and the streams of before still go on.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn announce_crd(&self, resource: &Resource) -> Result<u128> {
        self.serve(resource.clone());
        let name = resource.key();
        let revision = self.put(DEFINITIONS, "", &name, &definition(resource, true))?;
        self.write(|model| {
            let floor = model.revision;
            model.storage_mut(&name)?.watch_floor = floor;
            Ok(revision)
        })
    }

    /// Deletes every object of a custom resource, its definition, and stops serving it.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn remove_crd(&self, resource: &str) -> Result<u128> {
        self.write(|model| {
            let served = model.resource(resource)?;
            let storage = model.storage_of(served).context("it has a storage")?;
            let keys: Vec<ObjectKey> = storage.objects.keys().cloned().collect();
            for key in keys {
                model.delete(resource, &[key])?;
            }
            let revision = model.delete(DEFINITIONS, &[key("", resource)])?;
            model.withdraw(resource)?;
            Ok(revision)
        })
    }

    /// Ends a resource's streams cleanly and forgets its watch cache; exact lists still answer.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn reinitialise(&self, resource: &str) -> Result<()> {
        self.write(|model| {
            let revision = model.revision;
            model.storage_mut(resource)?.reinitialise(revision);
            Ok(())
        })
    }

    /// Forgets the watch caches of all resources, as a server that was started anew: watches from
    /// before answer 410, exact lists still answer, running streams go on.
    pub fn forget_watch_caches(&self) {
        self.write(|model| {
            let revision = model.revision;
            for storage in model.storages_mut() {
                storage.watch_floor = revision;
            }
        });
    }

    /// Compacts: nothing up to `revision` can be watched from or listed exactly any more.
    pub fn compact(&self, revision: u128) {
        self.write(|model| {
            for storage in model.storages_mut() {
                storage.compact(revision);
            }
        });
    }

    /// Goes back to an earlier revision, as a restored snapshot: later revisions are given out again.
    ///
    /// # Errors
    ///
    /// When the revision is not in the past or was compacted away.
    pub fn restore(&self, revision: u128) -> Result<()> {
        self.write(|model| model.restore(revision))
    }

    /// Uses up revisions that no API shows, as keys outside the API do.
    pub fn skip_revisions(&self, count: u128) -> u128 {
        self.write(|model| {
            model.revision += count;
            model.revision
        })
    }

    /// Sends a bookmark on every open stream of a resource that allows them.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn bookmark(&self, resource: &str) -> Result<()> {
        self.write(|model| {
            let storage = model.storage_mut(resource)?;
            storage.bookmark_round += 1;
            storage.notify();
            Ok(())
        })
    }

    fn write<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        let done = change(&mut locked(&self.state.model));
        self.state.pulse.beat();
        done
    }
}

pub(crate) fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// The members of a definition beside its metadata.
fn definition(resource: &Resource, established: bool) -> String {
    let versions: Vec<serde_json::Value> = resource
        .versions
        .iter()
        .map(|version| {
            serde_json::json!({
                "name": version,
                "served": true,
                "storage": *version == resource.stored_version,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }},
            })
        })
        .collect();
    let names = serde_json::json!({
        "plural": resource.plural,
        "singular": resource.singular,
        "kind": resource.kind,
        "listKind": format!("{}List", resource.kind),
        "shortNames": resource.short_names,
    });
    let spec = serde_json::json!({
        "group": resource.group,
        "names": names,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "versions": versions,
        "conversion": {"strategy": "None"},
    });
    let truth = if established { "True" } else { "False" };
    let status = serde_json::json!({
        "acceptedNames": names,
        "storedVersions": [resource.stored_version],
        "conditions": [
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts"},
            {"type": "Established", "status": truth, "reason": "InitialNamesAccepted"},
        ],
    });
    format!(r#""spec":{spec},"status":{status}"#)
}

/// A load to put on a cluster.
#[derive(Debug, Clone)]
pub struct Churn {
    /// The resource, which must be namespaced.
    pub resource: String,
    /// The namespace of its objects.
    pub namespace: String,
    /// How many objects there are to choose from.
    pub objects: u64,
    /// How many writes are made; endless without.
    pub writes: Option<u64>,
    /// How many a second; as fast as possible without.
    pub per_second: Option<u32>,
    /// The size of each object's filler.
    pub body_bytes: usize,
    /// One in this many writes to an object that exists deletes it; none with zero.
    pub delete_one_in: u64,
    /// Chooses the writes.
    pub seed: u64,
}

impl Default for Churn {
    fn default() -> Self {
        Self {
            resource: "configmaps".to_owned(),
            namespace: "default".to_owned(),
            objects: 50,
            writes: None,
            per_second: Some(200),
            body_bytes: 300,
            delete_one_in: 10,
            seed: 1,
        }
    }
}

/// A load that goes on until it is through, stopped or dropped.
#[derive(Debug)]
pub struct Churning {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<u64>>>,
}

impl Churning {
    /// Waits until it is through; returns how many writes were made.
    ///
    /// # Errors
    ///
    /// When a write failed.
    pub fn finish(mut self) -> Result<u64> {
        self.join()
    }

    /// Ends it after the write it is at; returns how many were made.
    ///
    /// # Errors
    ///
    /// When a write failed.
    pub fn stop(mut self) -> Result<u64> {
        self.stop.store(true, Ordering::SeqCst);
        self.join()
    }

    fn join(&mut self) -> Result<u64> {
        let thread = self.thread.take().context("it was joined before")?;
        thread
            .join()
            .map_err(|_panic| anyhow!("the load panicked"))?
    }
}

impl Drop for Churning {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // The receiver was dropped: nobody waits for the result.
            thread.join().ok();
        }
    }
}

impl ScriptedCluster {
    /// Starts a load on a thread of its own.
    ///
    /// # Errors
    ///
    /// When the resource is not served or there is no thread.
    pub fn churn(&self, churn: Churn) -> Result<Churning> {
        self.resource(&churn.resource)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (state, stopped) = (Arc::clone(&self.state), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("churn".to_owned())
            .spawn(move || run(&churn, &state, &stopped))?;
        Ok(Churning {
            stop,
            thread: Some(thread),
        })
    }
}

fn run(churn: &Churn, state: &State, stop: &AtomicBool) -> Result<u64> {
    let started = Instant::now();
    let mut random = Random(churn.seed | 1);
    let filler: String = std::iter::repeat_with(|| char::from(b'a' + random.below_26()))
        .take(churn.body_bytes)
        .collect();
    let mut made = 0;
    while churn.writes.is_none_or(|writes| made < writes) && !stop.load(Ordering::SeqCst) {
        write_one(churn, state, &mut random, made, &filler)?;
        made += 1;
        if let Some(per_second) = churn.per_second {
            let due = Duration::from_secs_f64(
                f64::from(u32::try_from(made).unwrap_or(u32::MAX)) / f64::from(per_second.max(1)),
            );
            // Pacing, not waiting for anything.
            std::thread::sleep(due.saturating_sub(started.elapsed()));
        }
    }
    Ok(made)
}

fn write_one(
    churn: &Churn,
    state: &State,
    random: &mut Random,
    step: u64,
    filler: &str,
) -> Result<()> {
    let object = key(
        &churn.namespace,
        &format!("churn-{}", random.next() % churn.objects.max(1)),
    );
    let mut model = locked(&state.model);
    let exists = model
        .resource(&churn.resource)
        .ok()
        .and_then(|resource| model.storage_of(resource))
        .is_some_and(|storage| storage.objects.contains_key(&object));
    if exists && churn.delete_one_in > 0 && random.next().is_multiple_of(churn.delete_one_in) {
        model.delete(&churn.resource, &[object])?;
    } else {
        // Spaces, an exponent and both spellings of a letter: bytes that no serialiser would keep.
        let members = format!(
            r#""data":{{"step":"{step}","odd": "\u00e9é" ,"filler":"{filler}"}},"weight": 1e3"#
        );
        let metadata = "";
        let members = members.as_bytes();
        model.put(
            &churn.resource,
            object,
            Content::Members { metadata, members },
        )?;
    }
    drop(model);
    state.pulse.beat();
    Ok(())
}

/// Xorshift: small, repeatable, good enough to choose objects.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below_26(&mut self) -> u8 {
        u8::try_from(self.next() % 26).unwrap_or(0)
    }
}
