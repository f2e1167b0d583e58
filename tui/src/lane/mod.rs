//! States of objects over time, ready to be drawn at any zoom.

mod anomaly;
mod board;
mod dark;
mod line;
mod read;
mod stages;
mod state;
mod watch;

pub(crate) use anomaly::{Anomaly, anomalies};
pub(crate) use board::{Board, gather};
pub(crate) use dark::{Dark, all_dark, dark_of};
pub(crate) use line::{Group, Lane, LaneCell, Reading, Spell};
pub(crate) use state::LaneState;
