//! Owns what a test does to the cluster's content: objects, resources, revisions, histories.
//! Refuses anything about connections.

use anyhow::{Context as _, Result};

use super::cluster::ScriptedCluster;
use super::log::locked;
use super::model::{Content, Model};
use super::resource::Resource;
use super::storage::ObjectKey;

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

    /// Uses up revisions nobody can see, as keys outside the API do.
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
