//! States of objects over time, ready to be drawn at any zoom.

mod anomaly;
mod board;
mod dark;
mod line;
mod parts;
mod rules;
mod server;
mod spells;
mod stages;

/// What a lane shows of something is its health.
pub(crate) use kubereel_cluster::StateHealth as LaneState;

pub(crate) use anomaly::{Anomaly, anomalies};
pub(crate) use board::{Board, can_have_lanes, gather};
pub(crate) use dark::{DarkSpan, FirstSights, all_dark, dark_of, dark_of_object, dark_periods};
pub(crate) use line::{Lane, LaneCell, LaneGroup, LaneReading, LaneSpell, LaneSubject};
pub(crate) use parts::{CONTAINER_PART, ObjectParts, parts};
pub(crate) use rules::rule_lanes;
