//! What was done at which time of the clock, and what went wrong.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::super::Moment;
use super::super::step::Gate;

/// One step as it was played.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// When it was planned, in virtual time.
    pub at: Moment,
    /// When it was played, by the clock.
    pub wall: Timestamp,
    /// In whose name.
    pub actor: String,
    /// What was done, and to which object.
    pub what: String,
    /// How many tries the last call took.
    pub attempts: u32,
    /// From the start of the step to its end.
    pub took_millis: u64,
    /// How long virtual time stood still for the step's gate.
    pub held_millis: u64,
    /// The object's resourceVersion after the write, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What was done at which time of the clock.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// The steps, in the order in which they ended.
    pub entries: Vec<Entry>,
    /// How long virtual time stood still for the cluster to come after.
    pub held_millis: u64,
    pub(super) walls: BTreeMap<Moment, Timestamp>,
}

impl Journal {
    /// The time of the clock of a moment at which something was played, or of the last such before it.
    pub fn wall_of(&self, moment: Moment) -> Option<Timestamp> {
        self.walls
            .range(..=moment)
            .next_back()
            .map(|(_, wall)| *wall)
    }

    /// As JSON, one entry a line.
    pub fn to_json_lines(&self) -> String {
        let lines = self
            .entries
            .iter()
            .filter_map(|entry| serde_json::to_string(entry).ok());
        lines.map(|line| line + "\n").collect()
    }

    /// What failed, in words.
    pub fn failures(&self) -> Vec<String> {
        let failed = |entry: &Entry| {
            let failure = entry.failure.as_ref()?;
            Some(format!(
                "{} {} {}: {failure}",
                entry.at, entry.actor, entry.what
            ))
        };
        self.entries.iter().filter_map(failed).collect()
    }
}

/// Why a plan was not played to its end, or not well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The cluster did not come to what a step needs.
    #[error("at {at} the cluster did not come to {gate:?} within {} s", within.as_secs())]
    Stuck {
        /// When, in virtual time.
        at: Moment,
        /// What was waited for.
        gate: Gate,
        /// How long.
        within: std::time::Duration,
    },
    /// Steps failed.
    #[error("{} steps failed, the first: {}", failures.len(), failures.first().map_or("", String::as_str))]
    Failed {
        /// What failed, in words.
        failures: Vec<String>,
    },
}
