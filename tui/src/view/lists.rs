//! The lists: objects, resources, namespaces, bookmarks, differences and commands. An empty list says why.

use super::pen::{ScreenPen, columns, distinct};
use crate::answer::{NEARBY_SECS, ObjectRow, REWRITTEN, ScreenQuestion, SortOrder, UNREADABLE};
use crate::lane::LaneState;
use crate::layout::first_row;
use crate::model::{OpenReel, PickerState, TableView};
use crate::theme::StyleRole;
use crate::time::span_text;
use crate::update;
use crate::update::{palette, place_of};
use kubereel_history::harmless;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

/// A column is at most so wide, but for the last one.
const WIDEST: usize = 42;
/// A column that does not fit is not made narrower than this.
const NARROWEST: usize = 8;

/// Draws it.
pub(super) fn draw_objects(open: &OpenReel, pen: &mut ScreenPen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(StyleRole::Faint);
    let Some(view) = &open.table else {
        pen.text(1, 0, "loading …", faint);
        return;
    };
    let table = &view.table;
    pen.head(0, &objects_head(open, view));
    let mut top = 1;
    if let Some(words) = &table.trust {
        let style = pen.theme.state(LaneState::Unknown);
        pen.text(1, top, words, style);
        top += 1;
    }
    if view.rows.is_empty() {
        draw_empty(view, top, pen);
        return;
    }
    let rows = || view.rows.iter().filter_map(|at| table.rows.get(*at));
    let is_by_change = open.browse.order == SortOrder::Changed;
    let height = pen.area.height.saturating_sub(top + 1);
    let chosen = open.row();
    let first = first_row(chosen.unwrap_or(0), view.rows.len(), height);
    let shown: Vec<(usize, &ObjectRow)> = rows()
        .enumerate()
        .skip(first)
        .take(usize::from(height))
        .collect();
    let mut agos: Vec<String> = shown
        .iter()
        .map(|(_, row)| ago(open, row.changed))
        .collect();
    let widths = column_widths(view, is_by_change.then_some(&agos), pen.area.width);
    let line = |pen: &mut ScreenPen<'_>, y: u16, cells: &mut dyn Iterator<Item = &str>, style| {
        let mut x = 1;
        for (cell, width) in cells.zip(&widths) {
            let width = columns(*width);
            pen.within(x, y, cell, width, style);
            x = x.saturating_add(width).saturating_add(2);
        }
        x
    };
    let cells = fitted_cells(&shown, &widths, usize::from(is_by_change));
    let strong = pen.role(StyleRole::Strong);
    let names = table.columns.iter().map(String::as_str);
    let changed = is_by_change.then_some("CHANGED");
    line(pen, top, &mut changed.into_iter().chain(names), strong);
    for (place, ((at, _), ago)) in shown.into_iter().zip(&mut agos).enumerate() {
        let y = columns(place).saturating_add(top + 1);
        let is_chosen = chosen == Some(at);
        let style = pen.role(if is_chosen {
            StyleRole::Chosen
        } else {
            StyleRole::Plain
        });
        if is_chosen {
            pen.text(0, y, ">", style);
        }
        let cells = cells.iter().filter_map(|column| column.get(place));
        let cells = cells.map(String::as_str);
        let first = is_by_change.then_some(ago.as_str());
        let end = line(pen, y, &mut first.into_iter().chain(cells), style);
        if is_by_change {
            continue;
        }
        ago.insert_str(0, "changed ");
        let width = columns(ago.len());
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

/// Gives the cells of the rows that show by column, each as short as its column is wide; `before` columns are not of
/// the rows.
fn fitted_cells(
    shown: &[(usize, &ObjectRow)],
    widths: &[usize],
    before: usize,
) -> Vec<Vec<String>> {
    let own = widths.iter().skip(before).enumerate();
    let fitted = own.map(|(at, width)| {
        let cells = shown.iter().map(|(_, row)| row.cells.get(at));
        let cells: Vec<String> = cells
            .map(|cell| cell.cloned().unwrap_or_default())
            .collect();
        distinct(&cells, *width)
    });
    fitted.collect()
}

/// Gives the widths of the columns on a screen; with times of change, these are the first column.
fn column_widths(view: &TableView, agos: Option<&Vec<String>>, width: u16) -> Vec<usize> {
    let mut widths: Vec<usize> = view
        .widths
        .iter()
        .map(|width| (*width).min(WIDEST))
        .collect();
    if let Some(agos) = agos {
        let own = agos.iter().map(|ago| ago.width()).max().unwrap_or(0);
        widths.insert(0, own.max("CHANGED".len()));
    }
    fit(&mut widths, usize::from(width));
    widths
}

/// Says why there are no rows.
fn draw_empty(view: &TableView, row: u16, pen: &mut ScreenPen<'_>) {
    let faint = pen.role(StyleRole::Faint);
    let words = if view.table.absent.is_empty() {
        format!(
            "no match among {} objects: esc clears the filter",
            view.table.all
        )
    } else {
        view.table.absent.clone()
    };
    pen.wrapped(1, row, &words, faint);
}

fn objects_head(open: &OpenReel, view: &TableView) -> String {
    let table = &view.table;
    let mut head = format!("{} {}", table.name, view.rows.len());
    if table.rest > 0 {
        let all = table.rows.len() + table.rest;
        head.extend([" of ", &all.to_string()]);
    }
    if let Some(namespace) = &open.namespace {
        head.extend([" in ", &harmless(namespace)]);
    }
    if open.browse.order == SortOrder::Changed {
        head.extend([", ", SortOrder::Changed.words()]);
    }
    if !open.filter.is_empty() {
        head.extend([" matching ", &harmless(open.filter.text())]);
    }
    head
}

/// Tells whether the rows are those of another moment.
fn is_late(open: &OpenReel) -> bool {
    let own = open.table.as_ref().map(|view| &view.question);
    let asked = open.asked.iter().flatten();
    let mut asked = asked.filter(|asked| matches!(asked, ScreenQuestion::Table(..)));
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

/// Draws the rows of a list from a row of the screen on, the chosen one in sight: `draw` writes what
/// follows the sign of choice.
fn draw_rows<T>(
    rows: &[T],
    chosen: usize,
    top: u16,
    pen: &mut ScreenPen<'_>,
    draw: impl Fn(&mut ScreenPen<'_>, u16, &T, Style),
) {
    let first = first_row(chosen, rows.len(), pen.area.height.saturating_sub(top));
    for (y, (at, row)) in (top..pen.area.height).zip(rows.iter().enumerate().skip(first)) {
        let (sign, role) = if at == chosen {
            (">", StyleRole::Chosen)
        } else {
            (" ", StyleRole::Plain)
        };
        let style = pen.role(role);
        pen.text(0, y, sign, style);
        draw(pen, y, row, style);
    }
}

/// Draws the resources that were recorded, with their objects at the cursor and the changes around it.
pub(super) fn draw_resources(open: &OpenReel, choice: &PickerState, pen: &mut ScreenPen<'_>) {
    let all = update::kinds(open, choice);
    let at = open.place.written(&open.timeline);
    let order = open.browse.kinds_order.words();
    pen.head(0, &format!("RESOURCES {} at {at} · {order}", all.len()));
    let faint = pen.role(StyleRole::Faint);
    let Some(known) = &open.browse.kinds else {
        pen.text(1, 1, "loading …", faint);
        return;
    };
    let words = format!("  objects  changes ±{NEARBY_SECS}s  changed      resource");
    pen.text(0, 1, &words, faint);
    if all.is_empty() {
        let words = if known.rows.is_empty() {
            "no objects recorded".to_owned()
        } else {
            format!(
                "no resource matches {:?}: esc goes back",
                harmless(&choice.text)
            )
        };
        pen.text(1, 2, &words, faint);
        return;
    }
    draw_rows(&all, choice.at, 2, pen, |pen, y, kind, style| {
        let objects = kind
            .objects
            .map_or_else(|| "?".to_owned(), |count| count.to_string());
        let changed = kind
            .changed
            .map_or_else(|| "never".to_owned(), |at| ago(open, at));
        let words = format!("{objects:>8}  {:>12}  {changed:<11}  ", kind.nearby);
        let end = pen.text(1, y, &words, style);
        let end = pen.text(end, y, &kind.name, style);
        if let Some(words) = &kind.trust {
            let style = pen.theme.state(LaneState::Unknown);
            let sign = LaneState::Unknown.glyph();
            pen.text(end + 1, y, &format!("{sign} {words}"), style);
        }
    });
}

/// Says how long before the cursor something was.
pub(super) fn ago(open: &OpenReel, at: kubereel_format::RecordedAt) -> String {
    let span = span_text(open.place.at.micros_since(at));
    format!("{span} ago")
}

/// Draws the namespaces, with their objects at the cursor.
pub(super) fn draw_namespaces(open: &OpenReel, choice: &PickerState, pen: &mut ScreenPen<'_>) {
    let rows = update::namespaces(open, choice);
    let at = open.place.written(&open.timeline);
    pen.head(
        0,
        &format!("NAMESPACES at {at} · type to filter, enter selects"),
    );
    let faint = pen.role(StyleRole::Faint);
    let Some(known) = &open.browse.namespaces else {
        pen.text(1, 1, "loading …", faint);
        return;
    };
    let mut top = 1;
    if let Some(words) = &known.trust {
        let style = pen.theme.state(LaneState::Unknown);
        pen.text(1, top, words, style);
        top += 1;
    }
    pen.text(0, top, &format!("{:>9}  namespace", known.of), faint);
    top += 1;
    if rows.is_empty() {
        let words = format!(
            "no namespace matches {:?}: esc goes back",
            harmless(&choice.text)
        );
        pen.text(1, top, &words, faint);
    }
    draw_rows(&rows, choice.at, top, pen, |pen, y, row, style| {
        let (name, count) = match row {
            Some((name, count)) => (harmless(name).into_owned(), *count),
            None => ("all namespaces".to_owned(), known.all()),
        };
        let is_taken = row.map(|row| &row.0) == open.namespace.as_ref();
        let mark = if is_taken { " ●" } else { "" };
        pen.text(1, y, &format!("{count:>8}  {name}{mark}"), style);
    });
}

/// Draws them, in the order of records.
pub(super) fn draw_bookmarks(open: &OpenReel, chosen: usize, pen: &mut ScreenPen<'_>) {
    let all = &open.bookmarks.all;
    let head = format!(
        "BOOKMARKS {} · enter goes there, d deletes, m edits the note",
        all.len()
    );
    pen.head(0, &head);
    let faint = pen.role(StyleRole::Faint);
    let mut top = 1;
    if let Some(words) = &open.bookmarks.words {
        let style = pen.theme.state(LaneState::Unknown);
        pen.text(1, top, &harmless(words), style);
        top += 1;
    }
    if all.is_empty() {
        pen.text(1, top, "no bookmarks: m sets one", faint);
        return;
    }
    draw_rows(all, chosen, top, pen, |pen, y, one, style| {
        let end = pen.text(1, y, "◆ ", style);
        let time = place_of(open, one).written(&open.timeline);
        let end = pen.text(end, y, &time, faint) + 2;
        let room = pen.area.width.saturating_sub(end);
        let select = harmless(&one.select).into_owned();
        let end = if one.note.is_empty() {
            end
        } else {
            let room = if select.is_empty() {
                room
            } else {
                room * 3 / 5
            };
            pen.within(end, y, &harmless(&one.note), room, style) + 2
        };
        pen.text(end, y, &select, faint);
    });
}

/// How many resources that are not compared are shown.
const MOST_NAMED: usize = 8;

/// Names the resources that are not compared; `None` if all are.
fn not_compared(all: &[String]) -> Option<String> {
    let shown: Vec<&str> = all.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match all.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = shown.join(", ");
    (!names.is_empty()).then(|| format!("not known at both moments: {names}{more}"))
}

/// Draws it.
pub(super) fn draw_differences(open: &OpenReel, chosen: usize, pen: &mut ScreenPen<'_>) {
    let faint = pen.role(StyleRole::Faint);
    let Some(all) = &open.compared.difference else {
        pen.head(0, "DIFFERENCES");
        pen.text(1, 1, "nothing compared: v sets A, v again compares", faint);
        return;
    };
    let count = |fate: &str| all.rows.iter().filter(|row| row.fate == fate).count();
    let (a, b) = (all.a.written(&open.timeline), all.b.written(&open.timeline));
    let some = |fate: &str| match count(fate) {
        0 => String::new(),
        count => format!(" {fate} {count}"),
    };
    let (rewritten, unreadable) = (some(REWRITTEN), some(UNREADABLE));
    let head = format!(
        "A {a} → {b} · created {} deleted {} recreated {} changed {}{rewritten}{unreadable} · enter shows fields",
        count("created"),
        count("deleted"),
        count("recreated"),
        count("changed"),
    );
    pen.head(0, &head);
    let mut top = 1;
    let wary = pen.theme.state(LaneState::Unknown);
    if let Some(words) = not_compared(&all.not_compared) {
        top = pen.wrapped(1, top, &words, wary);
    }
    if let Some(first) = all.unknown.first() {
        let more = match all.unknown.len().saturating_sub(1) {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        pen.text(1, top, &format!("unknown: {first}{more}"), wary);
        top += 1;
    }
    if all.rest > 0 {
        let words = format!("{} more objects not listed", all.rest);
        pen.text(1, top, &words, wary);
        top += 1;
    }
    if all.rows.is_empty() {
        let words = if all.not_compared.is_empty() {
            "no differences"
        } else {
            "no differences where both states are known"
        };
        pen.text(1, top, words, faint);
        return;
    }
    let room = pen.area.width / 2;
    let first = first_row(chosen, all.rows.len(), pen.area.height.saturating_sub(top));
    let shown = all
        .rows
        .iter()
        .skip(first)
        .take(usize::from(pen.area.height));
    let names: Vec<String> = shown
        .map(|row| row.subject.written(&open.timeline))
        .collect();
    let names = distinct(&names, usize::from(room));
    draw_rows(&all.rows, chosen, top, pen, |pen, y, row, style| {
        let sign = match row.fate {
            "created" => "+",
            "deleted" => "-",
            "recreated" => "±",
            REWRITTEN => "=",
            UNREADABLE => "?",
            _ => "~",
        };
        pen.text(1, y, sign, style);
        let name = names.get(usize::from(y.saturating_sub(top)));
        let end = pen.within(3, y, name.map_or("", String::as_str), room, style);
        let words = if row.words.is_empty() {
            row.fate
        } else {
            row.words.as_str()
        };
        pen.text(end + 2, y, &harmless(words), faint);
    });
}

/// How many rows it takes at most.
const MOST_ROWS: u16 = 12;

/// Draws it on the last rows of a part of the screen.
pub(super) fn draw_palette(open: &OpenReel, choice: &PickerState, pen: &mut ScreenPen<'_>) {
    let all = palette::entries(open, &choice.text);
    let count = columns(all.len().max(1));
    let height = count.saturating_add(1).min(MOST_ROWS).min(pen.area.height);
    let area = Rect {
        y: pen.area.y + pen.area.height - height,
        height,
        ..pen.area
    };
    let mut pen = pen.on(area);
    let plain = pen.role(StyleRole::Plain);
    let blank = " ".repeat(usize::from(area.width));
    for y in 0..height {
        pen.paint(0, y, area.width, Style::reset());
        pen.text(0, y, &blank, plain);
    }
    pen.head(
        0,
        "GO TO A TIME, KIND OR OBJECT, OR RUN A COMMAND · ↑ ↓ select, enter runs",
    );
    let faint = pen.role(StyleRole::Faint);
    if all.is_empty() {
        let words = "no such command; TIME: 14:02, +5m, -30s, rv:1200, start or end";
        pen.text(1, 1, words, faint);
        return;
    }
    draw_rows(&all, choice.at, 1, &mut pen, |pen, y, entry, style| {
        let key = pen.role(StyleRole::Strong);
        pen.within(2, y, entry.key, 12, key);
        pen.text(15, y, &entry.words, style);
    });
}
