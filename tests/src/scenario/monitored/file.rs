//! Owns the file: a cluster, what happens in it, and faults. Refuses to expand it.

use serde::Deserialize;
use serde_json::Value;

use super::super::ScenarioError;
use super::super::file::{NodeEntry, Release};
use super::fault::{Expected, Fault};
use super::workload::Workload;
use crate::kubelet::{Fate, PodMatcher};
use crate::rest::Target;

/// A cluster's life for monitortests. Times are seconds from its begin, and true.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitored {
    /// Its name.
    pub name: String,
    /// All choices follow from it.
    pub(super) seed: u64,
    /// The time of its begin.
    #[serde(deserialize_with = "timestamp")]
    pub(super) begins: jiff::Timestamp,
    /// When the recorder starts: it finds what is there by then.
    pub recorded_from_secs: f64,
    /// When it is over.
    pub end_secs: f64,
    pub(super) nodes: Vec<NodeEntry>,
    pub(super) installed: Release,
    pub(super) update: Release,
    pub(super) namespaces: Vec<String>,
    pub(super) operators: Vec<Component>,
    /// What happens in any case.
    pub(super) base: Vec<Entry>,
    /// What a run says in any case.
    pub expected: Vec<Expected>,
    /// What may go wrong.
    pub faults: Vec<Fault>,
}

fn timestamp<'de, D: serde::Deserializer<'de>>(from: D) -> Result<jiff::Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// A second-level operator.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) namespace: String,
}

/// Something that happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) at_secs: f64,
    /// By which a fault can take it away.
    #[serde(default)]
    pub(super) label: Option<String>,
    pub(super) act: Doing,
}

/// What happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Doing {
    /// An object is created.
    Create { object: Value },
    /// A part of an object is changed by a JSON merge patch.
    Merge { target: Place, patch: Value },
    /// An object is deleted.
    Delete {
        target: Place,
        #[serde(default)]
        grace_secs: Option<u32>,
    },
    /// A Deployment or the like with all that it should have, but for what it lacks.
    Workload(Box<Workload>),
    /// Pods to come meet something.
    Fate { pods: PodMatcher, fate: Fate },
    /// An operator says something of itself.
    Operator {
        name: String,
        condition: String,
        status: String,
        reason: String,
        #[serde(default)]
        message: String,
    },
    /// An operator goes to the update's version.
    RollOperator { name: String, for_secs: f64 },
    /// A version Pod retrieves the update's payload, and fails with these words of the runtime.
    Retrieve {
        attempt: u32,
        for_secs: f64,
        #[serde(default)]
        fails: Option<String>,
    },
    /// The update is accepted.
    Accept {},
    /// The operator of operators reports how far it is.
    Report { done: u32, waiting: Vec<String> },
    /// The operator of operators says something of the version.
    Version {
        condition: String,
        status: String,
        reason: String,
        #[serde(default)]
        message: String,
    },
    /// The update is complete.
    Complete {},
    /// Somebody says something, so many times.
    Say {
        about: Place,
        #[serde(default)]
        namespace: Option<String>,
        component: String,
        reason: String,
        message: String,
        #[serde(default)]
        is_warning: bool,
        #[serde(default = "one")]
        times: u32,
        #[serde(default)]
        every_secs: f64,
    },
    /// A node goes down and comes back, and nobody asked it to.
    Reboot {
        node: String,
        down_secs: f64,
        not_ready_secs: f64,
    },
    /// A node gets the update's configuration: cordon, drain, reboot, uncordon.
    RollNode { node: String, drains_secs: f64 },
}

const fn one() -> u32 {
    1
}

/// Names an object.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) api_version: String,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Place {
    pub(super) fn target(&self) -> Target {
        Target {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

impl Monitored {
    /// Reads the scenario of the project.
    ///
    /// # Errors
    ///
    /// The file is none; the message names the place.
    pub fn read() -> Result<Self, ScenarioError> {
        let yaml = include_str!("../../../../testdata/scenarios/monitortests.yaml");
        serde_saphyr::from_str(yaml).map_err(|error| ScenarioError::Unreadable {
            message: error.to_string(),
        })
    }

    /// The time of a moment of the scenario.
    pub fn time(&self, secs: f64) -> jiff::Timestamp {
        let span = jiff::SignedDuration::from_secs_f64(secs);
        self.begins.checked_add(span).unwrap_or(self.begins)
    }
}
