//! Owns what a summary says of the clusters: identity, versions, nodes. Refuses the story of an
//! upgrade: that is the operators' room.

use super::written::rfc3339;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceId};
use serde::{Deserialize, Serialize};

/// A cluster that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClusterSummary {
    /// When it was first identified.
    #[serde(serialize_with = "rfc3339")]
    pub since: RecordedAt,
    /// The uid of its namespace `kube-system`; empty if it could not be read.
    pub uid: String,
    /// The Kubernetes versions its server reported, in order.
    pub versions: Vec<String>,
    /// The OpenShift versions that its `ClusterVersion` completed or began, in order; of the last
    /// cluster only.
    pub openshift_versions: Vec<String>,
    /// Its nodes at the end; of the last cluster only.
    pub nodes: Option<u64>,
}

#[derive(Deserialize)]
struct ClusterVersion {
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    history: Option<Vec<Update>>,
}

#[derive(Deserialize)]
struct Update {
    version: String,
}

impl Timeline {
    pub(super) fn cluster_summaries(&self) -> Vec<ClusterSummary> {
        let mut summaries: Vec<ClusterSummary> = self
            .clusters()
            .iter()
            .map(|cluster| ClusterSummary {
                since: cluster.from,
                uid: cluster.uid.clone(),
                versions: cluster.versions.clone(),
                openshift_versions: Vec::new(),
                nodes: None,
            })
            .collect();
        if let Some(last) = summaries.last_mut() {
            last.openshift_versions = self.openshift_versions().unwrap_or_default();
            last.nodes = self.recorded("", "nodes").map(|nodes| {
                let objects = self.objects_of(nodes);
                let alive = objects.iter().filter(|&&object| self.is_alive(object));
                (0u64..).zip(alive).last().map_or(0, |(last, _)| last + 1)
            });
        }
        summaries
    }

    fn recorded(&self, group: &str, plural: &str) -> Option<ResourceId> {
        self.resources()
            .iter()
            .filter(|info| info.group == group && info.plural == plural)
            .map(|info| info.id)
            .max()
    }

    /// Reads the history of the last `ClusterVersion` object; the server keeps it newest first.
    fn openshift_versions(&self) -> Option<Vec<String>> {
        let resource = self.recorded("config.openshift.io", "clusterversions")?;
        let mut objects = self.objects_of(resource).iter().rev();
        let object = objects.find(|&&object| self.is_alive(object))?;
        let last = self.reel().versions(*object).last()?;
        let body = self.reel().body(*last).ok()?;
        let version: ClusterVersion = serde_json::from_slice(&body).ok()?;
        let mut versions = Vec::new();
        for update in version.status?.history?.into_iter().rev() {
            if versions.last() != Some(&update.version) && !update.version.is_empty() {
                versions.push(update.version);
            }
        }
        Some(versions)
    }
}
