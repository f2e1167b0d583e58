//! Owns the page of keys, made from the table. Refuses keys that are not in it.

use super::pen::Pen;
use crate::keymap::{Where, bindings};
use crate::lane::LaneState;
use crate::theme::Role;

/// Draws it from a line on.
pub(super) fn draw(first: usize, pen: &mut Pen<'_>) {
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
    let rows = bindings().filter(|row| row.place != Where::Text);
    for (y, row) in (2..pen.area.height).zip(rows.skip(first)) {
        let strong = pen.role(Role::Strong);
        pen.text(1, y, row.shown, strong);
        let plain = pen.role(Role::Plain);
        pen.text(16, y, row.does, plain);
    }
}
