//! What is known and chosen of an open reel. Bodies are not read here: answers bring them.

use super::lanes::{ChosenRow, LaneAt, LaneList, LaneRow, Pins, Section};
use super::live::LiveReel;
use super::state::{Pane, Panes};
use super::stream::TransitionLog;
use crate::answer::{
    Difference, MOST_ROWS, NamespaceChoices, ObjectTable, Panel, ResourceChoices, SLOTS,
    ScreenAnswer, ScreenQuestion, SortOrder,
};
use crate::filter::FilterQuery;
use crate::findings::JudgingState;
use crate::keep::{BookmarkStore, Bookmarks};
use crate::lane::{Anomaly, Board, DarkSpan, Lane};
use crate::problem::{ProblemEntry, Problems};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, JumpHistory, SelectionCounts, TimeSelection, ViewWindow};
use jiff::tz::TimeZone;
use kubereel_format::{Loss, RecordedAt, ResourceId, Seq};
use kubereel_history::counttext::number;
use kubereel_history::{Density, FieldPath, Moment, ResourceTable, Timeline, harmless};
use std::sync::Arc;
use unicode_width::UnicodeWidthStr as _;

/// What the list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The lanes.
    Lanes,
    /// All transitions of lanes, in order of time.
    Stream,
    /// The objects of a resource.
    Objects(ResourceId),
}

/// A word of somebody outside of the recorder: "tests started".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineMark {
    /// When it was said.
    pub(crate) at: RecordedAt,
    /// The word.
    pub(crate) text: String,
}

/// How far the pass over the reel is.
pub(crate) enum LanePass {
    /// It runs.
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
    /// The question.
    pub(crate) question: ScreenQuestion,
    /// The table.
    pub(crate) table: Arc<ObjectTable>,
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
pub(crate) struct OpenReel {
    /// The reel.
    pub(crate) timeline: Arc<Timeline>,
    /// The cursor.
    pub(crate) place: CursorPlace,
    /// The visible span.
    pub(crate) window: ViewWindow,
    /// Where the cursor stood before.
    pub(crate) jumps: JumpHistory,
    /// The filter.
    pub(crate) filter: FilterState,
    /// The namespace that is chosen; all of them if none is.
    pub(crate) namespace: Option<String>,
    /// How lists are sorted, and the available choices.
    pub(crate) browse: BrowseState,
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
    pub(crate) field: Option<FieldPath>,
    /// What is being looked for.
    pub(crate) searches: Searches,
    /// How the panel is read.
    pub(crate) reading: PanelReading,
    /// The object.
    pub(crate) selected: Option<NamedObject>,
    /// The condition of the lane that is selected.
    pub(crate) condition: Option<Arc<str>>,
    /// How far the lanes are.
    pub(crate) pass: LanePass,
    /// What is known of problems.
    pub(crate) trouble: ProblemsState,
    /// The list of lanes.
    pub(crate) lanes: LaneList,
    /// What is pinned above them.
    pub(crate) pins: Pins,
    /// The objects, once they are read.
    pub(crate) table: Option<TableView>,
    /// What the panel shows, once it is read.
    pub(crate) answer: Option<ScreenAnswer>,
    /// The last question of each slot.
    pub(crate) asked: [Option<ScreenQuestion>; SLOTS],
    /// How many events came when, in the window.
    pub(crate) density: Option<(ViewWindow, u16, Density)>,
    /// The times without knowledge, of any resource.
    pub(crate) dark: Vec<DarkSpan>,
    /// The comparison of two moments.
    pub(crate) compared: CompareState,
    /// The zone in which times are shown, and read where they have no offset; UTC if none.
    pub(crate) zone: Option<&'static TimeZone>,
    /// The zone that a key shows instead of UTC.
    pub(crate) local_zone: Option<&'static TimeZone>,
    /// The identity of the reel; empty if unknown.
    pub(crate) id: String,
    /// Where its bookmarks lie.
    pub(crate) shelf: BookmarkStore,
    /// Its bookmarks.
    pub(crate) bookmarks: Bookmarks,
    /// What is odd and known without the lanes.
    pub(crate) odd: Vec<Anomaly>,
    /// Whether and how time moves by itself.
    pub(crate) playing: Playing,
    /// The span of time that is selected.
    pub(crate) picked: Option<TimeSelection>,
    /// What lies in it.
    pub(crate) picked_content: Option<SelectionCounts>,
    /// How list and panel share the screen.
    pub(crate) panes: Panes,
    /// The transitions, once they are listed.
    pub(crate) stream: TransitionLog,
    /// The marks of the recording, in order.
    pub(crate) marks: Vec<TimelineMark>,
    /// The problem that led to what is selected.
    pub(crate) told: Option<ToldProblem>,
    /// Whether the cursor is to go to the first problem once it is known: nobody moved it.
    pub(crate) is_awaiting: bool,
    /// The moment to go to once problems and upgrades are known, unless the user moves first.
    pub(crate) awaited: Option<Moment>,
    /// What was selected before a filter hid it.
    pub(crate) hidden: Option<NamedObject>,
    /// What changed about the cursor, for the pane that stands below the panel.
    pub(crate) standing: Option<ScreenAnswer>,
    /// Whether the recording goes on, if it did when the reel was opened.
    pub(crate) live: Option<LiveReel>,
}

/// The problem that the panel reports, until something else is selected.
#[derive(Clone, Debug)]
pub(crate) struct ToldProblem {
    /// The problem.
    pub(crate) entry: Arc<ProblemEntry>,
    /// The selection at the time of the request.
    pub(crate) over: Option<NamedObject>,
}

impl OpenReel {
    /// Gives the problem that the panel reports.
    pub(crate) fn told(&self) -> Option<&Arc<ProblemEntry>> {
        let told = self.told.as_ref()?;
        (told.over == self.selected).then_some(&told.entry)
    }

