//! The rows of lanes and their cells, computed when something changed, so that drawing only draws. Only
//! visible rows have cells.

use super::choosing;
use crate::answer::ScreenQuestion;
use crate::filter::{FilterCandidate, FilterQuery};
use crate::lane::{Lane, LaneGroup, LaneState, LaneSubject, ObjectParts};
use crate::layout::{Layout, first_row};
use crate::model::{
    ChosenRow, LaneAt, LaneRow, List, MOST_UNFOLDED, OpenReel, RowCells, Section, SectionHead,
    StreamRow, UnfoldedObject,
};
use crate::subject::NamedObject;
use crate::time::{TimeDirection, span_text};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use unicode_width::UnicodeWidthStr as _;

/// Cells of more rows than this are not kept.
const MOST_KEPT: usize = 2_000;

/// Finds the rows that filter, namespace and folds leave.
pub(super) fn arrange(open: &mut OpenReel) {
    open.lanes.has_operators = open.board().is_some_and(|board| {
        let mut lanes = board.lanes.iter();
        lanes.any(|lane| lane.group == LaneGroup::Operators)
    });
    let query = Arc::clone(open.filter.query());
    let is_filtered = !query.is_empty();
    let mut sections: BTreeMap<Section, Vec<LaneAt>> = BTreeMap::new();
    for (at, lane) in pinned(open) {
        if has(open, &query, lane) {
            sections.entry(Section::Pins).or_default().push(at);
        }
    }
    let board = open.board().map_or(&[][..], |board| &board.lanes);
    for (at, lane) in board.iter().enumerate() {
        let own = lane.subject.namespace();
        let is_near = own.is_empty() || open.namespace.as_ref().is_none_or(|only| only == own);
        if is_near
            && let Some(section) = open.lanes.grouping.section(lane)
            && has(open, &query, lane)
        {
            sections.entry(section).or_default().push(LaneAt::Board(at));
        }
    }
    for (at, lane) in rules(open).iter().enumerate() {
        if has(open, &query, lane) {
            let rules = sections.entry(Section::Rules).or_default();
            rules.push(LaneAt::Rule(at));
        }
    }
    let nested = pods_of_unfolded(open);
    unfold_selected(open, &sections, &nested, is_filtered);
    let mut rows = Vec::new();
    for (section, lanes) in sections {
        let is_folded = open.lanes.is_folded(&section, is_filtered);
        let shown = if is_folded { Vec::new() } else { lanes.clone() };
        rows.push(LaneRow::Head(SectionHead {
            section,
            lanes,
            is_folded,
        }));
        for at in shown {
            // A Pod stands once: below its workload.
            let is_below = matches!(at, LaneAt::Board(at) if nested.contains(&at));
            if !is_below {
                add_rows(open, at, 0, &mut rows);
            }
        }
    }
    open.lanes.longest = longest(open);
    open.lanes.rows = rows;
    open.lanes.sought = open.selected.clone();
    open.lanes.forget();
    if open.list == List::Stream {
        list_transitions(open);
    }
}

/// Gives the lanes of the tests that failed or flaked.
fn rules(open: &OpenReel) -> &[Lane] {
    let problems = open.trouble.problems.as_ref();
    problems.map_or(&[], |problems| &problems.rules)
}

/// Gives the lanes of Pods that stand below unfolded workloads, by their places on the board.
fn pods_of_unfolded(open: &OpenReel) -> BTreeSet<usize> {
    let Some(board) = open.board().filter(|_| !open.lanes.unfolded.is_empty()) else {
        return BTreeSet::new();
    };
    let is_unfolded = |at: &usize| {
        let object = board.lanes.get(*at).and_then(|lane| lane.subject.object());
        object.is_some_and(|object| open.lanes.unfolded_at(object).is_some())
    };
    let all = board.pods.iter().filter(|(at, _)| is_unfolded(at));
    all.flat_map(|(_, pods)| pods).copied().collect()
}

