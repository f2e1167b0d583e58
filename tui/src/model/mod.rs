//! The model: what the screen is a function of.

mod lanes;
mod open;
mod state;
mod stream;

pub(crate) use lanes::{Grouping, LaneAt, LaneList, LaneRow, Pins, RowCells, Section, SectionHead};
pub(crate) use open::{
    BrowseState, CompareState, FilterState, LanePass, List, OpenReel, PanelReading, Playing,
    ProblemsState, Searches, TableView, TimelineMark, ToldProblem,
};
pub use state::TuiRequest;
pub(crate) use state::{ActiveScreen, NoteInput, Pane, Panes, PickerState, SaveInput};
pub(crate) use state::{Model, ReelState};
pub(crate) use stream::{StreamRow, TransitionLog};
