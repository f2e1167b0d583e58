//! Owns the table of a resource at the cursor. Refuses a blank pane: an empty table says why.

use super::pen::{Pen, first_row};
use crate::model::Open;
use crate::theme::Role;
use kubereel_replay::timetext;
use unicode_width::UnicodeWidthStr as _;

/// A column is at most so wide, but for the last one.
const WIDEST: usize = 42;
/// A column that does not fit is not made narrower than this.
const NARROWEST: usize = 8;

/// Draws it.
pub(super) fn draw(open: &Open, pen: &mut Pen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(Role::Faint);
    let Some(view) = &open.table else {
        pen.text(1, 0, "reading …", faint);
        return;
    };
    let table = &view.table;
    let mut head = format!("{} {}", table.name, view.rows.len());
    if table.rest > 0 {
        let all = table.rows.len() + table.rest;
        head.extend([" of ", &all.to_string()]);
    }
    if !open.filter.is_empty() {
        head.extend([" match ", &format!("{:?}", open.filter)]);
    }
    pen.head(0, &head);
    let mut top = 1;
    if let Some(words) = &table.trust {
        let style = pen.theme.state(crate::lane::LaneState::Unknown);
        pen.text(1, top, words, style);
        top += 1;
    }
    if view.rows.is_empty() {
        let at = open.place.written(&open.timeline);
        let words = if !table.has_state {
            format!("what {} there were at {at} is not known", table.name)
        } else if table.rows.is_empty() {
            format!(
                "no {} at {at}: . steps to the next event of them",
                table.name
            )
        } else {
            "no row matches: esc clears the filter".to_owned()
        };
        pen.text(1, top, &words, faint);
        return;
    }
    let rows = || view.rows.iter().filter_map(|at| table.rows.get(*at));
    let mut widths: Vec<usize> = table.columns.iter().map(|name| name.width()).collect();
    for row in rows() {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.width()).min(WIDEST);
        }
    }
    fit(&mut widths, usize::from(pen.area.width));
    let line = |pen: &mut Pen<'_>, y: u16, cells: &[String], style| {
        let mut x = 1;
        for (cell, width) in cells.iter().zip(&widths) {
            let width = u16::try_from(*width).unwrap_or(u16::MAX);
            pen.within(x, y, cell, width, style);
            x = x.saturating_add(width).saturating_add(2);
        }
        x
    };
    let strong = pen.role(Role::Strong);
    line(pen, top, &table.columns, strong);
    let height = pen.area.height.saturating_sub(top + 1);
    let chosen = open.row();
    let first = first_row(chosen.unwrap_or(0), view.rows.len(), height);
    for (y, (at, row)) in (top + 1..pen.area.height).zip(rows().enumerate().skip(first)) {
        let is_chosen = chosen == Some(at);
        let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
        if is_chosen {
            pen.text(0, y, ">", style);
        }
        let end = line(pen, y, &row.cells, style);
        let micros = open.place.at.micros_since(row.changed).max(0);
        let ago = format!(
            "changed {} ago",
            timetext::span(u64::try_from(micros).unwrap_or(0))
        );
        let width = u16::try_from(ago.len()).unwrap_or(u16::MAX);
        if end.saturating_add(width) < pen.area.width {
            pen.right(y, &ago, faint);
        }
    }
}

/// Makes the widest columns narrower until all of them fit, or none can be narrower.
fn fit(widths: &mut [usize], room: usize) {
    loop {
        let all: usize = widths.iter().map(|width| width + 2).sum();
        let widest = widths.iter_mut().max();
        match widest {
            Some(widest) if all > room && *widest > NARROWEST => *widest -= 1,
            _ => return,
        }
    }
}
