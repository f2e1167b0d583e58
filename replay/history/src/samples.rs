//! The counters that the recorder sampled: when each moved, between which two readings. What a counter did
//! between two readings is not known.

use crate::timeline::Timeline;
use crate::timetext::Rfc3339;
use kubereel_format::{Note, RecordedAt};
use serde::Serialize;
use std::collections::BTreeMap;

/// The sample that the recorder writes in every reading of a server.
const STARTED: &str = "process_start_time_seconds";

/// A counter that had another value than at the reading before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CounterMove {
    /// Scheme, host and port of the server, and after a `#` when its process began.
    pub endpoint: String,
    /// The metric's name.
    pub name: String,
    /// Its labels as the server spelt them.
    pub labels: String,
    /// The last reading of the same server that did not show it.
    #[serde(with = "Rfc3339")]
    pub after: RecordedAt,
    /// The reading that did.
    #[serde(with = "Rfc3339")]
    pub by: RecordedAt,
    /// The value before; `None` if the series was not there.
    pub from: Option<String>,
    /// The value after.
    pub to: String,
}

impl CounterMove {
    /// Lists when each sampled counter moved, in order.
    ///
    /// Servers are distinguished by the start of their process, so that a restart or another server behind the
    /// same address is not a move. What a server's first reading shows is where its counters stood.
    pub fn all(timeline: &Timeline) -> Vec<Self> {
        // For each server: its last reading, and the one before.
        let mut readings: BTreeMap<&str, (RecordedAt, Option<RecordedAt>)> = BTreeMap::new();
        let mut values: BTreeMap<(&str, &str, &str), &str> = BTreeMap::new();
        let mut moves = Vec::new();
        for entry in timeline.reel().notes() {
            let Note::Sampled {
                endpoint,
                name,
                labels,
                value,
            } = &entry.note
            else {
                continue;
            };
            let at = entry.stamp.wall;
            if name == STARTED {
                let before = readings.get(endpoint.as_str()).map(|(last, _)| *last);
                readings.insert(endpoint, (at, before));
                continue;
            }
            let from = values.insert((endpoint, name, labels), value);
            let after = readings
                .get(endpoint.as_str())
                .and_then(|(_, before)| *before);
            if let Some(after) = after
                && from != Some(value.as_str())
            {
                moves.push(Self {
                    endpoint: endpoint.clone(),
                    name: name.clone(),
                    labels: labels.clone(),
                    after,
                    by: at,
                    from: from.map(str::to_owned),
                    to: value.clone(),
                });
            }
        }
        moves
    }
}
