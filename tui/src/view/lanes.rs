//! The lanes: a row each, cells under the moments of the timeline. Each state has a sign of its own;
//! `update` prepared the states.

use super::pen::{ScreenPen, distinct};
use crate::lane::{Lane, LaneCell, LaneGroup, LaneReading, LaneState};
use crate::layout::Layout;
use crate::model::{LaneAt, LanePass, LaneRow, OpenReel, Pane, RowCells, SectionHead};
use crate::theme::StyleRole;
use kubereel_history::harmless;
use ratatui::style::{Modifier, Style};
use std::collections::BTreeMap;

/// Draws them.
pub(super) fn draw(open: &OpenReel, layout: &Layout, pen: &mut ScreenPen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(StyleRole::Faint);
    if open.lanes.rows.is_empty() {
        pen.text(1, 0, &without_rows(open), faint);
        return;
    }
    let chosen = open.row();
    let names = names(open, layout, pen.area.height);
    let rows = open.lanes.shown(usize::from(pen.area.height));
    let mut end = 0;
    for (y, place) in (0..pen.area.height).zip(rows) {
        let Some(row) = open.lanes.rows.get(place) else {
            continue;
        };
        end = y + 1;
        let is_chosen = chosen == Some(place);
        let cells = open.lanes.cells.get(&place);
        match (row, cells) {
            (LaneRow::Head(head), Some(RowCells::Head(dark))) => {
                let bad = open.lanes.bad.get(&place).copied().unwrap_or_default();
                head_row(open, layout, (head, bad, dark), (y, is_chosen), pen);
            }
            (LaneRow::Lane(at, _), Some(RowCells::Lane(cells))) => {
                if let Some(lane) = open.lane_at(*at) {
                    let name = names.get(&place).map_or("", String::as_str);
                    lane_row(open, layout, (name, lane, cells), (y, is_chosen), pen);
                }
            }
            _ => {}
        }
    }
    if open.board().is_none() && end < pen.area.height {
        pen.text(1, end, &without_rows(open), faint);
    }
}

/// Says why there are no rows.
fn without_rows(open: &OpenReel) -> String {
    match (&open.pass, open.board()) {
        (_, Some(board)) if board.lanes.is_empty() => {
            "nothing recorded that has lanes: b lists the recorded resources".to_owned()
        }
        (_, Some(_)) => no_lane(open),
        (LanePass::Stopped, _) => "loading stopped: enter retries, b lists resources".to_owned(),
        (LanePass::Failed(why), _) => {
            format!("loading failed, enter retries: {}", harmless(why))
        }
        _ => {
            "loading operators, nodes, workloads and pods … esc stops, b lists resources".to_owned()
        }
    }
}

fn head_row(
    open: &OpenReel,
    layout: &Layout,
    (head, (bad, unknown), dark): (&SectionHead, (usize, usize), &[bool]),
    (y, is_chosen): (u16, bool),
    pen: &mut ScreenPen<'_>,
) {
    let count = head.lanes.iter().filter_map(|at| open.lane_at(*at));
    let count = count
        .filter(|lane| lane.condition.is_none() || open.lanes.grouping.is_by_trouble(&head.section))
        .count();
    let style = pen.role(StyleRole::Head);
    let sign = match (is_chosen && open.pane == Pane::List, head.is_folded) {
        (true, _) => ">",
        (false, true) => "▸",
        (false, false) => "▾",
    };
    let style = if is_chosen {
        style.patch(pen.role(StyleRole::Chosen))
    } else {
        style
    };
    let end = pen.text(0, y, sign, style);
    let mut end = pen.text(end, y, &format!("{} {count}", head.section.title()), style);
    for (count, state) in [(bad, LaneState::Bad), (unknown, LaneState::Unknown)] {
        if count > 0 {
            let faint = pen.role(StyleRole::Faint);
            end = pen.text(end, y, " · ", faint);
            let words = format!("{count} {} here", state.word());
            let style = pen.theme.state(state);
            end = pen.text(end, y, &words, style);
        }
    }
    if head.is_folded && is_chosen {
        let faint = pen.role(StyleRole::Faint);
        end = pen.text(end, y, " · enter unfolds", faint);
    }
    let (faint, unknown) = (
        pen.role(StyleRole::Faint),
        pen.theme.state(LaneState::Unknown),
    );
    let cursor = open.window.cell_of(open.place.at, layout.cells());
    for x in end + 1..layout.gutter.max(end + 1) {
        pen.text(x, y, "─", faint);
    }
    for (cell, is_dark) in (0..).zip(dark) {
        let x = layout.gutter + cell;
        let (sign, style) = if *is_dark {
            (LaneState::Unknown.glyph(), unknown)
        } else {
            ("─", faint)
        };
        if x > end {
            pen.text(x, y, sign, at_cursor(style, cursor == Some(cell)));
        }
    }
}

