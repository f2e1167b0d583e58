//! Owns the list of what can be run, above its prompt. Refuses to leave out the key of an entry: the
//! list teaches them.

use super::pen::{Pen, first_row};
use crate::model::{Choice, Open};
use crate::theme::Role;
use crate::update::palette;
use ratatui::layout::Rect;

/// How many rows it takes at most.
const MOST_ROWS: u16 = 12;

/// Draws it on the last rows of a part of the screen.
pub(super) fn draw(open: &Open, choice: &Choice, pen: &mut Pen<'_>) {
    let all = palette::entries(open, &choice.text);
    let count = u16::try_from(all.len().max(1)).unwrap_or(u16::MAX);
    let height = count.saturating_add(1).min(MOST_ROWS).min(pen.area.height);
    let area = Rect {
        y: pen.area.y + pen.area.height - height,
        height,
        ..pen.area
    };
    let mut pen = pen.on(area);
    let plain = pen.role(Role::Plain);
    let blank = " ".repeat(usize::from(area.width));
    for y in 0..height {
        pen.paint(0, y, area.width, ratatui::style::Style::reset());
        pen.text(0, y, &blank, plain);
    }
    pen.head(0, "GO TO A TIME, OR RUN · ↑ ↓ choose, enter runs");
    let faint = pen.role(Role::Faint);
    if all.is_empty() {
        let words = "no such command; a TIME is 14:02, +5m, -30s, rv:1200, start or end";
        pen.text(1, 1, words, faint);
        return;
    }
    let first = first_row(choice.at, all.len(), height.saturating_sub(1));
    for (y, (at, entry)) in (1..height).zip(all.iter().enumerate().skip(first)) {
        let is_chosen = at == choice.at;
        let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
        pen.text(0, y, if is_chosen { ">" } else { " " }, style);
        let key = pen.role(Role::Strong);
        pen.within(2, y, entry.key, 12, key);
        pen.text(15, y, &entry.words, style);
    }
}