    /// Gives what the panel shows.
    pub(crate) fn shown_panel(&self) -> Panel {
        match (self.told(), self.panel) {
            (Some(_), _) => Panel::Problem,
            // The object of the problem is no longer selected.
            (None, Panel::Problem) => Panel::Yaml,
            (None, panel) => panel,
        }
    }

    /// Gives the span of the whole reel.
    pub(crate) fn bounds(&self) -> ViewWindow {
        ViewWindow::whole(self.timeline.start(), self.timeline.end())
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
            LanePass::Done(board) => Some(board),
            _ => None,
        }
    }

    /// Says how many events cannot be read; `None` as long as all can.
    pub(crate) fn unread_words(&self) -> Option<String> {
        let unread = self.board().map_or(0, |board| board.unread);
        let mut damage = self.timeline.reel().damage().iter();
        // Of lost records neither the number of events nor their objects are known.
        let has_more =
            damage.any(|damage| matches!(damage.loss, Loss::Unknown | Loss::Records { .. }));
        // The number comes first: on a narrow screen the rest is cut.
        let more = if has_more { " or more" } else { "" };
        (unread > 0).then(|| format!("{}{more} unreadable events", number(unread)))
    }

    /// Returns up to when the rules have run, if the recording went on since.
    pub(crate) fn rules_until(&self) -> Option<RecordedAt> {
        let judged_to = self.trouble.judged_to;
        let is_done = matches!(self.trouble.judging, JudgingState::Done(_));
        (is_done && judged_to < self.timeline.end()).then_some(judged_to)
    }

    /// Gives what is odd, as far as it is known.
    pub(crate) fn anomalies(&self) -> &[Anomaly] {
        self.board().map_or(&self.odd, |board| &board.anomalies)
    }

