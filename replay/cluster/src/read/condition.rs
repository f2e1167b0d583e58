//! Owns a condition as `ClusterVersion`, `ClusterOperator`, pools and nodes write it.

use super::lenient::{or_default, time};
use kubereel_format::RecordedAt;
use serde::Deserialize;

/// A condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Condition {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(crate) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) status: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) reason: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) message: String,
    #[serde(deserialize_with = "or_default")]
    last_transition_time: String,
}

impl Condition {
    pub(crate) fn is(&self, status: &str) -> bool {
        self.status == status
    }

    /// Gives when its status changed last, on its writer's clock.
    pub(crate) fn since(&self) -> Option<RecordedAt> {
        time(&self.last_transition_time)
    }
}

/// Finds a condition by its type.
pub(crate) fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}
