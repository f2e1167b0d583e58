//! Owns the lists of resources and of namespaces to choose from. Refuses empty ones without a word.

use super::pen::{Pen, first_row};
use crate::answer::{Kind, NEARBY_SECS};
use crate::lane::LaneState;
use crate::model::{Choice, Open};
use crate::theme::Role;
use crate::update;
use kubereel_history::{harmless, timetext};

/// Draws the resources that were recorded, with their objects at the cursor and the changes around it.
pub(super) fn kinds(open: &Open, choice: &Choice, pen: &mut Pen<'_>) {
    let all = update::kinds(open, choice);
    let at = open.place.written(&open.timeline);
    let order = open.browse.kinds_order.words();
    pen.head(0, &format!("RESOURCES {} at {at} · {order}", all.len()));
    let faint = pen.role(Role::Faint);
    let Some(known) = &open.browse.kinds else {
        pen.text(1, 1, "counting …", faint);
        return;
    };
    let words = format!("  objects  changes ±{NEARBY_SECS}s  changed      resource");
    pen.text(0, 1, &words, faint);
    if all.is_empty() {
        let words = if known.rows.is_empty() {
            "the reel holds no objects".to_owned()
        } else {
            format!(
                "no resource with {:?}: esc goes back",
                harmless(&choice.text)
            )
        };
        pen.text(1, 2, &words, faint);
        return;
    }
    let height = pen.area.height.saturating_sub(2);
    let first = first_row(choice.at, all.len(), height);
    for (y, (at, kind)) in (2..pen.area.height).zip(all.iter().enumerate().skip(first)) {
        kind_row(open, kind, y, at == choice.at, pen);
    }
}

fn kind_row(open: &Open, kind: &Kind, y: u16, is_chosen: bool, pen: &mut Pen<'_>) {
    let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
    let sign = if is_chosen { ">" } else { " " };
    let objects = kind
        .objects
        .map_or_else(|| "?".to_owned(), |count| count.to_string());
    let changed = kind
        .changed
        .map_or_else(|| "not yet".to_owned(), |at| ago(open, at));
    let words = format!("{sign}{objects:>8}  {:>12}  {changed:<11}  ", kind.nearby);
    let end = pen.text(0, y, &words, style);
    let end = pen.text(end, y, &kind.name, style);
    if let Some(words) = &kind.trust {
        let style = pen.theme.state(LaneState::Unknown);
        let sign = LaneState::Unknown.glyph();
        pen.text(end + 1, y, &format!("{sign} {words}"), style);
    }
}

/// Says how long before the cursor something was.
pub(super) fn ago(open: &Open, at: kubereel_format::RecordedAt) -> String {
    let micros = open.place.at.micros_since(at).max(0);
    let span = timetext::span(u64::try_from(micros).unwrap_or(0));
    format!("{span} ago")
}

/// Draws the namespaces, with their objects at the cursor.
pub(super) fn namespaces(open: &Open, choice: &Choice, pen: &mut Pen<'_>) {
    let rows = update::namespaces(open, choice);
    let at = open.place.written(&open.timeline);
    pen.head(
        0,
        &format!("NAMESPACES at {at} · letters narrow, enter takes one"),
    );
    let faint = pen.role(Role::Faint);
    let Some(known) = &open.browse.namespaces else {
        pen.text(1, 1, "counting …", faint);
        return;
    };
    let mut top = 1;
    if let Some(words) = &known.trust {
        let style = pen.theme.state(LaneState::Unknown);
        pen.text(1, top, words, style);
        top += 1;
    }
    pen.text(0, top, &format!("{:>9}  namespace", known.of), faint);
    top += 1;
    if rows.is_empty() {
        let words = format!(
            "no namespace with {:?}: esc goes back",
            harmless(&choice.text)
        );
        pen.text(1, top, &words, faint);
    }
    let height = pen.area.height.saturating_sub(top);
    let first = first_row(choice.at, rows.len(), height);
    for (y, (at, row)) in (top..pen.area.height).zip(rows.iter().enumerate().skip(first)) {
        let is_chosen = at == choice.at;
        let style = pen.role(if is_chosen { Role::Chosen } else { Role::Plain });
        let sign = if is_chosen { ">" } else { " " };
        let (name, count) = match row {
            Some((name, count)) => (harmless(name).into_owned(), *count),
            None => ("all namespaces".to_owned(), known.all()),
        };
        let is_taken = row.map(|row| &row.0) == open.namespace.as_ref();
        let mark = if is_taken { " ●" } else { "" };
        pen.text(0, y, &format!("{sign}{count:>8}  {name}{mark}"), style);
    }
}