/// Adds a lane and what is unfolded below it: conditions and containers, then the Pods of a workload.
fn add_rows(open: &OpenReel, at: LaneAt, depth: usize, rows: &mut Vec<LaneRow>) {
    rows.push(LaneRow::Lane(at, depth));
    let lane = open.lane_at(at).filter(|lane| lane.condition.is_none());
    let subject = lane.and_then(|lane| lane.subject.object());
    let Some(object) = subject.and_then(|subject| open.lanes.unfolded_at(subject)) else {
        return;
    };
    let parts = open.lanes.unfolded.get(object);
    let parts = parts.and_then(|one| one.parts.as_ref()?.as_ref().ok());
    let count = parts.map_or(0, |parts| parts.len());
    rows.extend((0..count).map(|part| LaneRow::Lane(LaneAt::Part(object, part), depth + 1)));
    // A workload has Pods, and these have none: the depth is bounded.
    if let LaneAt::Board(place) | LaneAt::PinOf(place) = at
        && let Some(pods) = open.board().and_then(|board| board.pods.get(&place))
    {
        for pod in pods {
            add_rows(open, LaneAt::Board(*pod), depth + 1, rows);
        }
    }
}

/// Counts the rows that stand below a lane and belong to it.
fn below(rows: &[LaneRow], row: usize) -> usize {
    let depth_of = |row: &LaneRow| match row {
        LaneRow::Head(_) => None,
        LaneRow::Lane(_, depth) => Some(*depth),
    };
    let Some(own) = rows.get(row).and_then(depth_of) else {
        return 0;
    };
    let after = rows.iter().skip(row + 1);
    let own = after.take_while(|row| depth_of(row).is_some_and(|depth| depth > own));
    own.count()
}

/// Unfolds the selected object, or folds it again; gives a word where that is not possible.
pub(super) fn unfold(open: &mut OpenReel) -> Option<String> {
    if open.list != List::Lanes {
        return Some("only lanes unfold: esc shows them".to_owned());
    }
    if let Some(section) = open.chosen_head().cloned() {
        fold(open, &section);
        return None;
    }
    let Some(subject) = open
        .selected
        .clone()
        .filter(|_| open.chosen_plain().is_none())
    else {
        return Some("select an object to unfold it".to_owned());
    };
    if let Some(at) = open.lanes.unfolded_at(&subject) {
        open.lanes.unfolded.remove(at);
        open.condition = None;
    } else if open.lanes.unfolded.len() >= MOST_UNFOLDED {
        return Some("too many objects are unfolded: X folds one".to_owned());
    } else {
        open.lanes.unfolded.push(UnfoldedObject {
            subject,
            parts: None,
            is_old: false,
        });
    }
    arrange(open);
    None
}

/// Asks for the parts of an unfolded object that has none yet.
pub(super) fn parts_question(open: &OpenReel) -> Option<ScreenQuestion> {
    let mut unfolded = open.lanes.unfolded.iter();
    let next = unfolded.find(|one| one.parts.is_none() || one.is_old)?;
    Some(ScreenQuestion::Parts(next.subject.clone()))
}

/// Takes the parts of an unfolded object.
pub(super) fn take_parts(open: &mut OpenReel, question: &ScreenQuestion, parts: ObjectParts) {
    let ScreenQuestion::Parts(subject) = question else {
        return;
    };
    if let Some(at) = open.lanes.unfolded_at(subject)
        && let Some(one) = open.lanes.unfolded.get_mut(at)
    {
        one.parts = Some(parts);
        one.is_old = false;
        open.lanes.forget();
        arrange(open);
    }
}

/// Says why the selected object unfolds to nothing.
pub(super) fn without_parts(open: &OpenReel) -> Option<&str> {
    let subject = open.selected.as_ref()?;
    let unfolded = open.lanes.unfolded.get(open.lanes.unfolded_at(subject)?)?;
    let why = unfolded.parts.as_ref()?.as_ref().err()?;
    let row = open.row()?;
    // Pods below a workload are enough.
    let next = open.lanes.rows.get(row + 1);
    let has_pods = matches!(next, Some(LaneRow::Lane(_, depth)) if *depth > 0);
    (!has_pods).then_some(why)
}