/// Says why there is no lane.
fn no_lane(open: &OpenReel) -> String {
    let within = open.namespace.as_ref();
    let within = within.map_or_else(String::new, |only| {
        format!(" in namespace {} (u selects another)", harmless(only))
    });
    if open.filter.is_empty() {
        return format!("no lane{within}: esc shows all namespaces");
    }
    let filter = harmless(open.filter.text()).into_owned();
    format!("no lane matches {filter:?}{within}: esc clears the filter")
}

fn lane_row(
    open: &OpenReel,
    layout: &Layout,
    (name, lane, cells): (&str, &Lane, &[LaneCell]),
    (y, is_chosen): (u16, bool),
    pen: &mut ScreenPen<'_>,
) {
    let style = match (is_chosen, &lane.condition) {
        (true, _) => pen.role(StyleRole::Chosen),
        (false, None) => pen.role(StyleRole::Plain),
        (false, Some(_)) => pen.role(StyleRole::Faint),
    };
    if is_chosen {
        let sign = if open.pane == Pane::List { ">" } else { "·" };
        pen.text(0, y, sign, style);
    }
    pen.within(1, y, name, name_room(layout), style);
    let cursor = open.window.cell_of(open.place.at, layout.cells());
    for (cell, shown) in (0..).zip(cells) {
        let (sign, mut style) = drawn(lane, *shown, pen);
        if shown.changes > 1 {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        let style = at_cursor(style, cursor == Some(cell));
        pen.text(layout.gutter + cell, y, sign, style);
    }
}

/// Gives how many columns a name may take: one stays free before the first moment.
const fn name_room(layout: &Layout) -> u16 {
    layout.gutter.saturating_sub(2)
}

/// Gives the names of the lanes that show, by row, no two of different objects alike.
fn names(open: &OpenReel, layout: &Layout, height: u16) -> BTreeMap<usize, String> {
    let rows = open.lanes.shown(usize::from(height));
    let full = rows.filter_map(|place| match open.lanes.rows.get(place)? {
        LaneRow::Lane(at, depth) => {
            let own = name(open, *at, open.lane_at(*at)?);
            Some((place, nested(&own, *depth)))
        }
        LaneRow::Head(_) => None,
    });
    let (places, full): (Vec<usize>, Vec<String>) = full.unzip();
    let short = distinct(&full, usize::from(name_room(layout)));
    places.into_iter().zip(short).collect()
}

/// Gives a name as it stands below others.
fn nested(name: &str, depth: usize) -> String {
    match depth.checked_sub(1) {
        None => name.to_owned(),
        Some(above) => format!("{}└ {name}", "  ".repeat(above)),
    }
}

/// Gives the sign and the style of a cell.
fn drawn(lane: &Lane, cell: LaneCell, pen: &ScreenPen<'_>) -> (&'static str, Style) {
    let is_machine = matches!(lane.group, LaneGroup::Nodes | LaneGroup::Pools);
    match (lane.reading, cell.state) {
        // That something exists says nothing of how it is.
        (LaneReading::Presence, LaneState::Good) => {
            let sign = if cell.changes > 0 { "┼" } else { "╌" };
            (sign, pen.role(StyleRole::Density))
        }
        (_, LaneState::Changing) if is_machine => {
            (LaneState::Changing.glyph(), pen.role(StyleRole::NodeUpdate))
        }
        (_, state) => (state.glyph(), pen.theme.state(state)),
    }
}

fn at_cursor(style: Style, is_there: bool) -> Style {
    if is_there {
        style.add_modifier(Modifier::REVERSED)
    } else {
        style
    }
}

/// Gives what a lane is called: where the head does not say what it is, with its resource.
fn name(open: &OpenReel, at: LaneAt, lane: &Lane) -> String {
    let is_by_trouble = match &lane.condition {
        Some(_) => open
            .lanes
            .grouping
            .section(lane)
            .is_some_and(|section| open.lanes.grouping.is_by_trouble(&section)),
        None => true,
    };
    let name = match &lane.condition {
        Some(condition) if matches!(at, LaneAt::Part(..)) => condition.to_string(),
        Some(condition) if !is_by_trouble => format!("└ {condition}"),
        _ if matches!(at, LaneAt::Pin(_) | LaneAt::PinOf(_))
            || lane.group == LaneGroup::Customs =>
        {
            let object = lane.subject.object();
            object.map_or_else(String::new, |object| object.short(&open.timeline))
        }
        _ if matches!(lane.group, LaneGroup::Workloads | LaneGroup::Services) => {
            lane.subject.label()
        }
        _ => lane.subject.name().to_owned(),
    };
    harmless(&name).into_owned()
}