    /// Gives the place of the selection among the rows of the list.
    pub(crate) fn row(&self) -> Option<usize> {
        match self.list {
            List::Lanes => self.lane_row(),
            List::Stream => self.stream.at(self.place),
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
    pub(crate) fn sieve(&self, resource: ResourceId) -> &Arc<FilterQuery> {
        if self.timeline.objects_of(resource).len() > MOST_ROWS {
            self.filter.query()
        } else {
            self.filter.deep()
        }
    }

    /// Gives the place of the chosen row of the lanes: a head, else the lane of the selection, else
    /// that of its object.
    fn lane_row(&self) -> Option<usize> {
        match self.chosen_row() {
            Some(ChosenRow::Head(section)) => return self.lanes.head_row(section),
            Some(ChosenRow::Lane(subject)) => {
                return self.lanes.rows.iter().position(|row| match row {
                    LaneRow::Head(_) => false,
                    LaneRow::Lane(at, _) => {
                        self.lane_at(*at).is_some_and(|own| own.subject == *subject)
                    }
                });
            }
            None => {}
        }
        let selected = self.selected.as_ref()?;
        let place = |condition: Option<&Option<Arc<str>>>, has_pins: bool| {
            let is_it = |lane: &Lane| {
                lane.subject.is(selected) && condition.is_none_or(|own| lane.condition == *own)
            };
            self.lanes.rows.iter().position(|row| match row {
                LaneRow::Head(_) => false,
                LaneRow::Lane(at, _) => {
                    matches!(at, LaneAt::Pin(_) | LaneAt::PinOf(_)) == has_pins
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

    /// Gives the row that is chosen and is not of an object.
    fn chosen_row(&self) -> Option<&ChosenRow> {
        let (row, over) = self.lanes.chosen.as_ref()?;
        // Who selects something else chooses that.
        (*over == self.selected).then_some(row)
    }

    /// Gives the section whose head is chosen.
    pub(crate) fn chosen_head(&self) -> Option<&Section> {
        match self.chosen_row()? {
            ChosenRow::Head(section) => Some(section),
            ChosenRow::Lane(_) => None,
        }
    }

    /// Gives the lane that is chosen and is not of an object.
    pub(crate) fn chosen_plain(&self) -> Option<&Lane> {
        if self.list != List::Lanes || !matches!(self.chosen_row()?, ChosenRow::Lane(_)) {
            return None;
        }
        self.chosen_lane()
    }

    /// Gives a lane.
    pub(crate) fn lane_at(&self, at: LaneAt) -> Option<&Lane> {
        match at {
            LaneAt::Pin(at) => self.pins.lanes().get(at),
            LaneAt::Board(at) | LaneAt::PinOf(at) => self.board()?.lanes.get(at),
            LaneAt::Rule(at) => self.trouble.problems.as_ref()?.rules.get(at),
            LaneAt::Part(object, part) => {
                let parts = self.lanes.unfolded.get(object)?.parts.as_ref()?;
                parts.as_ref().ok()?.get(part)
            }
        }
    }

    /// Gives the lane that is selected; `None` where the list has none, or a head is chosen.
    pub(crate) fn chosen_lane(&self) -> Option<&Lane> {
        if self.list == List::Stream {
            let row = *self.stream.rows.get(self.row()?)?;
            return self.transition(row).map(|(lane, ..)| lane);
        }
        if self.list != List::Lanes {
            return None;
        }
        match self.lanes.rows.get(self.row()?)? {
            LaneRow::Head(_) => None,
            LaneRow::Lane(at, _) => self.lane_at(*at),
        }
    }

    /// Gives how many rows the list has.
    pub(crate) fn row_count(&self) -> usize {
        match self.list {
            List::Lanes => self.lanes.rows.len(),
            List::Stream => self.stream.rows.len(),
            List::Objects(_) => self.table.as_ref().map_or(0, |view| view.rows.len()),
        }
    }

    /// Gives an object, as `--select` and `-n` take it.
    pub(crate) fn select_of(&self, subject: &NamedObject) -> (String, String) {
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
            (None, List::Lanes | List::Stream) => (String::new(), String::new()),
        }
    }

    /// Writes the address: the words that lead back here after `kubereel`.
    pub(crate) fn address(&self, path: &std::path::Path) -> String {
        let reel = kubereel_format::quoted(&path.display().to_string());
        let at = self.place.written(&self.timeline);
        let mut words = format!("kubereel {reel} --at {at}");
        if let Some(selected) = &self.selected {
            words.extend([" ", &selected.flags(&self.timeline)]);
        } else if let List::Objects(resource) = self.list
            && let Some(info) = self.timeline.resources().get(resource)
        {
            words.extend([" --select ", &info.qualified()]);
        }
        let narrowing = self.narrowing();
        if !narrowing.is_empty() {
            words.extend([" --filter ", &kubereel_format::quoted(&narrowing)]);
        }
        words
    }

    /// Writes the chosen namespace and the filter as one filter; empty if nothing is hidden.
    pub(crate) fn narrowing(&self) -> String {
        let namespace = self.namespace.iter().map(|only| format!("ns:{only}"));
        let written = Some(self.filter.text().to_owned()).filter(|text| !text.is_empty());
        let all: Vec<String> = namespace.chain(written).collect();
        all.join(" ")
    }
}

/// How lists are sorted, and the available choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct BrowseState {
    /// How objects are sorted.
    pub(crate) order: SortOrder,
    /// How resources are sorted.
    pub(crate) kinds_order: SortOrder,
    /// The resources, once they are counted.
    pub(crate) kinds: Option<Arc<ResourceChoices>>,
    /// The namespaces, once they are counted.
    pub(crate) namespaces: Option<Arc<NamespaceChoices>>,
}

/// The comparison of two moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompareState {
    /// The first moment, once it is set.
    pub(crate) a: Option<CursorPlace>,
    /// What differs, once two moments were compared.
    pub(crate) difference: Option<Arc<Difference>>,
}

/// The filter; it is read when it is written, not when something is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterState {
    query: Arc<FilterQuery>,
    deep: Arc<FilterQuery>,
    error: Option<String>,
    /// The filter that held when writing began.
    before: Arc<FilterQuery>,
}

impl FilterState {
    /// Takes a filter that is being written; one that cannot be read leaves the last one.
    pub(crate) fn write(&mut self, text: &str, resources: &ResourceTable) {
        match FilterQuery::parse(text, Some(resources)) {
            Ok(query) => self.set(Arc::new(query)),
            Err(error) => self.error = Some(harmless(&error.to_string()).into_owned()),
        }
    }

    fn set(&mut self, query: Arc<FilterQuery>) {
        self.deep = Arc::new(query.only_deep());
        self.query = query;
        self.error = None;
    }

    /// Begins to write, with the text of the filter that holds.
    pub(crate) fn begin(&mut self) -> String {
        self.before = Arc::clone(&self.query);
        self.text().to_owned()
    }

    /// Goes back to the filter that held when writing began.
    pub(crate) fn cancel(&mut self) {
        self.set(Arc::clone(&self.before));
    }

    /// Lets everything through again.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets what is wrong with what was written: what holds, holds.
    pub(crate) fn forgive(&mut self) {
        self.error = None;
    }

    /// Tells whether it lets everything through.
    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_empty()
    }

    /// Gives what was written, of the filter that holds.
    pub(crate) fn text(&self) -> &str {
        self.query.text()
    }

    /// Gives what is wrong with what is being written.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Gives the filter.
    pub(crate) const fn query(&self) -> &Arc<FilterQuery> {
        &self.query
    }

    /// Gives the part of the filter that takes bodies.
    pub(crate) const fn deep(&self) -> &Arc<FilterQuery> {
        &self.deep
    }
}

/// How the panel is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct PanelReading {
    /// Whether long lines are cut rather than broken.
    pub(crate) is_cut: bool,
    /// The version that was marked as the other end of a diff, and whose it is.
    pub(crate) other: Option<(NamedObject, Seq)>,
    /// What is looked for, in lower case; empty for nothing.
    pub(crate) wanted: String,
    /// The lines that hold it.
    pub(crate) matches: Vec<usize>,
    /// Which of them shows.
    pub(crate) at: usize,
    /// How many there are, in words.
    pub(crate) hint: String,
}

impl PanelReading {
    /// Gives the version of an object that was marked.
    pub(crate) fn other_of(&self, subject: &NamedObject) -> Option<Seq> {
        let other = self.other.as_ref();
        other.filter(|(own, _)| own == subject).map(|(_, seq)| *seq)
    }

