//! Owns what a reel knows of a resource: how the server's discovery described it. Refuses objects.

use crate::id::ResourceId;
use bincode::{Decode, Encode};

/// One resource of the cluster, as its discovery documents described it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ResourceInfo {
    /// The number by which events name it. Given by the recorder, never used again.
    pub id: ResourceId,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version that is recorded, for example `v1`.
    pub version: String,
    /// The plural name, for example `pods`.
    pub plural: String,
    /// The singular name; empty if the server gave none.
    pub singular: String,
    /// The kind, for example `Pod`.
    pub kind: String,
    /// The short names, for example `po`.
    pub short_names: Vec<String>,
    /// The categories, for example `all`.
    pub categories: Vec<String>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The verbs that discovery names.
    pub verbs: Vec<String>,
    /// The server's storage version hash, if it gave one: equal hashes mean one storage.
    pub storage_hash: Option<String>,
}

impl ResourceInfo {
    /// Gives `plural.group`, or the plural alone for the core group.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// Gives the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}
