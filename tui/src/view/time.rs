//! The timeline: stages, rulers, density, marks. Nothing is smoothed: a cell with one event shows it.

use super::pen::{ScreenPen, columns};
use crate::lane::LaneState;
use crate::layout::Layout;
use crate::model::OpenReel;
use crate::problem::{ProblemEntry, ProblemKind};
use crate::theme::StyleRole;
use crate::time::{ViewWindow, clock_text, span_text, spans_days};
use crate::update::place_of;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::ops::Range;

const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws it, as far as there are rows: ruler, density and marks; stages; the time since the start.
pub(super) fn draw(open: &OpenReel, layout: &Layout, pen: &mut ScreenPen<'_>) {
    let cells = layout.cells();
    let left = layout.gutter;
    let mut own = pen.area;
    if layout.has_minimap {
        own.height = own.height.saturating_sub(1);
        minimap(
            open,
            layout,
            &mut pen.on(ratatui::layout::Rect {
                y: own.y + own.height,
                height: 1,
                ..own
            }),
        );
    }
    let pen = &mut pen.on(own);
    let is_low = pen.area.height < 4;
    let has_both = pen.area.height > 4;
    let ruler_row = u16::from(!is_low);
    let density_row = ruler_row + 1 + u16::from(has_both);
    let marks_row = density_row + u16::from(!is_low);
    if !is_low {
        stages(open, left, cells, pen);
    }
    draw_day(open, layout, ruler_row, pen);
    if has_both {
        draw_since_start(open, layout, ruler_row + 1, pen);
    }
    density(open, left, density_row, pen);
    marks(open, left, cells, marks_row, is_low, pen);
    picked(open, layout, ruler_row..density_row + 1, pen);
    let style = pen.role(StyleRole::Cursor);
    let a = open.compared.a;
    if let Some(cell) = a.and_then(|a| open.window.cell_of(a.at, cells)) {
        let style = pen.role(StyleRole::Cursor);
        pen.text(left + cell, ruler_row, "A", style);
    }
    if let Some(cell) = open.window.cell_of(open.place.at, cells) {
        // What stands there stays readable: only a blank gets the sign.
        if pen.is_blank(left + cell, ruler_row) {
            pen.text(left + cell, ruler_row, "▼", style);
        }
        for row in ruler_row..=marks_row {
            pen.paint(left + cell, row, 1, style);
        }
    } else if open.place.at < open.window.from {
        pen.text(left, ruler_row, "◀", style);
    } else {
        pen.text((left + cells).saturating_sub(1), ruler_row, "▶", style);
    }
}

/// Draws the whole reel in one row: where the window lies in it, and where something was wrong.
fn minimap(open: &OpenReel, layout: &Layout, pen: &mut ScreenPen<'_>) {
    let (cells, left, whole) = (layout.cells(), layout.gutter, open.bounds());
    let faint = pen.role(StyleRole::Faint);
    let words = format!("whole reel {}", span_text(whole.micros));
    pen.within(0, 0, &words, left.saturating_sub(1), faint);
    let (first, width) = whole.cells_of(&(open.window.from..open.window.end()), cells);
    let strong = pen.role(StyleRole::Strong);
    for cell in 0..cells {
        let is_within = (first..first.saturating_add(width)).contains(&cell);
        let (sign, style) = if is_within {
            ("━", strong)
        } else {
            ("─", faint)
        };
        pen.text(left + cell, 0, sign, style);
    }
    for (at, entry) in ticks(open, whole).filter(|(_, entry)| !entry.is_minor()) {
        if let Some(cell) = whole.cell_of(at, cells) {
            let style = pen.theme.state(entry.state);
            pen.text(left + cell, 0, "▲", style);
        }
    }
    if let Some(cell) = whole.cell_of(open.place.at, cells) {
        let style = pen.role(StyleRole::Cursor);
        pen.paint(left + cell, 0, 1, style);
    }
}

/// Draws the span of time that is selected.
fn picked(open: &OpenReel, layout: &Layout, rows: Range<u16>, pen: &mut ScreenPen<'_>) {
    let Some(span) = open.picked.map(|picked| picked.span(open.place.at)) else {
        return;
    };
    let (first, width) = open
        .window
        .cells_of(&(span.from..span.end()), layout.cells());
    let style = pen.role(StyleRole::Picked);
    for row in rows {
        pen.paint(layout.gutter + first, row, width, style);
    }
}

