//! Owns what is read of a `ClusterOperator`.

use super::lenient::or_default;
use crate::condition::StatusCondition;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// How the annotations begin by which the payload says where an operator belongs.
const OF_PAYLOAD: [&str; 2] = [
    "include.release.openshift.io/",
    "exclude.release.openshift.io/",
];

/// A version of a `ClusterOperator`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClusterOperator {
    #[serde(deserialize_with = "or_default")]
    metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    versions: Vec<OperandVersion>,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct OperandVersion {
    #[serde(deserialize_with = "or_default")]
    name: String,
    #[serde(deserialize_with = "or_default")]
    version: String,
}

impl ClusterOperator {
    /// Gives what it says of a name among its versions: `operator` for the whole.
    pub(crate) fn version_of(&self, name: &str) -> Option<&str> {
        let versions = &self.status.versions;
        let found = versions.iter().find(|version| version.name == name);
        found.map(|version| version.version.as_str())
    }

    /// Gives its own version; empty while it reports none.
    pub(crate) fn version(&self) -> &str {
        self.version_of("operator").unwrap_or_default()
    }

    pub(crate) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        StatusCondition::find(&self.status.conditions, kind)
    }

    pub(crate) fn conditions(&self) -> &[Value] {
        &self.status.conditions
    }

    pub(crate) fn is(&self, kind: &str, status: &str) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition.is(status))
    }

    /// Tells whether it comes from the payload; only those count for `oc`.
    pub(crate) fn is_of_payload(&self) -> bool {
        let mut names = self.metadata.annotations.keys();
        names.any(|name| OF_PAYLOAD.iter().any(|begin| name.starts_with(begin)))
    }
}
