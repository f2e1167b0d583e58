//! Owns what a recorder that starts in the middle would have written: what is there by then, once,
//! and all lines from then on. Refuses to know more of a line than where and when it belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, Write as _};

use jiff::Timestamp;
use serde_json::Value;

use super::super::jsonl::{WriteError, Writing};
use super::super::{Moment, ScenarioError};
use super::file::Monitored;
use crate::rest;

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
    let mut there: BTreeMap<Place, String> = BTreeMap::new();
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
type Place = (String, String, String);

struct Head {
    at: Timestamp,
    is_gone: bool,
    place: Place,
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
