//! Owns what is known and chosen once a reel is open. Refuses to read bodies: answers bring them.

use super::browse::Browse;
use super::compare::Compared;
use super::filtering::Filtering;
use super::lane_list::{LaneAt, LaneList, LaneRow};
use super::panes::Panes;
use super::picked::{Content, Picked};
use super::pins::Pins;
use super::place::{Jumps, Place};
use super::reading::Reading;
use super::screen::{Pane, Panel};
use super::search::Searches;
use super::section::Section;
use super::subject::Subject;
use super::trouble::Trouble;
use super::window::Window;
use crate::answer::{Answer, MOST_ROWS, Question, SLOTS, Table};
use crate::filter::Query;
use crate::keep::{Bookmarks, Shelf};
use crate::lane::{Anomaly, Board, DarkSpan, Lane};
use kubereel_format::ResourceId;
use kubereel_history::{Density, Path, Timeline};
use std::sync::Arc;
use unicode_width::UnicodeWidthStr as _;

/// What the list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The lanes.
    Lanes,
    /// The objects of a resource.
    Objects(ResourceId),
}

/// How far the pass over the reel is.
pub(crate) enum Pass {
    /// It is under way: so many records of all are read.
    Under {
        /// How many are read.
        done: u64,
    },
    /// It was stopped.
    Stopped,
    /// It failed, and why.
    Failed(String),
    /// It is done.
    Done(Arc<Board>),
}

/// Whether and how time moves by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Playing {
    /// Whether it moves.
    pub(crate) is_on: bool,
    /// How many seconds pass in one.
    pub(crate) speed: i64,
    /// Whether it moves backward.
    pub(crate) is_reverse: bool,
}

impl Default for Playing {
    fn default() -> Self {
        Self {
            is_on: false,
            speed: 1,
            is_reverse: false,
        }
    }
}

/// A table with the rows that the filter leaves.
#[derive(Clone, Debug)]
pub(crate) struct TableView {
    /// What was asked.
    pub(crate) question: Question,
    /// The table.
    pub(crate) table: Arc<Table>,
    /// The places of its rows that show.
    pub(crate) rows: Vec<usize>,
    /// How wide the cells of those rows are, by column.
    pub(crate) widths: Vec<usize>,
}

impl TableView {
    /// Measures the rows that show.
    pub(crate) fn measure(&mut self) {
        let names = self.table.columns.iter();
        self.widths = names.map(|name| name.width()).collect();
        for row in self.rows.iter().filter_map(|at| self.table.rows.get(*at)) {
            for (width, cell) in self.widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.width());
            }
        }
    }
}

