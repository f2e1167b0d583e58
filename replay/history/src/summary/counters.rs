//! Owns what a summary says of sampled counters: each move, with its bounds. Refuses the values between.

use super::written::rfc3339;
use crate::timeline::Timeline;
use kubereel_format::RecordedAt;
use serde::Serialize;

/// A sampled counter that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CounterMoveSummary {
    /// The server, and after a `#` when its process began.
    pub endpoint: String,
    /// The metric's name.
    pub name: String,
    /// Its labels as the server spelt them.
    pub labels: String,
    /// The last reading that did not show it.
    #[serde(serialize_with = "rfc3339")]
    pub after: RecordedAt,
    /// The reading that did.
    #[serde(serialize_with = "rfc3339")]
    pub by: RecordedAt,
    /// The value before; null if the series was not there.
    pub from: Option<String>,
    /// The value after.
    pub to: String,
}

impl Timeline {
    pub(super) fn counter_move_summaries(&self) -> Vec<CounterMoveSummary> {
        let moves = self.counter_moves().into_iter();
        let told = moves.map(|one| CounterMoveSummary {
            endpoint: one.endpoint,
            name: one.name,
            labels: one.labels,
            after: one.after,
            by: one.by,
            from: one.from,
            to: one.to,
        });
        told.collect()
    }
}