    /// Marks a version as the other end of a diff, or takes the mark away; tells which.
    pub(crate) fn mark(&mut self, subject: &NamedObject, seq: Seq) -> bool {
        if self.other_of(subject) == Some(seq) {
            self.other = None;
            return false;
        }
        self.other = Some((subject.clone(), seq));
        true
    }

    /// Breaks long lines, or cuts them; says which.
    pub(crate) fn wrap(&mut self) -> String {
        self.is_cut = !self.is_cut;
        let words = if self.is_cut {
            "long lines truncated"
        } else {
            "long lines wrapped"
        };
        words.to_owned()
    }
}

/// A search that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Searching {
    /// Its number: what is found by an earlier one is dropped.
    pub(crate) number: u64,
    /// What is looked for, in words.
    pub(crate) words: String,
    /// Steps done, and all steps; 0 while their number is unknown.
    pub(crate) done: (usize, usize),
}

/// The searches: the one that is under way, and how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Searches {
    count: u64,
    /// The one that is under way.
    pub(crate) now: Option<Searching>,
}

impl Searches {
    /// Begins a search; gives its number.
    pub(crate) fn begin(&mut self, words: String) -> u64 {
        self.count += 1;
        self.now = Some(Searching {
            number: self.count,
            words,
            done: (0, 0),
        });
        self.count
    }