/// What is known and chosen of an open reel.
pub(crate) struct Open {
    /// The reel.
    pub(crate) timeline: Arc<Timeline>,
    /// The cursor.
    pub(crate) place: Place,
    /// The visible span.
    pub(crate) window: Window,
    /// Where the cursor stood before.
    pub(crate) jumps: Jumps,
    /// The filter.
    pub(crate) filter: Filtering,
    /// The namespace that is chosen; all of them if none is.
    pub(crate) namespace: Option<String>,
    /// How lists are sorted, and what there is to choose from.
    pub(crate) browse: Browse,
    /// What the list shows.
    pub(crate) list: List,
    /// Which pane the keys move in.
    pub(crate) pane: Pane,
    /// What the panel shows.
    pub(crate) panel: Panel,
    /// The first line of the panel that shows.
    pub(crate) scroll: usize,
    /// The line of the panel at which the keys are.
    pub(crate) line: usize,
    /// The field that is followed, once one was chosen.
    pub(crate) field: Option<Path>,
    /// What is being looked for.
    pub(crate) searches: Searches,
    /// How the panel is read.
    pub(crate) reading: Reading,
    /// The object.
    pub(crate) selected: Option<Subject>,
    /// The condition of the lane that is selected.
    pub(crate) condition: Option<Arc<str>>,
    /// How far the lanes are.
    pub(crate) pass: Pass,
    /// What is known of problems.
    pub(crate) trouble: Trouble,
    /// The list of lanes.
    pub(crate) lanes: LaneList,
    /// What is pinned above them.
    pub(crate) pins: Pins,
    /// The objects, once they are read.
    pub(crate) table: Option<TableView>,
    /// What the panel shows, once it is read.
    pub(crate) answer: Option<Answer>,
    /// What was asked last, by slot.
    pub(crate) asked: [Option<Question>; SLOTS],
    /// How many events came when, in the window.
    pub(crate) density: Option<(Window, u16, Density)>,
    /// The times without knowledge, of any resource.
    pub(crate) dark: Vec<DarkSpan>,
    /// The comparison of two moments.
    pub(crate) compared: Compared,
    /// What the reel is known by; empty if nobody told.
    pub(crate) id: String,
    /// Where its bookmarks lie.
    pub(crate) shelf: Shelf,
    /// Its bookmarks.
    pub(crate) bookmarks: Bookmarks,
    /// What is odd and known without the lanes.
    pub(crate) odd: Vec<Anomaly>,
    /// Whether and how time moves by itself.
    pub(crate) playing: Playing,
    /// The span of time that is selected.
    pub(crate) picked: Option<Picked>,
    /// What lies in it.
    pub(crate) picked_content: Option<Content>,
    /// How list and panel share the screen.
    pub(crate) panes: Panes,
    /// Whether what changed about the cursor has a strip below the list.
    pub(crate) has_changed_strip: bool,
}

impl Open {
    /// Gives the span of the whole reel.
    pub(crate) fn bounds(&self) -> Window {
        Window::whole(self.timeline.start(), self.timeline.end())
    }

