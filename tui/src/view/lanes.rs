//! Owns the lanes: a row each, cells under the moments of the timeline. Refuses to leave a state
//! without a sign of its own.

use super::pen::{Pen, first_row};
use crate::lane::{Group, Lane};
use crate::layout::Layout;
use crate::model::{Open, Pane, Pass};
use crate::theme::Role;
use ratatui::style::Modifier;

enum Shown<'a> {
    Head(Group, usize),
    Lane(usize, &'a Lane),
}

/// Draws them.
pub(super) fn draw(open: &Open, layout: &Layout, pen: &mut Pen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let Some(board) = open.board() else {
        let words = match open.pass {
            Pass::Stopped => "reading was stopped: b browses what was recorded",
            _ => "reading states of operators, nodes and pods … esc stops, b browses meanwhile",
        };
        let style = pen.role(Role::Faint);
        pen.text(1, 0, words, style);
        return;
    };
    let lanes: Vec<(usize, &Lane)> = open
        .lanes
        .iter()
        .enumerate()
        .filter_map(|(row, at)| Some((row, board.lanes.get(*at)?)))
        .collect();
    if lanes.is_empty() {
        let words = if board.lanes.is_empty() {
            "the reel holds no operators, nodes or pods: b browses what was recorded".to_owned()
        } else {
            no_lane(open)
        };
        let style = pen.role(Role::Faint);
        pen.text(1, 0, &words, style);
        return;
    }
    let mut rows: Vec<Shown<'_>> = Vec::new();
    let mut group = None;
    let chosen = open.row();
    let mut chosen_row = 0;
    for (row, lane) in lanes.iter().copied() {
        if group != Some(lane.group) {
            group = Some(lane.group);
            let count = lanes
                .iter()
                .filter(|(_, other)| other.group == lane.group)
                .count();
            rows.push(Shown::Head(lane.group, count));
        }
        if chosen == Some(row) {
            chosen_row = rows.len();
        }
        rows.push(Shown::Lane(row, lane));
    }
    let first = first_row(chosen_row, rows.len(), pen.area.height);
    for (y, row) in (0..pen.area.height).zip(rows.iter().skip(first)) {
        match row {
            Shown::Head(group, count) => pen.head(y, &format!("{} {count}", group.title())),
            Shown::Lane(row, lane) => {
                lane_row(open, layout, lane, y, chosen == Some(*row), pen);
            }
        }
    }
}

/// Says why there is no lane.
fn no_lane(open: &Open) -> String {
    let within = open.namespace.as_ref();
    let within = within.map_or_else(String::new, |only| {
        format!(
            " in namespace {} (u chooses another)",
            kubereel_replay::harmless(only)
        )
    });
    let filter = kubereel_replay::harmless(open.filter.text()).into_owned();
    format!("no lane matches {filter:?}{within}: esc clears the filter")
}

fn lane_row(open: &Open, layout: &Layout, lane: &Lane, y: u16, is_chosen: bool, pen: &mut Pen<'_>) {
    let (cells, left) = (layout.cells(), layout.gutter);
    let name = match &lane.condition {
        None => lane.subject.name.clone(),
        Some(condition) => format!("└ {condition}"),
    };
    let style = match (is_chosen, &lane.condition) {
        (true, _) => pen.role(Role::Chosen),
        (false, None) => pen.role(Role::Plain),
        (false, Some(_)) => pen.role(Role::Faint),
    };
    if is_chosen {
        let sign = if open.pane == Pane::List { ">" } else { "·" };
        pen.text(0, y, sign, style);
    }
    let name = kubereel_replay::harmless(&name).into_owned();
    pen.within(1, y, &name, left.saturating_sub(2), style);
    let cursor = open.window.cell_of(open.place.at, cells);
    for cell in 0..cells {
        let shown = lane.cell(&open.window.cell(cell, cells));
        let mut style = pen.theme.state(shown.state);
        if shown.changes > 1 {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        if cursor == Some(cell) {
            style = style.add_modifier(Modifier::REVERSED);
        }
        pen.text(left + cell, y, shown.state.glyph(), style);
    }
}
