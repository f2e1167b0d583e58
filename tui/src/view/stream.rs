//! The log of transitions: time, object, old and new state, writer.

use super::pen::{ScreenPen, columns, distinct};
use crate::lane::{Lane, LaneSpell};
use crate::layout::first_row;
use crate::model::{OpenReel, StreamRow};
use crate::theme::StyleRole;
use crate::time::clock_text;
use kubereel_history::harmless;
use unicode_width::UnicodeWidthStr as _;

/// The fewest columns of writers.
const LEAST_WRITERS: usize = 8;
/// The columns of the sign before them.
const MARK: usize = 3;

/// A row, as it is drawn.
struct TransitionLine<'a> {
    row: StreamRow,
    lane: &'a Lane,
    before: Option<&'a LaneSpell>,
    now: &'a LaneSpell,
    time: String,
}

/// Draws it.
pub(super) fn draw(open: &OpenReel, pen: &mut ScreenPen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let count = open.stream.rows.len();
    let narrowing = open.narrowing();
    let matching = if narrowing.is_empty() {
        String::new()
    } else {
        format!(" matching {}", harmless(&narrowing))
    };
    let head =
        format!("TRANSITIONS {count}{matching} · / searches, & filters, A or esc shows the lanes");
    pen.head(0, &head);
    if count == 0 {
        let words = if open.board().is_none() {
            "loading …"
        } else if !open.filter.is_empty() {
            "no transition matches: esc clears the filter"
        } else if open.namespace.is_some() {
            "no transition in this namespace: esc shows all namespaces"
        } else {
            "no transition was recorded"
        };
        pen.text(1, 1, words, pen.role(StyleRole::Faint));
        return;
    }
    let chosen = open.row().unwrap_or(0);
    let first = first_row(chosen, count, pen.area.height.saturating_sub(1));
    let lines = lines(open, first, usize::from(pen.area.height - 1));
    let names: Vec<String> = lines
        .iter()
        .map(|line| line.lane.subject.brief(&open.timeline))
        .collect();
    // Columns stand below each other, and take no more than they need.
    let clock = lines
        .iter()
        .map(|line| line.time.width())
        .max()
        .unwrap_or(0);
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let room = usize::from(pen.area.width).saturating_sub(clock + 1) * 2 / 5;
    let room = room.min(widest);
    let names = distinct(&names, room);
    for (place, (line, name)) in lines.iter().zip(names).enumerate() {
        let y = columns(place).saturating_add(1);
        let role = if first + place == chosen {
            StyleRole::Chosen
        } else {
            StyleRole::Plain
        };
        let begin = columns(clock).saturating_add(2);
        draw_line(open, line, (y, begin, columns(room)), (&name, role), pen);
    }
}

fn lines(open: &OpenReel, first: usize, height: usize) -> Vec<TransitionLine<'_>> {
    let rows = open.stream.rows.iter().skip(first).take(height);
    let lines = rows.filter_map(|row| {
        let (lane, before, now) = open.transition(*row)?;
        Some(TransitionLine {
            row: *row,
            lane,
            before,
            now,
            time: clock_text(&open.timeline, row.from),
        })
    });
    lines.collect()
}

fn draw_line(
    open: &OpenReel,
    line: &TransitionLine<'_>,
    (y, begin, room): (u16, u16, u16),
    (name, role): (&str, StyleRole),
    pen: &mut ScreenPen<'_>,
) {
    let (style, faint) = (pen.role(role), pen.role(StyleRole::Faint));
    let sign = if role == StyleRole::Chosen { ">" } else { " " };
    pen.text(0, y, sign, style);
    pen.text(1, y, &line.time, faint);
    pen.within(begin, y, name, room, style);
    let old = line.before.map(|before| before.state);
    let old = old.unwrap_or_else(|| line.lane.state_before_first());
    let new = line.now.state;
    let mut x = begin.saturating_add(room).saturating_add(1);
    x = pen.text(x, y, old.glyph(), pen.theme.state(old));
    x = pen.text(x, y, "→", faint);
    x = pen.text(x, y, new.glyph(), pen.theme.state(new)) + 1;
    let (words, writers) = (words(line), open.stream.writers(line.row));
    let mut end = pen.area.width;
    if !writers.is_empty() {
        // What it became comes first; who wrote it gets what is left, and never nothing.
        let left = usize::from(end.saturating_sub(x)).saturating_sub(words.width() + MARK);
        let who = distinct(&[writers.to_owned()], left.max(LEAST_WRITERS));
        let who = who.first().map_or("", String::as_str);
        end = pen.right(y, &format!(" ◂ {who}"), faint);
    }
    pen.within(x, y, &words, end.saturating_sub(x), style);
}

/// Describes the new state: the condition, where the row is of one, and its reason.
fn words(line: &TransitionLine<'_>) -> String {
    match (line.now.word.as_ref(), &line.lane.condition) {
        ("", Some(condition)) => condition.to_string(),
        ("", None) => line.now.state.word().to_owned(),
        (word, _) => word.to_owned(),
    }
}