    /// Takes the one namespace that a filter begins with as the one that is chosen: so an address
    /// that says both leads back to both.
    pub(crate) fn take_namespace(&mut self) {
        let Some(only) = self.filter.query().namespace().map(str::to_owned) else {
            return;
        };
        let rest = self.filter.text().strip_prefix(&format!("ns:{only}"));
        let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(' ')) else {
            return;
        };
        let rest = rest.to_owned();
        let timeline = Arc::clone(&self.timeline);
        self.filter.write(&rest, timeline.resources());
        self.namespace = Some(only);
    }

    /// Gives what the pass found, if it is done.
    pub(crate) const fn board(&self) -> Option<&Arc<Board>> {
        match &self.pass {
            Pass::Done(board) => Some(board),
            _ => None,
        }
    }

    /// Gives what is odd, as far as it is known.
    pub(crate) fn anomalies(&self) -> &[Anomaly] {
        self.board().map_or(&self.odd, |board| &board.anomalies)
    }

    /// Gives the place of the selection among the rows of the list.
    pub(crate) fn row(&self) -> Option<usize> {
        match self.list {
            List::Lanes => self.lane_row(),
            List::Objects(_) => {
                let selected = self.selected.as_ref()?;
                let view = self.table.as_ref()?;
                view.rows.iter().position(|at| {
                    let row = view.table.rows.get(*at);
                    row.is_some_and(|row| row.subject == *selected)
                })
            }
        }
    }

    /// Gives what objects of a resource have to pass before they are listed: where there may be more
    /// than a table holds, all of the filter, else what takes their bodies.
    pub(crate) fn sieve(&self, resource: ResourceId) -> &Arc<Query> {
        if self.timeline.objects_of(resource).len() > MOST_ROWS {
            self.filter.query()
        } else {
            self.filter.deep()
        }
    }

    /// Gives the place of the chosen row of the lanes: a head, else the lane of the selection, else
    /// that of its object.
    fn lane_row(&self) -> Option<usize> {
        if let Some(section) = self.chosen_head() {
            return self.lanes.head_row(section);
        }
        let selected = self.selected.as_ref()?;
        let place = |condition: Option<&Option<Arc<str>>>, has_pins: bool| {
            let is_it = |lane: &Lane| {
                lane.subject == *selected && condition.is_none_or(|own| lane.condition == *own)
            };
            self.lanes.rows.iter().position(|row| match row {
                LaneRow::Head(_) => false,
                LaneRow::Lane(at) => {
                    matches!(at, LaneAt::Board(_)) != has_pins
                        && self.lane_at(*at).is_some_and(is_it)
                }
            })
        };
        let first = self.lanes.is_pin_chosen;
        let wanted = [Some(&self.condition), Some(&None), None];
        wanted
            .into_iter()
            .find_map(|own| place(own, first).or_else(|| place(own, !first)))
    }

    /// Gives the section whose head is chosen.
    pub(crate) fn chosen_head(&self) -> Option<&Section> {
        let (section, over) = self.lanes.head.as_ref()?;
        // Who selects something else chooses that, not the head.
        (*over == self.selected).then_some(section)
    }

    /// Gives a lane.
    pub(crate) fn lane_at(&self, at: LaneAt) -> Option<&Lane> {
        match at {
            LaneAt::Pin(at) => self.pins.lanes().get(at),
            LaneAt::Board(at) | LaneAt::PinOf(at) => self.board()?.lanes.get(at),
        }
    }

    /// Gives the lane that is selected; `None` where the list has none, or a head is chosen.
    pub(crate) fn chosen_lane(&self) -> Option<&Lane> {
        if self.list != List::Lanes {
            return None;
        }
        match self.lanes.rows.get(self.row()?)? {
            LaneRow::Head(_) => None,
            LaneRow::Lane(at) => self.lane_at(*at),
        }
    }

    /// Gives how many rows the list has.
    pub(crate) fn row_count(&self) -> usize {
        match self.list {
            List::Lanes => self.lanes.rows.len(),
            List::Objects(_) => self.table.as_ref().map_or(0, |view| view.rows.len()),
        }
    }

    /// Gives an object, as `--select` and `-n` take it.
    pub(crate) fn select_of(&self, subject: &Subject) -> (String, String) {
        let name = self.resource_name(subject.resource);
        (
            format!("{name}/{}", subject.name),
            subject.namespace.clone(),
        )
    }

    fn resource_name(&self, resource: ResourceId) -> String {
        let info = self.timeline.resources().get(resource);
        info.map(kubereel_format::ResourceInfo::qualified)
            .unwrap_or_default()
    }

    /// Gives what is chosen, as `--select` and `-n` take it; empty for nothing.
    pub(crate) fn chosen(&self) -> (String, String) {
        match (&self.selected, self.list) {
            (Some(selected), _) => self.select_of(selected),
            (None, List::Objects(resource)) => (self.resource_name(resource), String::new()),
            (None, List::Lanes) => (String::new(), String::new()),
        }
    }

    /// Writes the address: the words that lead back here after `kubereel`.
    pub(crate) fn address(&self, path: &std::path::Path) -> String {
        let reel = super::subject::quoted(&path.display().to_string());
        let at = self.place.written(&self.timeline);
        let mut words = format!("kubereel {reel} --at {at}");
        if let Some(selected) = &self.selected {
            words.extend([" ", &selected.flags(&self.timeline)]);
        } else if let List::Objects(resource) = self.list
            && let Some(info) = self.timeline.resources().get(resource)
        {
            words.extend([" --select ", &info.qualified()]);
        }
        let namespace = self.namespace.iter().map(|only| format!("ns:{only}"));
        let written = Some(self.filter.text().to_owned()).filter(|text| !text.is_empty());
        let filter: Vec<String> = namespace.chain(written).collect();
        if !filter.is_empty() {
            words.extend([" --filter ", &super::subject::quoted(&filter.join(" "))]);
        }
        words
    }
}
