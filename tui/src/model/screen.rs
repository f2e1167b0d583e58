//! Owns which screen is open. Refuses sets of flags: exactly one is.

use super::choice::Choice;
use crate::keep::Bookmark;

/// What the keys mean and what covers the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Screen {
    /// The timeline, a list and a panel.
    #[default]
    Main,
    /// One pane fills what the timeline leaves.
    Large,
    /// The resources to choose from.
    Kinds(Choice),
    /// The namespaces to choose from.
    Namespaces(Choice),
    /// What looks wrong; the row that is chosen.
    Problems(usize),
    /// The keys; the first line that shows.
    Help(usize),
    /// A time is being written.
    GoTo(String),
    /// A filter is being written, and holds already; esc clears it.
    Filter(String),
    /// The bookmarks; the row that is chosen.
    Bookmarks(usize),
    /// The note of a bookmark is being written.
    Note(Noting),
}

/// A note that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noting {
    /// What is written.
    pub(crate) text: String,
    /// The bookmark whose note it is; `None` for one that is to be set.
    pub(crate) of: Option<Bookmark>,
}

/// What the panel shows of the selected object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    /// Its YAML.
    #[default]
    Yaml,
    /// Its versions.
    History,
    /// The Events about it.
    Events,
}

/// Which part of the main screen the keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    /// The lanes or objects.
    #[default]
    List,
    /// The panel.
    Panel,
}
