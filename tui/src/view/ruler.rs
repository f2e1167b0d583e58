//! Owns the rulers: the time of day, and the time since the start. Refuses labels that would touch.

use super::pen::Pen;
use crate::layout::Layout;
use crate::model::{Open, Window};
use crate::theme::Role;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;

/// Steps between labels that are no whole second, in microseconds.
const FINE_STEPS_MICROS: [i64; 9] = [
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
];
/// The other steps, in seconds.
const STEPS_SECS: [i64; 19] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 604_800,
];
/// How many letters a time of day has: in whole seconds, and in thousandths.
const LETTERS: (u16, u16) = (8, 12);

/// Draws the time of day.
pub(super) fn of_day(open: &Open, layout: &Layout, row: u16, pen: &mut Pen<'_>) {
    let long = timetext::span(u64::try_from(open.window.micros).unwrap_or(0));
    let faint = pen.role(Role::Faint);
    let room = layout.gutter.saturating_sub(1);
    pen.within(0, row, &format!("shows {long}"), room, faint);
    let step = step(open.window, layout.cells());
    let letters = if step % 1_000_000 == 0 {
        LETTERS.0
    } else {
        LETTERS.1
    };
    let label = |at: RecordedAt| {
        let text = timetext::time_of_day(at);
        text.chars().take(usize::from(letters)).collect()
    };
    labels(
        open,
        layout,
        row,
        RecordedAt::from_micros(0),
        step,
        label,
        pen,
    );
}

/// Draws the time since the start.
pub(super) fn since_start(open: &Open, layout: &Layout, row: u16, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    let room = layout.gutter.saturating_sub(1);
    pen.within(0, row, "since the start", room, faint);
    let start = open.timeline.start();
    let step = step(open.window, layout.cells());
    let label = |at: RecordedAt| timetext::offset(at.micros_since(start));
    labels(open, layout, row, start, step, label, pen);
}

/// Gives how far labels lie apart, in microseconds.
fn step(window: Window, cells: u16) -> i64 {
    let cell = window.cell_micros(cells);
    let least = |letters: u16| cell.saturating_mul(i64::from(letters) + 2);
    let mut fine = FINE_STEPS_MICROS.into_iter();
    let mut whole = STEPS_SECS.iter().map(|secs| secs * 1_000_000);
    fine.find(|step| *step >= least(LETTERS.1))
        .or_else(|| whole.find(|step| *step >= least(LETTERS.0)))
        .unwrap_or_else(|| {
            let secs = least(LETTERS.0) / 1_000_000;
            secs.saturating_add(1).saturating_mul(1_000_000)
        })
        .max(1)
}

/// Writes labels at every step from an origin on, as far as they fit.
fn labels(
    open: &Open,
    layout: &Layout,
    row: u16,
    origin: RecordedAt,
    step: i64,
    label: impl Fn(RecordedAt) -> String,
    pen: &mut Pen<'_>,
) {
    let (cells, faint) = (layout.cells(), pen.role(Role::Faint));
    let since = open.window.from.micros_since(origin);
    let mut at = origin
        .micros
        .saturating_add(since.div_euclid(step).saturating_mul(step));
    let mut free = 0;
    while at < open.window.end().micros {
        let moment = RecordedAt::from_micros(at);
        at = at.saturating_add(step);
        let Some(place) = open.window.cell_of(moment, cells) else {
            continue;
        };
        let text = label(moment);
        let letters = u16::try_from(text.chars().count()).unwrap_or(cells);
        if place >= free && place.saturating_add(letters) <= cells {
            pen.text(layout.gutter + place, row, &text, faint);
            free = place + letters + 1;
        }
    }
}
