//! Owns the list of bookmarks. Refuses an empty one without a word.

use super::pen::{Pen, first_row};
use crate::model::Open;
use crate::theme::Role;
use crate::update::place_of;
use kubereel_history::harmless;

/// Draws them, in the order of records.
pub(super) fn draw(open: &Open, chosen: usize, pen: &mut Pen<'_>) {
    let all = &open.bookmarks.all;
    let head = format!(
        "BOOKMARKS {} · enter goes there, d removes, m writes a note",
        all.len()
    );
    pen.head(0, &head);
    let faint = pen.role(Role::Faint);
    let mut top = 1;
    if let Some(words) = &open.bookmarks.words {
        let style = pen.theme.state(crate::lane::LaneState::Unknown);
        pen.text(1, top, &harmless(words), style);
        top += 1;
    }
    if all.is_empty() {
        pen.text(1, top, "there is no bookmark: m sets one", faint);
        return;
    }
    let first = first_row(chosen, all.len(), pen.area.height.saturating_sub(top));
    for (y, (at, one)) in (top..pen.area.height).zip(all.iter().enumerate().skip(first)) {
        let style = pen.role(if at == chosen {
            Role::Chosen
        } else {
            Role::Plain
        });
        let sign = if at == chosen { ">◆ " } else { " ◆ " };
        let end = pen.text(0, y, sign, style);
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
    }
}
