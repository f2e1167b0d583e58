//! Owns the form in which a change is compared, whoever tells of it. Refuses to judge it.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use kubereel_format::EpochId;

use super::said::Claims;
use crate::oracle::{self, ChangeKind, EtcdKey};
use crate::recording::recorded_as;
use crate::scripted::{self, ScriptedCluster};

/// A change that was made, as its server's own story tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Whose revisions these are: the number of the cluster's life in the reel.
    pub epoch: EpochId,
    /// The API group; none where etcd's key does not name it.
    pub group: Option<String>,
    /// The resource's plural name.
    pub plural: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The change's revision.
    pub revision: u128,
    /// Whether the object went away by it.
    pub is_deletion: bool,
    /// Whether the server sent it otherwise than it was committed: then a recorder cannot know it.
    pub is_altered: bool,
}

impl Fact {
    /// What etcd told of the API's objects; what no API shows is left out.
    ///
    /// # Errors
    /// When a key is of no known form.
    pub fn of_etcd(changes: &[oracle::Change], epoch: EpochId) -> Result<Vec<Self>> {
        let mut facts = Vec::new();
        for change in changes {
            let key = match change.etcd_key() {
                EtcdKey::Object(key) => key,
                EtcdKey::WithoutApi => continue,
                EtcdKey::Unknown => bail!("what is {}?", change.key),
            };
            facts.push(Self {
                epoch,
                group: key.group,
                plural: key.resource,
                namespace: key.namespace.unwrap_or_default(),
                name: key.name,
                revision: u128::from(change.revision),
                is_deletion: change.kind == ChangeKind::Deleted,
                is_altered: false,
            });
        }
        Ok(facts)
    }

    /// What a scripted cluster committed to these storages.
    ///
    /// A storage that the reel does not know is left out: nothing is claimed of it.
    ///
    /// # Errors
    /// When the reel knows nothing of the cluster.
    pub fn of_scripted(
        claims: &Claims,
        cluster: &ScriptedCluster,
        storages: &[&str],
    ) -> Result<Vec<Self>> {
        let life = first_life(claims, cluster)?;
        let altered = cluster.altered();
        let altered: BTreeSet<usize> = altered.iter().map(|line| line.sequence).collect();
        let commits = cluster.committed();
        let mut facts = Vec::new();
        for storage in storages {
            let Some(info) = recorded_as(claims.reel(), cluster, storage) else {
                continue;
            };
            let of_it = commits.iter().filter(|commit| commit.storage == *storage);
            facts.extend(of_it.map(|commit| Self {
                epoch: EpochId(life.saturating_add(commit.epoch)),
                group: Some(info.group.clone()),
                plural: info.plural.clone(),
                namespace: commit.namespace.clone(),
                name: commit.name.clone(),
                revision: commit.revision,
                is_deletion: commit.change == scripted::Change::Deleted,
                is_altered: altered.contains(&commit.sequence),
            }));
        }
        Ok(facts)
    }
}

/// The number under which the reel knows the first life of a cluster.
fn first_life(claims: &Claims, cluster: &ScriptedCluster) -> Result<u32> {
    let namespaces = cluster.standing("namespaces")?;
    let system = namespaces.iter().find(|one| one.name == "kube-system");
    let uid = &system.context("a namespace kube-system")?.uid;
    let life = claims.epoch_of_cluster(uid);
    Ok(life.context("the reel knows nothing of the cluster")?.0)
}
