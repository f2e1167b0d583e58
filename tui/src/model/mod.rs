//! The model: what the screen is a function of.

mod lanes;
mod open;
mod screen;
mod state;

pub(crate) use lanes::{Cells, Grouping, Head, LaneAt, LaneList, LaneRow, Pins, Section};
pub(crate) use open::{
    Browse, Compared, Filtering, List, Open, Pass, Playing, Reading, Searches, TableView, Trouble,
};
pub(crate) use screen::{Choice, Noting, Pane, Panes, Screen};
pub use state::Request;
pub(crate) use state::{Model, Reel};