/// More states of a lane without an object are not listed.
const MOST_TOLD: usize = 200;

/// Tells the states of a lane that is not of an object, for the panel.
pub(super) fn plain_text(open: &OpenReel, lane: &Lane) -> String {
    let what = match &lane.subject {
        LaneSubject::Server => {
            "When the recorder reached the API server: its probes and connections"
        }
        _ => "When the test found something; enter goes there",
    };
    let ends = lane.spells.iter().skip(1).map(|next| next.from);
    let ends = ends.chain([open.timeline.end()]);
    let all = lane.spells.iter().zip(ends);
    let told = all.filter(|(spell, _)| spell.state != LaneState::Good);
    let rest = told.clone().count().saturating_sub(MOST_TOLD);
    let lines = told.take(MOST_TOLD).map(|(spell, end)| {
        let [from, to] = [spell.from, end].map(|at| open.timeline.written(at));
        let long = span_text(end.micros_since(spell.from));
        let state = spell.state.word();
        format!("{from} – {to} ({long})  {state} {}", spell.word)
    });
    let mut lines: Vec<String> = [what.to_owned(), String::new()]
        .into_iter()
        .chain(lines)
        .collect();
    if lines.len() == 2 {
        lines.push("never anything else than good".to_owned());
    }
    if rest > 0 {
        lines.push(format!("and {rest} more"));
    }
    lines.join("\n")
}

/// Measures the longest name of a lane.
fn longest(open: &OpenReel) -> usize {
    let board = open.board().map_or(&[][..], |board| &board.lanes);
    let is_first = |lane: &&Lane| match lane.group {
        LaneGroup::Pods => false,
        LaneGroup::Workloads | LaneGroup::Services | LaneGroup::Customs => {
            !open.lanes.has_operators
        }
        _ => true,
    };
    let lanes = board.iter().filter(is_first);
    lanes
        .map(|lane| lane.subject.label().width())
        .max()
        .unwrap_or(0)
}

/// Lists the transitions that filter and namespace leave; of an object that has conditions, those of its
/// conditions.
pub(super) fn list_transitions(open: &mut OpenReel) {
    let query = Arc::clone(open.filter.query());
    let board = open.board().map_or(&[][..], |board| &board.lanes);
    let has_whole_only = |lane: &Lane| {
        !matches!(
            lane.group,
            LaneGroup::Version | LaneGroup::Operators | LaneGroup::Pools | LaneGroup::Nodes
        )
    };
    let is_near =
        |own: &str| own.is_empty() || open.namespace.as_ref().is_none_or(|only| only == own);
    let lanes = board.iter().enumerate().filter(|(_, lane)| {
        (lane.condition.is_some() || has_whole_only(lane))
            && is_near(lane.subject.namespace())
            && has(open, &query, lane)
    });
    let rows = lanes.flat_map(|(at, lane)| {
        let spells = lane.spells.iter().enumerate();
        spells.map(move |(spell, own)| StreamRow {
            from: own.from,
            seq: own.seq,
            lane: at,
            spell,
        })
    });
    let rows = rows.collect();
    open.stream.take(rows);
}

/// Asks who wrote the transitions in sight that nobody asked for yet.
pub(super) fn writers_question(open: &OpenReel, height: u16) -> Option<ScreenQuestion> {
    if open.list != List::Stream {
        return None;
    }
    // The head takes a row.
    let height = height.saturating_sub(1);
    let count = open.stream.rows.len();
    let first = first_row(open.row().unwrap_or(0), count, height);
    let unknown = open.stream.unwritten(first, usize::from(height));
    (!unknown.is_empty()).then_some(ScreenQuestion::Writers(unknown))
}

