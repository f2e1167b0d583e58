//! Owns the timeline: stages, ruler, density, marks. Refuses to smooth: a cell that holds one event
//! shows it.

use super::pen::Pen;
use crate::lane::LaneState;
use crate::layout::Layout;
use crate::model::{Open, Window};
use crate::theme::Role;
use kubereel_format::RecordedAt;
use kubereel_replay::timetext;

const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws it; of two rows, ruler and density with marks over it.
pub(super) fn draw(open: &Open, layout: &Layout, pen: &mut Pen<'_>) {
    let cells = layout.cells();
    let left = layout.gutter;
    let is_low = pen.area.height < 4;
    let (ruler_row, density_row, marks_row) = if is_low { (0, 1, 1) } else { (1, 2, 3) };
    if !is_low {
        stages(open, left, cells, pen);
    }
    ruler(open, left, cells, ruler_row, pen);
    density(open, left, density_row, pen);
    marks(open, left, cells, marks_row, is_low, pen);
    if let Some(cell) = open.window.cell_of(open.place.at, cells) {
        let style = pen.role(Role::Cursor);
        pen.text(left + cell, ruler_row, "▼", style);
        pen.paint(left + cell, density_row, 1, style);
        pen.paint(left + cell, marks_row, 1, style);
    }
}

fn stages(open: &Open, left: u16, cells: u16, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    let Some(board) = open.board() else {
        pen.text(0, 0, "stages", faint);
        return;
    };
    pen.text(0, 0, "stages", faint);
    for (number, stage) in board.stages.iter().enumerate() {
        let (from, to) = (
            stage.span.start.max(open.window.from),
            stage.span.end.min(open.window.end()),
        );
        if from >= to {
            continue;
        }
        let first = open.window.cell_of(from, cells).unwrap_or(0);
        let last = open.window.cell_of(to, cells).unwrap_or(cells);
        let width = last.saturating_sub(first).max(1);
        let style = pen.role(Role::Stage(number % 2 == 0));
        let blank = " ".repeat(usize::from(width));
        pen.within(left + first, 0, &blank, width, style);
        if width > 3 {
            pen.within(left + first, 0, &stage.name, width, style);
        }
    }
}

/// Steps between labels of the ruler that are no whole second, in microseconds.
const FINE_STEPS_MICROS: [i64; 9] = [
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
];
/// The other steps, in seconds.
const STEPS_SECS: [i64; 19] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 604_800,
];

fn ruler(open: &Open, left: u16, cells: u16, row: u16, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    let cell = open.window.cell_micros(cells);
    let long = timetext::span(u64::try_from(open.window.micros).unwrap_or(0));
    pen.within(
        0,
        row,
        &format!("shows {long}"),
        left.saturating_sub(1),
        faint,
    );
    // Times in whole seconds are shorter than those in thousandths.
    let (short, long) = (8_u16, 12_u16);
    let least = |letters: u16| cell.saturating_mul(i64::from(letters) + 2);
    let mut fine = FINE_STEPS_MICROS.into_iter();
    let fine = fine.find(|step| *step >= least(long));
    let mut whole = STEPS_SECS.iter().map(|secs| secs * 1_000_000);
    let whole = whole.find(|step| *step >= least(short));
    let step = fine.or(whole).unwrap_or_else(|| least(short)).max(1);
    let letters = if fine.is_some() { long } else { short };
    let mut at = open
        .window
        .from
        .micros
        .div_euclid(step)
        .saturating_mul(step);
    while at < open.window.end().micros {
        let moment = RecordedAt::from_micros(at);
        if let Some(place) = open.window.cell_of(moment, cells)
            && place + letters <= cells
        {
            let text = timetext::time_of_day(moment);
            let text: String = text.chars().take(usize::from(letters)).collect();
            pen.text(left + place, row, &text, faint);
        }
        at = at.saturating_add(step);
    }
}

fn density(open: &Open, left: u16, row: u16, pen: &mut Pen<'_>) {
    let Some((window, cells, density)) = &open.density else {
        return;
    };
    let faint = pen.role(Role::Faint);
    let most = density.counts.iter().copied().max().unwrap_or(0);
    pen.within(
        0,
        row,
        &format!("events ≤{most}/cell"),
        left.saturating_sub(1),
        faint,
    );
    let style = pen.role(Role::Density);
    for cell in 0..*cells {
        // Slices are rounded up to whole microseconds: a cell shows the slice in which it begins.
        let count = count_of(*window, *cells, cell, density);
        if count > 0 {
            let step = usize::try_from(count.saturating_mul(7) / most.max(1)).unwrap_or(0);
            pen.text(
                left + cell,
                row,
                BARS.get(step).copied().unwrap_or("█"),
                style,
            );
        }
    }
}

fn count_of(window: Window, cells: u16, cell: u16, density: &kubereel_replay::Density) -> u64 {
    let span = window.cell(cell, cells);
    let micros = u64::try_from(span.start.micros_since(density.from)).unwrap_or(0);
    let slice = usize::try_from(micros / density.slice_micros.max(1)).ok();
    slice
        .and_then(|slice| density.counts.get(slice))
        .copied()
        .unwrap_or(0)
}

fn marks(open: &Open, left: u16, cells: u16, row: u16, is_low: bool, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    if !is_low {
        pen.within(0, row, "▲ problem ░ gap", left.saturating_sub(1), faint);
    }
    let mut mark = |from: RecordedAt, to: RecordedAt, state: LaneState, sign: &str| {
        let (from, to) = (from.max(open.window.from), to.min(open.window.end()));
        if from > to {
            return;
        }
        let Some(first) = open.window.cell_of(from, cells) else {
            return;
        };
        let before = RecordedAt::from_micros(to.micros.saturating_sub(1)).max(from);
        let last = open.window.cell_of(before, cells).unwrap_or(first);
        let style = pen.theme.state(state);
        for cell in first..=last {
            pen.text(left + cell, row, sign, style);
        }
    };
    if let Some(board) = open.board() {
        for problem in board.problems.iter().filter(|one| one.subject.is_some()) {
            mark(problem.from, problem.from, problem.state, "▲");
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
}
