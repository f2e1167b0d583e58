//! What the screen is a function of.

mod browse;
mod choice;
mod compare;
mod filtering;
mod lane_list;
mod open;
mod panes;
mod picked;
mod pins;
mod place;
mod request;
mod screen;
mod search;
mod section;
mod session;
mod subject;
mod track;
mod window;

pub(crate) use browse::{Browse, Order};
pub(crate) use choice::Choice;
pub(crate) use compare::{Compared, Difference, DifferenceRow};
pub(crate) use filtering::Filtering;
pub(crate) use lane_list::{Cells, Head, LaneAt, LaneList, LaneRow};
pub(crate) use open::{List, Open, Pass, Playing, TableView};
pub(crate) use panes::Panes;
pub(crate) use picked::{Content, Picked};
pub(crate) use pins::Pins;
pub(crate) use place::{Jumps, Place};
pub use request::Request;
pub(crate) use screen::{Noting, Pane, Panel, Screen};
pub(crate) use search::{FieldSearch, Found, FoundField, Search, Searches};
pub(crate) use section::{Grouping, Section};
pub(crate) use session::{Model, Reel};
pub(crate) use subject::Subject;
pub(crate) use track::EventsOf;
pub(crate) use window::Window;
