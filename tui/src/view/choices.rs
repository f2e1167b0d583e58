//! Owns the lists to choose from: resources, and what looks wrong. Refuses empty ones without a word.

use super::pen::{Pen, first_row};
use crate::model::{Open, Pass};
use crate::theme::Role;
use crate::update;

/// Draws the recorded resources, with how many objects each ever had and how much goes on nearby.
pub(super) fn kinds(open: &Open, chosen: usize, pen: &mut Pen<'_>) {
    let all = update::kinds(open);
    pen.head(
        0,
        &format!("RESOURCES {} · enter lists the objects of one", all.len()),
    );
    let faint = pen.role(Role::Faint);
    pen.text(1, 1, "objects   changes in sight   resource", faint);
    let height = pen.area.height.saturating_sub(2);
    let first = first_row(chosen, all.len(), height);
    let window = open.window.from..open.window.end();
    for (y, (at, id)) in (2..pen.area.height).zip(all.iter().enumerate().skip(first)) {
        let Some(info) = open.timeline.resources().get(*id) else {
            continue;
        };
        let changes: u64 = open
            .timeline
            .density(window.clone(), 1, Some(*id))
            .counts
            .iter()
            .sum();
        let objects = open.timeline.objects_of(*id).len();
        let name = kubereel_replay::harmless(&info.qualified()).into_owned();
        let style = pen.role(if at == chosen {
            Role::Chosen
        } else {
            Role::Plain
        });
        let sign = if at == chosen { ">" } else { " " };
        pen.text(
            0,
            y,
            &format!("{sign}{objects:>7}   {changes:>16}   {name}"),
            style,
        );
    }
    if all.is_empty() {
        pen.text(1, 2, "the reel holds no objects", faint);
    }
}

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
