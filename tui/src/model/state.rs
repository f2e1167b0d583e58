//! The whole state of the program, and which screen is open: exactly one is. `update` alone changes it.

use super::open::OpenReel;
use crate::answer::ScreenQuestion;
use crate::keep::{Bookmark, SavedState};
use crate::theme::Theme;
use jiff::tz::TimeZone;
use kubereel_history::Moment;
use std::path::PathBuf;

/// The whole state of the program.
pub(crate) struct Model {
    /// The command line.
    pub(crate) request: TuiRequest,
    /// The reel.
    pub(crate) reel: ReelState,
    /// What was kept of the reel, until it is open.
    pub(crate) kept: Option<Box<SavedState>>,
    /// Which screen is open.
    pub(crate) screen: ActiveScreen,
    /// Whether the screen was opened over the large pane, and leaving it leads back there.
    pub(crate) is_over_large: bool,
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
pub(crate) enum ReelState {
    /// It is being opened.
    Opening,
    /// It cannot be opened.
    Failed(String),
    /// It is open.
    Open(Box<OpenReel>),
}

impl Model {
    /// Begins with nothing read.
    pub(crate) const fn new(request: TuiRequest, theme: Theme, size: (u16, u16)) -> Self {
        Self {
            request,
            reel: ReelState::Opening,
            kept: None,
            screen: ActiveScreen::Main,
            is_over_large: false,
            size,
            theme,
            word: None,
            is_over: false,
        }
    }

    /// Gives the reel, if it is open.
    pub(crate) const fn open(&self) -> Option<&OpenReel> {
        match &self.reel {
            ReelState::Open(open) => Some(open),
            _ => None,
        }
    }

    /// Gives the screen to which leaving the open one leads.
    pub(crate) const fn behind(&self) -> ActiveScreen {
        if self.is_over_large {
            ActiveScreen::Large
        } else {
            ActiveScreen::Main
        }
    }

    /// Tells whether time moves by itself.
    pub(crate) fn is_playing(&self) -> bool {
        self.open().is_some_and(|open| open.playing.is_on)
    }
}

/// What the UI shows first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuiRequest {
    /// The reel, as the user names it.
    pub path: PathBuf,
    /// The file to read, if it is another one: the reel inside of what the user names.
    pub file: Option<PathBuf>,
    /// What is wrong with the file that the reel was taken from, such as a failed checksum.
    pub damage: Option<String>,
    /// The folder for copies of a reel that is being recorded; the copies have no names there.
    /// `None` follows no reel.
    pub copies: Option<PathBuf>,
    /// The moment; unless given, that of the first problem, else the end of the reel.
    pub at: Option<Moment>,
    /// A resource, or an object as `RESOURCE/NAME`.
    pub select: Option<String>,
    /// The namespace of the object.
    pub namespace: String,
    /// The filter; empty for none.
    pub filter: String,
    /// The user's folder for what outlasts a run; `None` keeps nothing there.
    pub state_folder: Option<PathBuf>,
    /// The zone in which times are shown, and read where they have no offset; UTC if none.
    pub zone: Option<&'static TimeZone>,
    /// The zone that a key shows instead of UTC; `None` if this machine has none.
    pub local_zone: Option<&'static TimeZone>,
    /// Whether to begin anew, wherever one was before.
    pub is_fresh: bool,
}

/// What the keys mean and what covers the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ActiveScreen {
    /// The timeline, a list and a panel.
    #[default]
    Main,
    /// One pane fills what the timeline leaves.
    Large,
    /// The resources to choose from.
    Kinds(PickerState),
    /// The namespaces to choose from.
    Namespaces(PickerState),
    /// What looks wrong; the row that is chosen.
    Problems(usize),
    /// The keys, the first line that shows, and the screen that they are of.
    Help(usize, Box<ActiveScreen>),
    /// A time or a command is being written.
    GoTo(PickerState),
    /// A filter is being written, and holds already; esc restores the one before.
    Filter(String),
    /// What differs between two moments; the row that is chosen.
    Compare(usize),
    /// The bookmarks; the row that is chosen.
    Bookmarks(usize),
    /// The note of a bookmark is being written.
    Note(NoteInput),
    /// The path of a file is being written.
    SaveAs(Box<SaveInput>),
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
pub(crate) struct NoteInput {
    /// What is written.
    pub(crate) text: String,
    /// The bookmark whose note it is; `None` for one that is to be set.
    pub(crate) of: Option<Bookmark>,
}