fn stages(open: &OpenReel, left: u16, cells: u16, pen: &mut ScreenPen<'_>) {
    let faint = pen.role(StyleRole::Faint);
    pen.text(0, 0, "stages", faint);
    let Some(board) = open.board() else {
        return;
    };
    for (number, stage) in board.stages.iter().enumerate() {
        let (first, width) = open.window.cells_of(&stage.span, cells);
        if width == 0 {
            continue;
        }
        // The cell in which one ends and the next begins is the next one's: no name is cut by it.
        let next = open.window.cell_of(stage.span.end, cells);
        let width = next.map_or(width, |next| next.saturating_sub(first).max(1));
        let style = pen.role(StyleRole::Stage(number % 2 == 0));
        let blank = " ".repeat(usize::from(width));
        pen.within(left + first, 0, &blank, width, style);
        // A column stays free, so that no two names touch.
        if let Some(name) = stage.fitting(width.saturating_sub(1)) {
            pen.within(left + first, 0, name, width, style);
        }
    }
}

fn density(open: &OpenReel, left: u16, row: u16, pen: &mut ScreenPen<'_>) {
    let Some((window, cells, density)) = &open.density else {
        return;
    };
    let faint = pen.role(StyleRole::Faint);
    let most = density.counts.iter().copied().max().unwrap_or(0);
    pen.within(
        0,
        row,
        &format!("events ≤{most}/cell"),
        left.saturating_sub(1),
        faint,
    );
    let style = pen.role(StyleRole::Density);
    // Slices are rounded up to whole microseconds: a cell shows the slice in which it begins.
    let counts: Vec<u64> = (0..*cells)
        .map(|cell| count_of(*window, *cells, cell, density))
        .collect();
    for (x, count) in (left..).zip(&counts).filter(|(_, count)| **count > 0) {
        let step = usize::try_from(count.saturating_mul(7) / most.max(1)).unwrap_or(0);
        let bar = BARS.get(step).copied().unwrap_or("█");
        pen.text(x, row, bar, style);
    }
    // Where no events came while unobserved, it is unknown whether anything happened.
    let unknown = pen.theme.state(LaneState::Unknown);
    for dark in &open.dark {
        let (first, width) = window.cells_of(&dark.span, *cells);
        let dark = (first..first.saturating_add(width)).map(usize::from);
        for (x, cell) in (left + first..).zip(dark) {
            if counts.get(cell) == Some(&0) {
                pen.text(x, row, LaneState::Unknown.glyph(), unknown);
            }
        }
    }
}

fn count_of(window: ViewWindow, cells: u16, cell: u16, density: &kubereel_history::Density) -> u64 {
    let span = window.cell(cell, cells);
    let micros = u64::try_from(span.start.micros_since(density.from)).unwrap_or(0);
    let slice = usize::try_from(micros / density.slice_micros.max(1)).ok();
    slice
        .and_then(|slice| density.counts.get(slice))
        .copied()
        .unwrap_or(0)
}

fn marks(open: &OpenReel, left: u16, cells: u16, row: u16, is_low: bool, pen: &mut ScreenPen<'_>) {
    let faint = pen.role(StyleRole::Faint);
    if !is_low {
        pen.within(
            0,
            row,
            "▲problem ░gap ╳outage",
            left.saturating_sub(1),
            faint,
        );
    }
    let mut mark = |from: RecordedAt, to: RecordedAt, state: LaneState, sign: &str| {
        let (first, width) = open.window.cells_of(&(from..to), cells);
        let style = pen.theme.state(state);
        for cell in first..first + width {
            pen.text(left + cell, row, sign, style);
        }
    };
    for is_minor in [true, false] {
        for (at, entry) in
            ticks(open, open.window).filter(|(_, entry)| entry.is_minor() == is_minor)
        {
            let next = RecordedAt::from_micros(at.micros.saturating_add(1));
            if is_minor {
                mark(at, next, LaneState::Absent, "▵");
            } else {
                mark(at, next, entry.state, "▲");
            }
        }
    }
    for outage in open
        .timeline
        .outages()
        .iter()
        .filter(|one| !one.is_before_first_answer)
    {
        mark(outage.from, outage.to, LaneState::Down, "╳");
    }
    for dark in &open.dark {
        mark(dark.span.start, dark.span.end, LaneState::Unknown, "░");
    }
    let strong = pen.role(StyleRole::Strong);
    for mark in &open.marks {
        if let Some(cell) = open.window.cell_of(mark.at, cells) {
            pen.text(left + cell, row, "◇", strong);
        }
    }
    for bookmark in &open.bookmarks.all {
        if let Some(cell) = open.window.cell_of(place_of(open, bookmark).at, cells) {
            pen.text(left + cell, row, "◆", strong);
        }
    }
}