    /// Takes note how far a search is.
    pub(crate) fn tell(&mut self, number: u64, done: (usize, usize)) {
        if let Some(now) = self.now.as_mut().filter(|now| now.number == number) {
            now.done = done;
        }
    }

    /// Ends a search; tells whether it is the one that is waited for.
    pub(crate) fn end(&mut self, number: u64) -> bool {
        self.now.take_if(|now| now.number == number).is_some()
    }
}

/// What is known of problems.
pub(crate) struct ProblemsState {
    /// How far the monitortests are.
    pub(crate) judging: JudgingState,
    /// The end of the recording when they began: one that is being recorded goes on.
    pub(crate) judged_to: RecordedAt,
    /// The list, once it is made.
    pub(crate) problems: Option<Arc<Problems>>,
    /// Whether what came first comes first in it, not what matters most.
    pub(crate) is_by_time: bool,
    /// How many lists are being made.
    pub(crate) making: usize,
}

impl ProblemsState {
    /// Begins with nothing known.
    pub(crate) const fn begin(end: RecordedAt) -> Self {
        Self {
            judging: JudgingState::Under(0),
            judged_to: end,
            problems: None,
            is_by_time: false,
            making: 0,
        }
    }

    /// Notes that the monitortests begin, on a recording that ends at a time.
    pub(crate) fn judge(&mut self, end: RecordedAt) {
        (self.judging, self.judged_to) = (JudgingState::Under(0), end);
    }

    /// Gives how many rows the list has.
    pub(crate) fn count(&self) -> usize {
        self.problems.as_ref().map_or(0, |all| all.entries.len())
    }

    /// Gives the place of the thing in a row of the list.
    pub(crate) fn at_row(&self, row: usize) -> Option<usize> {
        let all = self.problems.as_ref()?;
        let at = if self.is_by_time {
            *all.by_time.get(row)?
        } else {
            row
        };
        (at < all.entries.len()).then_some(at)
    }

    /// Gives the thing in a row of the list.
    pub(crate) fn row(&self, row: usize) -> Option<&ProblemEntry> {
        let at = self.at_row(row)?;
        self.problems.as_ref()?.entries.get(at)
    }
}
