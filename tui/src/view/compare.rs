//! Owns the list of what differs between two moments. Refuses an empty one without a word.

use super::pen::{Pen, first_row};
use crate::model::Open;
use crate::theme::Role;
use kubereel_history::harmless;

/// Draws it.
pub(super) fn draw(open: &Open, chosen: usize, pen: &mut Pen<'_>) {
    let faint = pen.role(Role::Faint);
    let Some(all) = &open.compared.difference else {
        pen.head(0, "DIFFERENCES");
        pen.text(
            1,
            1,
            "nothing is compared: v sets A, v again compares",
            faint,
        );
        return;
    };
    let count = |fate: &str| all.rows.iter().filter(|row| row.fate == fate).count();
    let (a, b) = (all.a.written(&open.timeline), all.b.written(&open.timeline));
    let head = format!(
        "A {a} → {b} · created {} deleted {} recreated {} changed {} · enter shows fields",
        count("created"),
        count("deleted"),
        count("recreated"),
        count("changed"),
    );
    pen.head(0, &head);
    let mut top = 1;
    let wary = pen.theme.state(crate::lane::LaneState::Unknown);
    if let Some(first) = all.unknown.first() {
        let more = all.unknown.len().saturating_sub(1);
        let more = if more > 0 {
            format!("; {more} more")
        } else {
            String::new()
        };
        pen.text(1, top, &format!("not known: {first}{more}"), wary);
        top += 1;
    }
    if all.rest > 0 {
        pen.text(
            1,
            top,
            &format!("{} objects more are not listed", all.rest),
            wary,
        );
        top += 1;
    }
    if all.rows.is_empty() {
        pen.text(1, top, "nothing differs", faint);
        return;
    }
    let first = first_row(chosen, all.rows.len(), pen.area.height.saturating_sub(top));
    for (y, (at, row)) in (top..pen.area.height).zip(all.rows.iter().enumerate().skip(first)) {
        let is_chosen = at == chosen;
        let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
        pen.text(0, y, if is_chosen { ">" } else { " " }, style);
        let sign = match row.fate {
            "created" => "+",
            "deleted" => "-",
            "recreated" => "±",
            _ => "~",
        };
        pen.text(1, y, sign, style);
        let room = pen.area.width / 2;
        let name = row.subject.written(&open.timeline);
        let end = pen.within(3, y, &name, room, style);
        let words = if row.words.is_empty() {
            row.fate
        } else {
            row.words.as_str()
        };
        pen.text(end + 2, y, &harmless(words), faint);
    }
}