/// Shows the log of transitions, or the lanes again.
pub(super) fn stream(open: &mut OpenReel) -> Option<String> {
    if open.board().is_none() {
        return Some("still loading: transitions are not known yet".to_owned());
    }
    open.table = None;
    open.stream.wanted.clear();
    if open.list == List::Stream {
        open.list = List::Lanes;
        return None;
    }
    open.list = List::Stream;
    list_transitions(open);
    if let Some(row) = nearest_of_selected(open) {
        open.stream.choose(row, open.place);
    }
    let row = open
        .row()
        .and_then(|row| open.stream.rows.get(row))
        .copied();
    let shown = row.and_then(|row| open.transition(row));
    let shown = shown.and_then(|(lane, ..)| {
        let object = lane.subject.object()?;
        Some((object.clone(), lane.condition.clone()))
    });
    if let Some((subject, condition)) = shown.filter(|_| open.selected.is_none()) {
        open.selected = Some(subject);
        open.condition = condition;
    }
    None
}

/// Gives the transition of the selected lane that is nearest to the cursor; else that of its object.
fn nearest_of_selected(open: &OpenReel) -> Option<StreamRow> {
    let selected = open.selected.as_ref()?;
    let is_of_it = |row: &StreamRow| {
        let transition = open.transition(*row);
        transition.is_some_and(|(lane, ..)| lane.subject.is(selected))
    };
    let is_of_lane = |row: &StreamRow| {
        let transition = open.transition(*row);
        is_of_it(row) && transition.is_some_and(|(lane, ..)| lane.condition == open.condition)
    };
    let at = open.place.at;
    let of_lane = open.condition.as_ref();
    let of_lane = of_lane.and_then(|_| open.stream.nearest(at, is_of_lane));
    let found = of_lane.or_else(|| open.stream.nearest(at, is_of_it))?;
    open.stream.rows.get(found).copied()
}

/// Goes to the next or the previous row of the log that holds what is looked for, around its ends; gives the words.
pub(super) fn next_in_log(open: &mut OpenReel, way: TimeDirection) -> Option<String> {
    let count = open.stream.rows.len();
    let here = open.row().unwrap_or(0);
    let found = (1..=count).find_map(|step| {
        let at = match way {
            TimeDirection::Next => (here + step) % count,
            TimeDirection::Previous => (here + count - step) % count,
        };
        is_wanted(open, at).then_some(at)
    });
    let Some(at) = found else {
        return Some(format!("{:?} is nowhere in the log", open.stream.wanted));
    };
    choosing::row(open, at);
    None
}

/// Shows the first row from the chosen one on that holds what is looked for.
pub(super) fn seek_in_log(open: &mut OpenReel, wanted: String) -> bool {
    open.stream.wanted = wanted;
    let is_here = open.row().is_some_and(|row| is_wanted(open, row));
    open.stream.wanted.is_empty() || is_here || next_in_log(open, TimeDirection::Next).is_none()
}

/// Tells whether a row of the log holds what is looked for: in its object, its condition or its state.
fn is_wanted(open: &OpenReel, row: usize) -> bool {
    let row = open.stream.rows.get(row).copied();
    let Some((lane, _, spell)) = row.and_then(|row| open.transition(row)) else {
        return false;
    };
    let has = |text: &str| text.to_lowercase().contains(&open.stream.wanted);
    has(&spell.word)
        || has(spell.state.word())
        || has(&lane.subject.brief(&open.timeline))
        || lane.condition.as_deref().is_some_and(has)
}

/// Tells whether the filter lets a lane of an object through; `None` if the list has no lanes of it.
pub(super) fn is_admitted(open: &OpenReel, object: &NamedObject) -> Option<bool> {
    let query = open.filter.query();
    let board = open.board().map_or(&[][..], |board| &board.lanes);
    let is_log = open.list == List::Stream;
    // A lane that the grouping leaves out shows nothing of the object.
    let own = board.iter().filter(|lane| {
        lane.subject.is(object) && (is_log || open.lanes.grouping.section(lane).is_some())
    });
    let pins = open.pins.lanes().iter();
    let pins = pins.filter(|lane| !is_log && lane.subject.is(object));
    let mut own = own.chain(pins).peekable();
    own.peek()?;
    Some(own.any(|lane| has(open, query, lane)))
}

