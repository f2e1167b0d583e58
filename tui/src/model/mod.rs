//! The model: what the screen is a function of.

mod lanes;
mod live;
mod open;
mod state;
mod stream;

pub(crate) use lanes::{
    ChosenRow, Grouping, LaneAt, LaneList, LaneRow, MOST_UNFOLDED, Pins, RowCells, Section,
    SectionHead, UnfoldedObject,
};
pub(crate) use live::{LiveReel, LiveState};
pub(crate) use open::{
    BrowseState, CompareState, FilterState, LanePass, List, OpenReel, PanelReading, Playing,
    ProblemsState, Searches, TableView, TimelineMark, ToldProblem,
};
pub use state::TuiRequest;
pub(crate) use state::{ActiveScreen, NoteInput, Pane, Panes, PickerState, SaveInput};
pub(crate) use state::{MOST_WRITTEN_BYTES, Model, ReelState};
pub(crate) use stream::{StreamRow, TransitionLog};
