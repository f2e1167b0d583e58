//! The sampled counters: when each changed, between which two readings. The changes between two
//! readings are not known.

use crate::timeline::Timeline;
use crate::timetext::Rfc3339;
use kubereel_format::{Note, RecordedAt};
use serde::Serialize;
use std::collections::BTreeMap;

/// The sample that the recorder writes in every reading of a server.
const STARTED: &str = "process_start_time_seconds";

/// A counter whose value differs from that of the previous reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CounterMove {
    /// Scheme, host and port of the server, and after a `#` when its process began.
    pub endpoint: String,
    /// The metric's name.
    pub name: String,
    /// Its labels in the server's spelling.
    pub labels: String,
    /// The last reading of the same server before the change.
    #[serde(with = "Rfc3339")]
    pub after: RecordedAt,
    /// The reading with the change.
    #[serde(with = "Rfc3339")]
    pub by: RecordedAt,
    /// The value before; `None` if the series was not there.
    pub from: Option<String>,
    /// The value after.
    pub to: String,
}

impl CounterMove {
    /// Lists the changes of each sampled counter, in order.
    ///
    /// Servers are distinguished by the start time of their process, so that a restart or another
    /// server behind the same address is not a change. The first reading of a server gives the base
    /// values.
    pub fn all(timeline: &Timeline) -> Vec<Self> {
        // For each server: its last two readings.
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
