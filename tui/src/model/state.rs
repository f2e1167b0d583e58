//! The whole state of the program. `update` alone changes it.

use super::open::Open;
use super::screen::Screen;
use crate::keep::Kept;
use crate::theme::Theme;
use kubereel_history::Moment;
use std::path::PathBuf;

/// The whole state of the program.
pub(crate) struct Model {
    /// What was asked for.
    pub(crate) request: Request,
    /// The reel.
    pub(crate) reel: Reel,
    /// What was kept of the reel, until it is open.
    pub(crate) kept: Option<Box<Kept>>,
    /// Which screen is open.
    pub(crate) screen: Screen,
    /// The terminal's columns and rows.
    pub(crate) size: (u16, u16),
    /// The colours.
    pub(crate) theme: Theme,
    /// What happened last, in words; shows until the next key.
    pub(crate) word: Option<String>,
    /// Whether the program ends.
    pub(crate) is_over: bool,
}

/// How far the reel is.
pub(crate) enum Reel {
    /// It is being opened.
    Opening,
    /// It cannot be opened.
    Failed(String),
    /// It is open.
    Open(Box<Open>),
}

impl Model {
    /// Begins with nothing read.
    pub(crate) const fn new(request: Request, theme: Theme, size: (u16, u16)) -> Self {
        Self {
            request,
            reel: Reel::Opening,
            kept: None,
            screen: Screen::Main,
            size,
            theme,
            word: None,
            is_over: false,
        }
    }

    /// Gives the reel, if it is open.
    pub(crate) const fn open(&self) -> Option<&Open> {
        match &self.reel {
            Reel::Open(open) => Some(open),
            _ => None,
        }
    }

    /// Tells whether time moves by itself.
    pub(crate) fn is_playing(&self) -> bool {
        self.open().is_some_and(|open| open.playing.is_on)
    }
}

/// What the UI is asked to show first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The reel.
    pub path: PathBuf,
    /// The moment; the start of the reel unless given.
    pub at: Option<Moment>,
    /// A resource, or an object as `RESOURCE/NAME`.
    pub select: Option<String>,
    /// The namespace of the object.
    pub namespace: String,
    /// The filter; empty for none.
    pub filter: String,
    /// The user's folder for what outlasts a run; `None` keeps nothing there.
    pub state_folder: Option<PathBuf>,
    /// Whether to begin anew, wherever one was before.
    pub is_fresh: bool,
}
