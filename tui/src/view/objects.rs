//! Owns the table of a resource at the cursor. Refuses a blank pane: an empty table says why.

use super::browse::ago;
use super::pen::{Pen, first_row};
use crate::answer::{Question, Row};
use crate::model::{Open, Order, TableView};
use crate::theme::Role;
use kubereel_history::harmless;
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
    pen.head(0, &head(open, view));
    let mut top = 1;
    if let Some(words) = &table.trust {
        let style = pen.theme.state(crate::lane::LaneState::Unknown);
        pen.text(1, top, words, style);
        top += 1;
    }
    if view.rows.is_empty() {
        empty(view, top, pen);
        return;
    }
    let rows = || view.rows.iter().filter_map(|at| table.rows.get(*at));
    let is_by_change = open.browse.order == Order::Changed;
    let height = pen.area.height.saturating_sub(top + 1);
    let chosen = open.row();
    let first = first_row(chosen.unwrap_or(0), view.rows.len(), height);
    let shown: Vec<(usize, &Row)> = rows()
        .enumerate()
        .skip(first)
        .take(usize::from(height))
        .collect();
    let mut widths: Vec<usize> = view
        .widths
        .iter()
        .map(|width| (*width).min(WIDEST))
        .collect();
    let mut agos: Vec<String> = shown
        .iter()
        .map(|(_, row)| ago(open, row.changed))
        .collect();
    if is_by_change {
        let own = agos.iter().map(|ago| ago.width()).max().unwrap_or(0);
        widths.insert(0, own.max("CHANGED".len()));
    }
    fit(&mut widths, usize::from(pen.area.width));
    let line = |pen: &mut Pen<'_>, y: u16, cells: &mut dyn Iterator<Item = &str>, style| {
        let mut x = 1;
        for (cell, width) in cells.zip(&widths) {
            let width = u16::try_from(*width).unwrap_or(u16::MAX);
            pen.within(x, y, cell, width, style);
            x = x.saturating_add(width).saturating_add(2);
        }
        x
    };
    let strong = pen.role(Role::Strong);
    let names = table.columns.iter().map(String::as_str);
    let changed = is_by_change.then_some("CHANGED");
    line(pen, top, &mut changed.into_iter().chain(names), strong);
    for (y, ((at, row), ago)) in (top + 1..pen.area.height).zip(shown.into_iter().zip(&mut agos)) {
        let is_chosen = chosen == Some(at);
        let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
        if is_chosen {
            pen.text(0, y, ">", style);
        }
        let cells = row.cells.iter().map(String::as_str);
        let first = is_by_change.then_some(ago.as_str());
        let end = line(pen, y, &mut first.into_iter().chain(cells), style);
        if is_by_change {
            continue;
        }
        ago.insert_str(0, "changed ");
        let width = u16::try_from(ago.len()).unwrap_or(u16::MAX);
        if end.saturating_add(width) < pen.area.width {
            pen.right(y, ago, faint);
        }
    }
    if is_late(open) {
        // It is how things were where the cursor stood a moment ago.
        for y in top..pen.area.height {
            pen.paint(0, y, pen.area.width, faint);
        }
    }
}

/// Says why there are no rows.
fn empty(view: &TableView, row: u16, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    let words = if view.table.absent.is_empty() {
        format!("none of {} matches: esc clears the filter", view.table.all)
    } else {
        view.table.absent.clone()
    };
    pen.wrapped(1, row, &words, faint);
}

fn head(open: &Open, view: &TableView) -> String {
    let table = &view.table;
    let mut head = format!("{} {}", table.name, view.rows.len());
    if table.rest > 0 {
        let all = table.rows.len() + table.rest;
        head.extend([" of ", &all.to_string()]);
    }
    if let Some(namespace) = &open.namespace {
        head.extend([" in ", &harmless(namespace)]);
    }
    if open.browse.order == Order::Changed {
        head.extend([", ", Order::Changed.words()]);
    }
    if !open.filter.is_empty() {
        head.extend([" match ", &harmless(open.filter.text())]);
    }
    head
}

/// Tells whether the rows are those of another moment.
fn is_late(open: &Open) -> bool {
    let own = open.table.as_ref().map(|view| &view.question);
    let asked = open.asked.iter().flatten();
    let mut asked = asked.filter(|asked| matches!(asked, Question::Table(..)));
    asked.next() != own
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
