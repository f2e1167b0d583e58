//! What can happen: actions of keys, and what the world reports. `update` handles it.

use crate::answer::{Panel, ScreenAnswer, ScreenDocument, SearchResult};
use crate::findings::JudgingState;
use crate::keep::{Bookmarks, SavedState};
use crate::lane::Board;
use crate::model::LiveState;
use crate::problem::Problems;
use crate::time::TimeDirection;
use kubereel_history::Timeline;
use std::sync::Arc;

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyAction {
    /// Moves the cursor by cells.
    Cells(i64),
    /// Steps over an event.
    Event(TimeDirection),
    /// Steps over a change of the selected object.
    Change(TimeDirection),
    /// Steps over a transition of the selected lane.
    Transition(TimeDirection),
    /// Steps over a change of the followed field.
    FieldChange(TimeDirection),
    /// Steps to a bookmark or a stage.
    Mark(TimeDirection),
    /// Asks for the note of a bookmark.
    Bookmark,
    /// Lists the bookmarks.
    Bookmarks,
    /// Sets A, or compares it with here.
    Compare,
    /// Removes what is chosen.
    Remove,
    /// Steps to a gap, an outage or a flap.
    Anomaly(TimeDirection),
    /// Steps to a problem.
    Problem(TimeDirection),
    /// Goes to the start.
    Start,
    /// Goes to the end.
    End,
    /// Zooms in.
    ZoomIn,
    /// Zooms out.
    ZoomOut,
    /// Pans by tenths of the window.
    Pan(i64),
    /// Begins to select a span of time at the cursor, or fixes its end.
    Pick,
    /// Shows the life of the selected object.
    FitSelection,
    /// Shows the whole reel.
    FitAll,
    /// Undoes a jump.
    Back,
    /// Undoes the undoing.
    Forth,
    /// Starts or stops time.
    Play,
    /// Makes time faster.
    Faster,
    /// Makes time slower.
    Slower,
    /// Turns time round.
    Reverse,
    /// Moves by rows.
    Rows(i64),
    /// Goes to the other pane.
    OtherPane,
    /// Moves the border between list and panel: whether the list becomes larger.
    Border(bool),
    /// Opens what is chosen.
    Open,
    /// Goes back one step.
    Close,
    /// Shows something of the object.
    Panel(Panel),
    /// Groups lanes in the next way.
    Conditions,
    /// Pins the selected object as a lane, or takes its pin away.
    Pin,
    /// Shows lanes of pods, or hides them.
    Pods,
    /// Unfolds what is selected, or folds it: conditions, containers, Pods.
    Unfold,
    /// Lists all transitions in order of time, or the lanes again.
    Stream,
    /// Shows times in UTC, or in local time.
    Zone,
    /// Lists the resources.
    Kinds,
    /// Lists the namespaces.
    Namespaces,
    /// Sorts the list the other way.
    Order,
    /// Lists what looks wrong.
    Problems,
    /// Orders that list in another way.
    ProblemOrder,
    /// Begins again what was stopped or failed.
    Again,
    /// Goes to what went wrong first.
    First,
    /// Reports the problem of what is selected.
    Explain,
    /// Shows the keys.
    Help,
    /// Asks for a time.
    AskTime,
    /// Asks for what to look for in the panel or the log; elsewhere for a filter.
    Search,
    /// Asks for a filter.
    AskFilter,
    /// Copies the address.
    CopyAddress,
    /// Copies what the panel or the table shows.
    CopyText,
    /// Saves what the panel or the table shows.
    Save,
    /// Breaks long lines of the panel, or cuts them.
    Wrap,
    /// Takes back a letter.
    Erase,
    /// Takes back a word.
    EraseWord,
    /// Takes back the text.
    EraseAll,
    /// Ends the program.
    Quit,
}

impl KeyAction {
    /// Tells whether it is about a view of the selected object: it opens or copies one.
    pub(crate) const fn shows_object(self) -> bool {
        matches!(
            self,
            Self::Panel(_) | Self::Explain | Self::Stream | Self::CopyAddress
        )
    }

    /// Tells whether it opens another view.
    pub(crate) const fn opens_view(self) -> bool {
        self.shows_object()
            || matches!(self, Self::AskTime | Self::Kinds | Self::Zone | Self::First)
    }
}

/// What can happen.
pub(crate) enum Msg {
    /// A key with a meaning.
    Act(KeyAction),
    /// A letter, where a text is written.
    Letter(char),
    /// A text from the clipboard of the terminal.
    Pasted(String),
    /// The terminal has another size.
    Resized(u16, u16),
    /// The mouse points at a cell with its button down.
    Pointed(u16, u16),
    /// The mouse moves with its button down.
    Dragged(u16, u16),
    /// The mouse points with the button that selects a span of time; whether it was just pressed.
    Pulled(u16, u16, bool),
    /// The button of the mouse is let go.
    Released,
    /// The wheel turns over a cell; away from the hand or towards it.
    Wheel(u16, u16, TimeDirection),
    /// Microseconds passed while time plays.
    Elapsed(i64),
    /// This was kept of the reel that is about to open.
    Kept(Box<SavedState>),
    /// The bookmarks are these now, or why they could not be changed.
    Bookmarks(Result<Bookmarks, String>),
    /// The reel is open, or why it is not.
    Opened(Result<Arc<Timeline>, String>),
    /// The pass has read this many records.
    Passed(u64),
    /// The pass is done; `None` if it was stopped.
    Gathered(Option<Arc<Board>>),
    /// The progress of a search, by its number: steps done, and all steps.
    Searched(u64, (usize, usize)),
    /// The search of a number is over.
    Found(u64, SearchResult),
    /// A list to choose from cannot be shown, and why.
    NotAnswered(String),
    /// The pass failed, and why.
    NotGathered(String),
    /// The monitortests are so far.
    Judging(JudgingState),
    /// What looks wrong could not be listed, and why.
    NotListed(String),
    /// What looks wrong is listed.
    Listed(Arc<Problems>),
    /// Whether the recording goes on.
    Live(LiveState),
    /// There is more of the reel.
    Grown(Arc<Timeline>),
    /// The pass over what there is now is done.
    Regathered(Arc<Board>),
    /// The recording cannot be followed any longer, and why.
    NotFollowed(String),
    /// A question is answered.
    Answered(ScreenAnswer),
    /// A document is in a file of this path, or why it is not.
    Saved(Result<String, String>),
    /// A document is made to be copied, or why it is not.
    Fetched(Result<ScreenDocument, String>),
}
