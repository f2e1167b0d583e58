//! Owns the list of lanes: rows under heads, which of them show, and what their cells are. Refuses to
//! find them: `update` does, when something changed.

use super::section::{Grouping, Section};
use super::subject::Subject;
use super::window::Window;
use crate::lane::LaneCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a lane is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneAt {
    /// Among the pins.
    Pin(usize),
    /// Among the pins, of an object that has a lane on the board.
    PinOf(usize),
    /// On the board.
    Board(usize),
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaneRow {
    /// The head of a section.
    Head(Head),
    /// A lane.
    Lane(LaneAt),
}

/// The head of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The section.
    pub(crate) section: Section,
    /// Its lanes, of objects.
    pub(crate) lanes: Vec<LaneAt>,
    /// Whether they are hidden.
    pub(crate) is_folded: bool,
}

/// What the cells of a row show.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    /// Those of a lane.
    Lane(Arc<[LaneCell]>),
    /// Those of a head: where something of its section is not known.
    Head(Arc<[bool]>),
}

/// The list of lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneList {
    /// How lanes are grouped.
    pub(crate) grouping: Grouping,
    /// What somebody folded or unfolded.
    pub(crate) folds: BTreeMap<Section, bool>,
    /// The rows.
    pub(crate) rows: Vec<LaneRow>,
    /// The first row that shows.
    pub(crate) first: usize,
    /// The head that is chosen, and over which selected object it was.
    pub(crate) head: Option<(Section, Option<Subject>)>,
    /// The selected object for which the rows were found: its section is not folded.
    pub(crate) sought: Option<Subject>,
    /// Whether the selected lane is that among the pins.
    pub(crate) is_pin_chosen: bool,
    /// The window and the count of cells for which cells are kept.
    pub(crate) kept_for: Option<(Window, u16)>,
    /// The cells of rows that showed, by the place of the row.
    pub(crate) cells: BTreeMap<usize, Cells>,
    /// How many lanes are bad at the cursor, and how many unknown, by the place of the head.
    pub(crate) bad: BTreeMap<usize, (usize, usize)>,
}

impl LaneList {
    /// Tells whether a section is folded; what a filter found is not hidden unless somebody hides it.
    pub(crate) fn is_folded(&self, section: &Section, is_filtered: bool) -> bool {
        let first = section.is_folded_first() && !is_filtered;
        self.folds.get(section).copied().unwrap_or(first)
    }

    /// Gives the place of a section's head.
    pub(crate) fn head_row(&self, section: &Section) -> Option<usize> {
        let is_it = |row: &LaneRow| matches!(row, LaneRow::Head(head) if head.section == *section);
        self.rows.iter().position(is_it)
    }

    /// Gives how many of the first rows stay in sight: those of the pins, of a third of the height at
    /// most.
    pub(crate) fn sticky(&self, height: usize) -> usize {
        let pins = match self.rows.first() {
            Some(LaneRow::Head(head)) if head.section == Section::Pins => {
                let mut heads = self.rows.iter().skip(1);
                let next = heads.position(|row| matches!(row, LaneRow::Head(_)));
                next.map_or(self.rows.len(), |next| next + 1)
            }
            _ => 0,
        };
        pins.min(height / 3)
    }

    /// Gives the places of the rows that show.
    pub(crate) fn shown(&self, height: usize) -> impl Iterator<Item = usize> + use<> {
        let sticky = self.sticky(height);
        let rest = self.first.max(sticky)..self.rows.len();
        (0..sticky).chain(rest).take(height)
    }

    /// Gives the first row that is a lane.
    pub(crate) fn first_lane(&self) -> Option<usize> {
        let is_lane = |row: &LaneRow| matches!(row, LaneRow::Lane(_));
        self.rows.iter().position(is_lane)
    }

    /// Gives the sections that have a head.
    pub(crate) fn sections(&self) -> BTreeSet<Section> {
        let heads = self.rows.iter().filter_map(|row| match row {
            LaneRow::Head(head) => Some(head.section.clone()),
            LaneRow::Lane(_) => None,
        });
        heads.collect()
    }

    /// Forgets all cells.
    pub(crate) fn forget(&mut self) {
        self.cells.clear();
        self.bad.clear();
        self.kept_for = None;
    }
}
