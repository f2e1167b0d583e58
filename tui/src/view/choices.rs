//! Owns the list of what looks wrong. Refuses an empty one without a word.

use super::pen::{Pen, first_row};
use crate::model::{Open, Pass};
use crate::theme::Role;
use crate::update;

/// Draws what looks wrong, what matters most first.
pub(super) fn problems(open: &Open, chosen: usize, pen: &mut Pen<'_>) {
    let all = update::ranked(open);
    pen.head(0, &format!("PROBLEMS {} · enter goes there", all.len()));
    let faint = pen.role(Role::Faint);
    let Some(board) = open.board() else {
        let words = match open.pass {
            Pass::Stopped => "reading was stopped: what looks wrong is not known",
            _ => "reading …",
        };
        pen.text(1, 1, words, faint);
        return;
    };
    if all.is_empty() {
        pen.text(
            1,
            1,
            "nothing looks wrong in operators, pools, nodes and pods, and nothing is missing",
            faint,
        );
        return;
    }
    let height = pen.area.height.saturating_sub(1);
    let first = first_row(chosen, all.len(), height);
    for (y, (row, at)) in (1..pen.area.height).zip(all.iter().enumerate().skip(first)) {
        let Some(problem) = board.problems.get(*at) else {
            continue;
        };
        let style = pen.role(if row == chosen {
            Role::Chosen
        } else {
            Role::Plain
        });
        let sign = if row == chosen { ">" } else { " " };
        pen.text(0, y, sign, style);
        let state = pen.theme.state(problem.state);
        pen.text(1, y, problem.state.glyph(), state);
        let end = pen.text(3, y, &open.timeline.written(problem.from), faint);
        let room = pen.area.width.saturating_sub(end + 2) * 2 / 5;
        pen.within(end + 2, y, &problem.about, room, style);
        pen.text(end + 2 + room + 1, y, &problem.words, style);
    }
}
