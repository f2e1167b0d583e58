//! Owns the page of keys, made from the table: those of the screen that one came from first. Refuses
//! keys that are not in it.

use super::pen::{Pen, broken};
use crate::keymap::grouped;
use crate::lane::LaneState;
use crate::model::Screen;
use crate::theme::Role;

/// The column in which what keys do begins.
const DOES: u16 = 16;

/// A line of the page.
enum Shown {
    Head(&'static str),
    /// A key, or none where the words before go on.
    Keys(&'static str, String),
}

/// Draws it from a line on.
pub(super) fn draw(first: usize, of: &Screen, pen: &mut Pen<'_>) {
    pen.head(0, "KEYS · esc goes back, ↓ shows more");
    let mut x = 1;
    for state in LaneState::ALL {
        let style = pen.theme.state(state);
        x = pen.text(x, 1, state.glyph(), style) + 1;
        let plain = pen.role(Role::Plain);
        x = pen.text(x, 1, state.word(), plain) + 2;
    }
    let style = pen.role(Role::Density);
    for (sign, word) in [("━", "exists"), ("┿", "changed")] {
        x = pen.text(x, 1, sign, style) + 1;
        let plain = pen.role(Role::Plain);
        x = pen.text(x, 1, word, plain) + 2;
    }
    let room = usize::from(pen.area.width.saturating_sub(DOES)).max(1);
    let mut lines = Vec::new();
    for (head, rows) in grouped(of) {
        if rows.is_empty() {
            continue;
        }
        lines.push(Shown::Head(head));
        for row in rows {
            for (number, words) in broken(row.does, room).into_iter().enumerate() {
                let keys = if number == 0 { row.shown } else { "" };
                lines.push(Shown::Keys(keys, words.to_owned()));
            }
        }
    }
    // The last page is full.
    let height = usize::from(pen.area.height.saturating_sub(2));
    let first = first.min(lines.len().saturating_sub(height));
    for (y, line) in (2..pen.area.height).zip(lines.iter().skip(first)) {
        match line {
            Shown::Head(words) => pen.head(y, words),
            Shown::Keys(keys, does) => {
                let strong = pen.role(Role::Strong);
                pen.within(1, y, keys, DOES - 2, strong);
                let plain = pen.role(Role::Plain);
                pen.text(DOES, y, does, plain);
            }
        }
    }
}
