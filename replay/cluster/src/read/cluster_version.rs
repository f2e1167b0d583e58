//! Owns what is read of `ClusterVersion`.

use super::lenient::{or_default, time};
use kubereel_format::RecordedAt;
use serde::Deserialize;
use serde_json::Value;

/// A version of `ClusterVersion`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClusterVersion {
    #[serde(deserialize_with = "or_default")]
    pub(crate) metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    pub(crate) spec: Spec,
    #[serde(deserialize_with = "or_default")]
    pub(crate) status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    #[serde(deserialize_with = "or_default")]
    pub(crate) uid: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) generation: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Spec {
    pub(crate) desired_update: Option<DesiredUpdate>,
}

/// What somebody wants the cluster to become.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct DesiredUpdate {
    #[serde(deserialize_with = "or_default")]
    pub(crate) version: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) image: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) force: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Status {
    #[serde(deserialize_with = "or_default")]
    pub(crate) desired: DesiredRelease,
    #[serde(deserialize_with = "or_default")]
    pub(crate) observed_generation: u64,
    #[serde(deserialize_with = "or_default")]
    pub(crate) history: Vec<HistoryEntry>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) conditions: Vec<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct DesiredRelease {
    #[serde(deserialize_with = "or_default")]
    pub(crate) version: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) image: String,
}

/// One entry of the history, newest first in the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HistoryEntry {
    #[serde(deserialize_with = "or_default")]
    state: String,
    #[serde(deserialize_with = "or_default")]
    started_time: String,
    #[serde(deserialize_with = "or_default")]
    completion_time: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) version: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) image: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) verified: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) accepted_risks: String,
}

impl HistoryEntry {
    pub(crate) fn is_completed(&self) -> bool {
        self.state == "Completed"
    }

    pub(crate) fn started(&self) -> Option<RecordedAt> {
        time(&self.started_time)
    }

    pub(crate) fn completed(&self) -> Option<RecordedAt> {
        time(&self.completion_time)
    }

    /// Tells whether both are the same entry: a version may be filled in later.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.started_time == other.started_time && self.image == other.image
    }
}
