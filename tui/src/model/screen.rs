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
    /// The keys, the first line that shows, and the screen that they are of.
    Help(usize, Box<Screen>),
    /// A time or a command is being written.
    GoTo(Choice),
    /// A filter is being written, and holds already; esc clears it.
    Filter(String),
    /// What differs between two moments; the row that is chosen.
    Compare(usize),
    /// The bookmarks; the row that is chosen.
    Bookmarks(usize),
    /// The note of a bookmark is being written.
    Note(Noting),
    /// What is looked for in the panel is being written; whether the panel is large.
    Seek {
        /// What was written.
        text: String,
        /// Whether one goes back to the large panel.
        is_large: bool,
    },
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
    /// What changed in the last seconds, of everything.
    Nearby,
    /// What differs of it between A and the cursor.
    Between,
    /// What differs between two of its versions.
    Diff,
    /// Who set its fields.
    Blame,
    /// Who owns it, and what it owns.
    Owners,
    /// Its conditions.
    Conditions,
    /// Its bytes.
    Raw,
}

impl Panel {
    /// Gives the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::History => "history",
            Self::Events => "events",
            Self::Diff => "diff",
            Self::Blame => "blame",
            Self::Owners => "owners",
            Self::Conditions => "conditions",
            Self::Raw => "json",
            Self::Nearby => "",
            Self::Between => "between A and here",
        }
    }
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
