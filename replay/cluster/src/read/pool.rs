//! Owns what is read of a `MachineConfigPool`, of a `MachineConfig` and of a `PodDisruptionBudget`.

use super::lenient::or_default;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A version of a `MachineConfigPool`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Pool {
    #[serde(deserialize_with = "or_default")]
    pub(crate) spec: PoolSpec,
    #[serde(deserialize_with = "or_default")]
    pub(crate) status: PoolStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PoolSpec {
    #[serde(deserialize_with = "or_default")]
    pub(crate) paused: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) configuration: Named,
    #[serde(deserialize_with = "or_default")]
    pub(crate) node_selector: Selector,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PoolStatus {
    #[serde(deserialize_with = "or_default")]
    pub(crate) conditions: Vec<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) machine_count: u64,
    #[serde(deserialize_with = "or_default")]
    pub(crate) updated_machine_count: u64,
}

/// A label selector as objects hold one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Selector {
    #[serde(deserialize_with = "or_default")]
    match_labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    match_expressions: Vec<Expression>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Expression {
    #[serde(deserialize_with = "or_default")]
    key: String,
    #[serde(deserialize_with = "or_default")]
    operator: String,
    #[serde(deserialize_with = "or_default")]
    values: Vec<String>,
}

impl Selector {
    /// Tells whether it selects what has these labels; an empty one selects everything.
    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let mut wanted = self.match_labels.iter();
        wanted.all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|one| one.holds(labels))
    }
}

impl Expression {
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator.as_str() {
            "In" => value.is_some_and(|value| self.values.contains(value)),
            "NotIn" => value.is_none_or(|value| !self.values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            // The server takes no other.
            _ => false,
        }
    }
}

/// A version of a `MachineConfig`; it may hold secrets, of which nothing is read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MachineConfig {
    #[serde(deserialize_with = "or_default")]
    metadata: ConfigMetadata,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigMetadata {
    #[serde(deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
}

impl MachineConfig {
    /// Gives the release that it belongs to; empty if it does not say.
    pub(crate) fn release(&self) -> &str {
        self.metadata
            .annotations
            .get("machineconfiguration.openshift.io/release-image-version")
            .map_or("", String::as_str)
    }
}

/// A version of a `PodDisruptionBudget`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Budget {
    #[serde(deserialize_with = "or_default")]
    pub(crate) spec: BudgetSpec,
    #[serde(deserialize_with = "or_default")]
    status: BudgetStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BudgetSpec {
    /// None selects nothing.
    pub(crate) selector: Option<Selector>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BudgetStatus {
    disruptions_allowed: Option<i64>,
}

impl Budget {
    /// Tells whether it allows no Pod of its to be evicted; one without a status says nothing.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.status
            .disruptions_allowed
            .is_some_and(|allowed| allowed <= 0)
    }
}
