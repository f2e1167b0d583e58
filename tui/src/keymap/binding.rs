//! Owns what a key and a row of the table of keys are. Refuses the terminal's own types: tests write
//! keys down.

use crate::msg::Act;

/// A key as a terminal sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A letter.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    /// A letter with Alt.
    Alt(char),
    /// A key with a name.
    Named(&'static str),
}

/// Where a key has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Wherever no text is written.
    Everywhere,
    /// With the timeline in sight and nothing over the list.
    Timeline,
    /// In a list that letters narrow.
    Choice,
    /// In the list of bookmarks.
    Bookmarks,
    /// In the list of what can be run.
    Palette,
    /// In the list of problems.
    Problems,
    /// Where a text is written.
    Text,
}

/// One row of the table.
pub(crate) struct Binding {
    /// The keys.
    pub(crate) keys: &'static [Key],
    /// Where.
    pub(crate) place: Where,
    /// What the first key means, and the second.
    pub(crate) acts: &'static [Act],
    /// The keys, for people.
    pub(crate) shown: &'static str,
    /// What they do.
    pub(crate) does: &'static str,
    /// A word for the footer; empty if the footer leaves it out.
    pub(crate) brief: &'static str,
}

/// Makes a row.
pub(super) const fn row(
    place: Where,
    keys: &'static [Key],
    acts: &'static [Act],
    shown: &'static str,
    does: &'static str,
    brief: &'static str,
) -> Binding {
    Binding {
        keys,
        place,
        acts,
        shown,
        does,
        brief,
    }
}
