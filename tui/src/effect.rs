//! What the program asks of the world; `runtime` does it.

use crate::answer::{ScreenQuestion, ScreenSearch};
use crate::findings::Findings;
use crate::keep::{BookmarkChange, BookmarkStore};
use crate::lane::Board;
use crate::model::TuiRequest;
use kubereel_history::Timeline;
use std::path::PathBuf;
use std::sync::Arc;

/// What the program asks of the world.
pub(crate) enum Effect {
    /// Open a reel.
    Open(Box<TuiRequest>),
    /// Read a reel once, for its lanes.
    Gather(Arc<Timeline>),
    /// Stop the pass.
    StopGathering,
    /// Run the monitortests on a reel.
    Judge(PathBuf),
    /// Stop them.
    StopJudging,
    /// List what looks wrong, of what is known so far.
    List(Arc<Timeline>, Option<Arc<Board>>, Option<Arc<Findings>>),
    /// Answer a question; a later one of the same kind makes it void.
    Ask(Arc<Timeline>, ScreenQuestion),
    /// Look for something in many bodies, by the number of the search; it makes an earlier one void.
    Search(Arc<Timeline>, u64, ScreenSearch),
    /// Look for nothing any longer.
    StopSearch,
    /// Change the bookmarks beside the reel.
    Bookmark(BookmarkStore, BookmarkChange),
    /// Save what a question shows to a file.
    Save(Arc<Timeline>, ScreenQuestion, PathBuf),
    /// Make the document of what a question shows.
    Fetch(Arc<Timeline>, ScreenQuestion),
    /// Put a text on the clipboard.
    Copy(String),
}