/// Gives the times in sight at which something was wrong; what is missing is drawn as a span.
fn ticks(open: &OpenReel, within: ViewWindow) -> impl Iterator<Item = (RecordedAt, &ProblemEntry)> {
    let problems = open.trouble.problems.as_ref();
    let steps = problems.map_or(&[][..], |all| &all.steps);
    let first = steps.partition_point(|step| step.key.0 < within.from);
    let steps = steps.get(first..).unwrap_or_default().iter();
    let end = within.end();
    let steps = steps.take_while(move |step| step.key.0 < end);
    let found = steps.filter_map(move |step| {
        let entry = problems?.entries.get(step.entry)?;
        Some((step.key.0, entry))
    });
    found.filter(|(_, entry)| {
        !matches!(
            entry.kind,
            ProblemKind::Gap | ProblemKind::Damage | ProblemKind::Outage
        )
    })
}

/// Steps between labels below one second, in microseconds.
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
/// How many letters month and day take before it.
const DAY_LETTERS: u16 = 6;

/// Draws the time of day.
fn draw_day(open: &OpenReel, layout: &Layout, row: u16, pen: &mut ScreenPen<'_>) {
    let long = span_text(open.window.micros);
    let faint = pen.role(StyleRole::Faint);
    let room = layout.gutter.saturating_sub(1);
    pen.within(0, row, &format!("shows {long}"), room, faint);
    // Without the day, two labels a day apart would be alike.
    let has_day = spans_days(&open.timeline, open.timeline.start());
    let day = if has_day { DAY_LETTERS } else { 0 };
    let (whole, fine) = (LETTERS.0 + day, LETTERS.1 + day);
    let step = label_step(open.window, layout.cells(), (whole, fine));
    let letters = if step % 1_000_000 == 0 { whole } else { fine };
    let label = |at: RecordedAt| {
        let text = clock_text(&open.timeline, at);
        text.chars().take(usize::from(letters)).collect()
    };
    // Labels stand at whole hours of the clock that is shown.
    let ahead = open.timeline.zone().offset_micros(open.window.from);
    draw_labels(
        open,
        layout,
        row,
        RecordedAt::from_micros(-ahead),
        step,
        label,
        pen,
    );
}

/// Draws the time since the start.
fn draw_since_start(open: &OpenReel, layout: &Layout, row: u16, pen: &mut ScreenPen<'_>) {
    let faint = pen.role(StyleRole::Faint);
    let room = layout.gutter.saturating_sub(1);
    pen.within(0, row, "since the start", room, faint);
    let start = open.timeline.start();
    let step = label_step(open.window, layout.cells(), LETTERS);
    let label = |at: RecordedAt| timetext::offset(at.micros_since(start));
    draw_labels(open, layout, row, start, step, label, pen);
}

/// Gives how far labels lie apart, in microseconds. Those in whole seconds have `short` letters, those in
/// thousandths `long`.
fn label_step(window: ViewWindow, cells: u16, (short, long): (u16, u16)) -> i64 {
    let cell = window.cell_micros(cells);
    let least = |letters: u16| cell.saturating_mul(i64::from(letters) + 2);
    let mut fine = FINE_STEPS_MICROS.into_iter();
    let mut whole = STEPS_SECS.iter().map(|secs| secs * 1_000_000);
    fine.find(|step| *step >= least(long))
        .or_else(|| whole.find(|step| *step >= least(short)))
        .unwrap_or_else(|| {
            let secs = least(short) / 1_000_000;
            secs.saturating_add(1).saturating_mul(1_000_000)
        })
        .max(1)
}

/// Writes labels at every step from an origin on, as far as they fit.
fn draw_labels(
    open: &OpenReel,
    layout: &Layout,
    row: u16,
    origin: RecordedAt,
    step: i64,
    label: impl Fn(RecordedAt) -> String,
    pen: &mut ScreenPen<'_>,
) {
    let (cells, faint) = (layout.cells(), pen.role(StyleRole::Faint));
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
        let letters = columns(text.chars().count());
        if place >= free && place.saturating_add(letters) <= cells {
            pen.text(layout.gutter + place, row, &text, faint);
            free = place + letters + 1;
        }
    }
}
