//! A scenario laid out in time: what happens when, what is planted, what must be true at the end.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::Moment;
use super::operator::OperatorStatus;
use super::step::Step;

/// A scenario laid out in time. The same file gives the same plan, to the byte.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// How many virtual seconds a second of the clock takes.
    pub speed: f64,
    /// When it is over.
    pub end: Moment,
    /// What happens, by time.
    pub steps: Vec<Step>,
    /// What is planted for others to find.
    pub faults: Vec<PlantedFault>,
    /// The turns of the story.
    pub landmarks: Vec<Landmark>,
    /// Values that must never be recorded.
    pub canaries: Vec<Canary>,
    /// What is there at the end.
    pub outcome: Outcome,
    /// The operators at the end, for whoever goes on with them.
    #[serde(skip)]
    pub(super) operators: BTreeMap<String, OperatorStatus>,
}

/// Something that goes wrong on purpose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlantedFault {
    /// What it is, in one word: `degraded`, `flap`, `crash-loop`, `failed-pull`, `force-delete`.
    pub kind: String,
    /// The object it shows at.
    pub object: String,
    /// When it begins, in virtual time.
    pub at: Moment,
    /// When it ends; `None` for what stays or is over at once.
    pub until: Option<Moment>,
}

/// A turn of the story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Landmark {
    /// What turns.
    pub what: &'static str,
    /// When.
    pub at: Moment,
}

/// A value of a Secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Canary {
    /// The Secret's namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key.
    pub key: String,
    /// The value.
    pub plain: String,
}

impl Canary {
    /// The texts by which the value can be found: as it is, and as a Secret's data has it.
    pub fn needles(&self) -> [String; 2] {
        [self.plain.clone(), STANDARD.encode(&self.plain)]
    }
}

/// What is there at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The version the cluster came from.
    pub from_version: String,
    /// The version the cluster is at.
    pub version: String,
    /// All operators; each is at that version.
    pub operators: Vec<String>,
    /// All nodes; each was rebooted once.
    pub nodes: Vec<String>,
    /// The version Pods of the update, in order; all but the last failed.
    pub version_pods: Vec<String>,
}

impl Plan {
    /// The planted faults of a kind.
    pub fn faults_of(&self, kind: &str) -> impl Iterator<Item = &PlantedFault> {
        self.faults.iter().filter(move |fault| fault.kind == kind)
    }

    /// When the story takes a turn.
    pub fn landmark(&self, what: &str) -> Option<Moment> {
        self.landmarks
            .iter()
            .find(|landmark| landmark.what == what)
            .map(|landmark| landmark.at)
    }
}
