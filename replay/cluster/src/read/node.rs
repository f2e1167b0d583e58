//! Owns what is read of a Node: what the machine-config operator notes on it, whether it is ready and
//! schedulable, and which boot it is.

use super::lenient::or_default;
use crate::condition::StatusCondition;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const PREFIX: &str = "machineconfiguration.openshift.io/";

/// How the name of a drain begins that takes Pods away, unlike that of an uncordon.
pub(crate) const DRAIN: &str = "drain-";

/// A version of a Node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Node {
    #[serde(deserialize_with = "or_default")]
    metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    spec: Spec,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "or_default")]
    labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "or_default")]
    unschedulable: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Value>,
    #[serde(deserialize_with = "or_default")]
    node_info: NodeInfo,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo {
    #[serde(rename = "bootID", deserialize_with = "or_default")]
    boot_id: String,
}

impl Node {
    /// Gives what the machine-config operator noted under a name; empty if nothing.
    pub(crate) fn noted(&self, name: &str) -> &str {
        self.metadata
            .annotations
            .get(&format!("{PREFIX}{name}"))
            .map_or("", String::as_str)
    }

    pub(crate) const fn labels(&self) -> &BTreeMap<String, String> {
        &self.metadata.labels
    }

    pub(crate) const fn is_unschedulable(&self) -> bool {
        self.spec.unschedulable
    }

    pub(crate) fn conditions(&self) -> &[Value] {
        &self.status.conditions
    }

    pub(crate) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        StatusCondition::find(&self.status.conditions, kind)
    }

    /// Tells whether it says that it is ready; one without the condition does not.
    pub(crate) fn is_ready(&self) -> bool {
        self.condition("Ready")
            .is_some_and(|condition| condition.is("True"))
    }

    pub(crate) fn boot_id(&self) -> &str {
        &self.status.node_info.boot_id
    }

    /// Tells whether the daemon gave up on it, until somebody helps.
    pub(crate) fn is_degraded(&self) -> bool {
        !self.noted("desiredConfig").is_empty()
            && matches!(self.noted("state"), "Degraded" | "Unreconcilable")
    }
}