/// The path of a file that is being written, and what goes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SaveInput {
    /// What is written.
    pub(crate) text: String,
    /// What goes there.
    pub(crate) question: ScreenQuestion,
    /// The screen that one goes back to.
    pub(crate) of: ActiveScreen,
}

/// The longest text that can be written, in bytes: each letter of a filter is read anew.
pub(crate) const MOST_WRITTEN_BYTES: usize = 1_000;

/// Which part of the main screen the keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    /// The lanes or objects.
    #[default]
    List,
    /// The panel.
    Panel,
}

/// A list to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PickerState {
    /// The row that is chosen, of those that the letters leave.
    pub(crate) at: usize,
    /// The letters.
    pub(crate) text: String,
}

impl PickerState {
    /// Tells whether a name is left.
    pub(crate) fn leaves(&self, name: &str) -> bool {
        let mut words = self.text.split_whitespace();
        let name = name.to_lowercase();
        words.all(|word| name.contains(&word.to_lowercase()))
    }
}

/// The smallest and the largest share of the list, in hundredths.
const BOUNDS: (u16, u16) = (20, 80);
/// How far a key moves the border, in hundredths.
const STEP: u16 = 5;

/// How list and panel share the screen: hundredths that are the list's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panes {
    below: u16,
    beside: u16,
    /// Whether the mouse holds the border.
    pub(crate) is_held: bool,
}

impl Default for Panes {
    fn default() -> Self {
        Self {
            below: 45,
            beside: 60,
            is_held: false,
        }
    }
}

impl Panes {
    /// Takes the shares of an earlier session: of the rows, and of the columns.
    pub(crate) fn of(rows: u16, columns: u16) -> Self {
        let within = |share: u16| share.clamp(BOUNDS.0, BOUNDS.1);
        Self {
            below: within(rows),
            beside: within(columns),
            is_held: false,
        }
    }

    /// Gives the shares: of the rows where the panel lies below, of the columns where it lies beside.
    pub(crate) const fn shares(self) -> (u16, u16) {
        (self.below, self.beside)
    }

    /// Moves the border by steps of a key.
    pub(crate) fn moved(self, is_beside: bool, is_larger: bool) -> Self {
        let step = |share: u16| {
            if is_larger {
                share.saturating_add(STEP)
            } else {
                share.saturating_sub(STEP)
            }
        };
        if is_beside {
            Self::of(self.below, step(self.beside))
        } else {
            Self::of(step(self.below), self.beside)
        }
    }

    /// Puts the border behind `own` of all rows or columns; the mouse keeps it.
    #[expect(clippy::expect_used, reason = "a percentage fits")]
    pub(crate) fn put(self, is_beside: bool, own: u16, all: u16) -> Self {
        let share = u32::from(own.min(all)) * 100 / u32::from(all.max(1));
        let share = u16::try_from(share).expect("at most 100");
        let (rows, columns) = if is_beside {
            (self.below, share)
        } else {
            (share, self.beside)
        };
        Self {
            is_held: self.is_held,
            ..Self::of(rows, columns)
        }
    }

    /// Gives how many of all rows or columns are the list's.
    #[expect(clippy::expect_used, reason = "a part of a u16 fits")]
    pub(crate) fn own(self, is_beside: bool, all: u16) -> u16 {
        let (rows, columns) = self.shares();
        let share = if is_beside { columns } else { rows };
        let own = u32::from(all) * u32::from(share) / 100;
        u16::try_from(own).expect("a share of all")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_border_reaches_an_edge() {
        let mut panes = Panes::default();
        for _ in 0..40 {
            panes = panes.moved(true, true).moved(false, false);
        }
        assert_eq!(panes.shares(), (20, 80));
        assert_eq!(panes.put(true, 0, 100).shares(), (20, 20));
        assert_eq!(Panes::of(0, 1_000).shares(), (20, 80));
        assert_eq!(panes.own(true, 120), 96);
    }

    #[test]
    fn the_border_stays_where_the_mouse_put_it() {
        for all in [20_u16, 33, 100, 213] {
            for own in all / 5 + 1..all * 4 / 5 {
                let put = Panes::default().put(true, own, all);
                let found = put.own(true, all);
                assert!(
                    own.abs_diff(found) <= all / 100 + 1,
                    "{own} of {all}: {found}"
                );
            }
        }
    }
}