fn has(open: &OpenReel, query: &FilterQuery, lane: &Lane) -> bool {
    let texts = [lane.subject.name(), lane.group.title()];
    let seen = FilterCandidate {
        resource: lane.subject.resource(),
        namespace: lane.subject.namespace(),
        texts: texts.into_iter().chain(lane.condition.as_deref()),
    };
    query.admits(&seen, |state| {
        lane.spells.iter().any(|spell| spell.state == state)
            || state == LaneState::Unknown && has_gap(open, lane)
    })
}

/// Tells whether a lane is unknown for a time. Each is so until its resource is first listed: that is not a gap.
fn has_gap(open: &OpenReel, lane: &Lane) -> bool {
    let start = open.timeline.start();
    lane.dark.iter().any(|dark| dark.span.start > start)
}

/// Gives the pinned lanes: that of the board where the object has one.
fn pinned(open: &OpenReel) -> Vec<(LaneAt, &Lane)> {
    let mut all = Vec::new();
    for (at, lane) in open.pins.lanes().iter().enumerate() {
        let of_board = open.board().and_then(|board| {
            let mut lanes = board.lanes.iter().enumerate();
            lanes.find(|(_, own)| own.subject == lane.subject && own.condition.is_none())
        });
        all.push(of_board.map_or((LaneAt::Pin(at), lane), |(at, own)| {
            (LaneAt::PinOf(at), own)
        }));
    }
    all
}

/// Unfolds the section of the selected object, unless its head is what is chosen.
fn unfold_selected(
    open: &mut OpenReel,
    sections: &BTreeMap<Section, Vec<LaneAt>>,
    nested: &BTreeSet<usize>,
    is_filtered: bool,
) {
    if open.list != List::Lanes || open.chosen_head().is_some() {
        return;
    }
    let is_it = |at: &LaneAt| {
        // What stands below its workload needs no section of its own.
        let is_below = matches!(at, LaneAt::Board(at) if nested.contains(at));
        let lane = open.lane_at(*at).filter(|_| !is_below);
        lane.is_some_and(|lane| lane.subject.object() == open.selected.as_ref())
    };
    let is_hidden = |section: &Section| open.lanes.is_folded(section, is_filtered);
    let mut own = sections.iter().filter(|(_, lanes)| lanes.iter().any(is_it));
    if own.clone().all(|(section, _)| is_hidden(section))
        && let Some((section, _)) = own.next()
    {
        open.lanes.folds.insert(section.clone(), false);
    }
}

/// Folds a section, or unfolds it.
pub(super) fn fold(open: &mut OpenReel, section: &Section) {
    let is_folded = open.lanes.is_folded(section, !open.filter.is_empty());
    open.lanes.folds.insert(section.clone(), !is_folded);
    let head = ChosenRow::Head(section.clone());
    open.lanes.chosen = Some((head, open.selected.clone()));
    arrange(open);
}

/// Shows the pods of the namespace that is chosen, or hides them; those of all if none is.
pub(super) fn pods(open: &mut OpenReel) -> Option<String> {
    open.list = List::Lanes;
    open.table = None;
    arrange(open);
    let sections = open.lanes.sections();
    let pods = |section: &&Section| matches!(section, Section::Pods(_));
    let Some(first) = sections.iter().find(pods).cloned() else {
        let inside = open.namespace.as_ref();
        return Some(match (open.board(), inside) {
            (None, _) => "still loading: pods are not known yet".to_owned(),
            (_, Some(name)) => format!("no pods in namespace {name}: u selects another one"),
            (_, None) => "no pods match".to_owned(),
        });
    };
    let is_folded = open.lanes.is_folded(&first, !open.filter.is_empty());
    for section in sections.iter().filter(pods) {
        open.lanes.folds.insert(section.clone(), !is_folded);
    }
    open.lanes.chosen = Some((ChosenRow::Head(first), open.selected.clone()));
    arrange(open);
    None
}

