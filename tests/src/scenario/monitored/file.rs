//! Owns the file: a cluster, what happens in it, and faults. Refuses to expand it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, Write as _};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::super::file::{NodeEntry, Release};
use super::super::jsonl::{WriteError, Writing};
use super::super::{Moment, ScenarioError};
use super::lay::Workload;
use crate::kubelet::{Fate, PodMatcher};
use crate::rest;
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
    pub(super) begins: Timestamp,
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

fn timestamp<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
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
    pub fn time(&self, secs: f64) -> Timestamp {
        let span = jiff::SignedDuration::from_secs_f64(secs);
        self.begins.checked_add(span).unwrap_or(self.begins)
    }
}

/// Something that goes wrong, and how it is found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name; unique in the file.
    pub name: String,
    /// Labels of entries of the base that do not happen when it does.
    #[serde(default)]
    pub(super) instead_of: Vec<String>,
    /// What happens.
    pub(super) entries: Vec<Entry>,
    /// What a run says that it does not say without the fault.
    pub expected: Vec<Expected>,
}

impl Fault {
    /// When it begins, in seconds from the scenario's begin.
    pub fn begins_secs(&self) -> f64 {
        let begins = self.entries.iter().map(|entry| entry.at_secs);
        begins.fold(f64::INFINITY, f64::min)
    }
}

/// What a run says of a fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The short name of the monitortest.
    pub test: String,
    /// The case's name in `JUnit`, without `[Monitor:…]` and `[Jira:…]`.
    pub case: String,
    /// What the case is then.
    pub verdict: Verdict,
    /// When the finding begins, in seconds from the scenario's begin.
    pub at_secs: f64,
    /// How much later it may be found: a cluster takes its time for some things.
    #[serde(default = "one_fault")]
    pub within_secs: f64,
    /// A part of what is said.
    #[serde(default)]
    pub says: Option<String>,
}

const fn one_fault() -> f64 {
    1.0
}

/// What a case is that found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It fails the run.
    Fail,
    /// It fails and passes.
    Flake,
}

/// How long Events live.
const EVENT_TTL_SECS: f64 = 10_800.0;

impl Monitored {
    /// The names of all faults.
    pub fn all(&self) -> BTreeSet<&str> {
        self.faults
            .iter()
            .map(|fault| fault.name.as_str())
            .collect()
    }

    /// Writes what a recorder would have seen, as JSON lines.
    ///
    /// # Errors
    ///
    /// The scenario contradicts itself.
    pub fn lines(&self, on: &BTreeSet<&str>) -> Result<Vec<u8>, WriteError> {
        let writing = Writing {
            seed: self.seed,
            events: u64::MAX,
            begins: self.begins,
            event_ttl_secs: EVENT_TTL_SECS,
        };
        let mut all = Vec::new();
        let end = Moment::from_secs(self.end_secs);
        writing.write_steps(&mut all, &self.steps(on)?, end)?;
        from(&all, self.time(self.recorded_from_secs))
    }
}

/// Tells what is there at a moment as created then, and what came later as it came.
fn from(lines: &[u8], start: Timestamp) -> Result<Vec<u8>, WriteError> {
    let mut there: BTreeMap<ObjectPlace, String> = BTreeMap::new();
    let mut later = Vec::new();
    for line in lines.lines() {
        let line = line?;
        let head = head(&line)?;
        if head.at >= start {
            writeln!(later, "{line}")?;
        } else if head.is_gone {
            there.remove(&head.place);
        } else {
            there.insert(head.place, line);
        }
    }
    let mut all = Vec::new();
    for line in there.values() {
        // The object's bytes stay as they are; only the envelope before them is written anew.
        let (envelope, object) = line.split_once(r#","object":"#).unwrap_or((line, ""));
        let served = envelope
            .split_once(r#","group":"#)
            .map_or("", |(_, served)| served);
        let at = rest::micros(start);
        writeln!(
            all,
            r#"{{"ts":"{at}","type":"ADDED","group":{served},"object":{object}"#
        )?;
    }
    all.extend(later);
    Ok(all)
}

/// Resource, namespace and name: the order of lists.
type ObjectPlace = (String, String, String);

struct Head {
    at: Timestamp,
    is_gone: bool,
    place: ObjectPlace,
}

fn head(line: &str) -> Result<Head, WriteError> {
    let broken = |message: String| WriteError::Scenario(ScenarioError::Unreadable { message });
    let value: Value = serde_json::from_str(line).map_err(|error| broken(error.to_string()))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = &value["object"]["metadata"];
    let at = value["ts"].as_str().unwrap_or_default();
    Ok(Head {
        at: at
            .parse()
            .map_err(|error: jiff::Error| broken(error.to_string()))?,
        is_gone: value["type"] == "DELETED",
        place: (
            text(&value["resource"]),
            text(&meta["namespace"]),
            text(&meta["name"]),
        ),
    })
}