/// Pins the selected object, or takes its pin away.
pub(super) fn pin(open: &mut OpenReel) -> String {
    let Some(subject) = open.selected.clone() else {
        return "nothing selected".to_owned();
    };
    let name = subject.written(&open.timeline);
    let is_pinned = open.pins.toggle(&open.timeline, &subject);
    open.lanes.is_pin_chosen = false;
    arrange(open);
    match is_pinned {
        Some(true) => format!("{name} pinned: x unpins it"),
        Some(false) => format!("{name} unpinned"),
        None => "too many pins: x unpins one".to_owned(),
    }
}

/// Keeps what is chosen in sight, and prepares the cells of the rows that show.
pub(super) fn refresh(open: &mut OpenReel, layout: &Layout) {
    let (cells, height) = (layout.cells(), usize::from(layout.list.height));
    if open.list != List::Lanes || height == 0 || cells == 0 {
        return;
    }
    // Something else was selected, which a fold may hide.
    if open.lanes.sought != open.selected && open.row().is_none() {
        arrange(open);
    }
    let count = open.lanes.rows.len();
    let sticky = open.lanes.sticky(height);
    let room = height - sticky;
    if let Some(row) = open.row().filter(|row| *row >= sticky) {
        let margin = usize::from(room > 2);
        // The rows unfolded below a row are visible with it, as far as there is room.
        let below = below(&open.lanes.rows, row).max(margin);
        let below = below.min(room.saturating_sub(margin + 1));
        let lowest = (row + below + 1).saturating_sub(room);
        let highest = row.saturating_sub(margin).max(lowest);
        open.lanes.first = open.lanes.first.clamp(lowest, highest);
    }
    let last = count.saturating_sub(room).max(sticky);
    open.lanes.first = open.lanes.first.clamp(sticky, last);
    let kept_for = Some((open.window, cells));
    if open.lanes.kept_for != kept_for || open.lanes.cells.len() > MOST_KEPT {
        open.lanes.forget();
        open.lanes.kept_for = kept_for;
    }
    let rows = open.lanes.shown(height);
    let bad = rows.filter_map(|row| Some((row, bad(open, row)?)));
    open.lanes.bad = bad.collect();
    let rows = open.lanes.shown(height);
    for row in rows {
        if !open.lanes.cells.contains_key(&row)
            && let Some(found) = cells_of(open, row, cells)
        {
            open.lanes.cells.insert(row, found);
        }
    }
}

/// Counts the objects of a section that are bad at the cursor, and those whose state is not known.
fn bad(open: &OpenReel, row: usize) -> Option<(usize, usize)> {
    let LaneRow::Head(head) = open.lanes.rows.get(row)? else {
        return None;
    };
    let lanes = head.lanes.iter().filter_map(|at| open.lane_at(*at));
    // Below an object its conditions are not counted again.
    let is_own =
        |lane: &&Lane| lane.condition.is_none() || open.lanes.grouping.is_by_trouble(&head.section);
    let (mut bad, mut unknown) = (0, 0);
    for lane in lanes.filter(is_own) {
        match lane.at(open.place).0 {
            LaneState::Bad | LaneState::Down => bad += 1,
            LaneState::Unknown => unknown += 1,
            _ => {}
        }
    }
    Some((bad, unknown))
}

fn cells_of(open: &OpenReel, row: usize, cells: u16) -> Option<RowCells> {
    let spans = || (0..cells).map(|cell| open.window.cell(cell, cells));
    Some(match open.lanes.rows.get(row)? {
        LaneRow::Lane(at, _) => {
            let lane = open.lane_at(*at)?;
            RowCells::Lane(spans().map(|span| lane.cell(&span)).collect())
        }
        LaneRow::Head(head) => {
            // Objects of one resource are in the dark together; pins are of any.
            let lane = head.lanes.first().and_then(|at| open.lane_at(*at));
            let lane = lane
                .filter(|lane| lane.group != LaneGroup::Others && head.section != Section::Pins);
            RowCells::Head(
                spans()
                    .map(|span| lane.is_some_and(|lane| lane.is_dark(&span)))
                    .collect(),
            )
        }
    })
}
