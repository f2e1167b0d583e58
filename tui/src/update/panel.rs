//! Owns the line of the panel at which the keys are, and the field that is followed by it. Refuses to
//! lose the field when time moves: the line goes where the field is.

use crate::answer::{Answer, Ink, Line};
use crate::model::{Open, Pane, Panel};
use kubereel_history::FieldPath;

/// Puts the keys at a line, and scrolls as little as makes it visible; the head takes a row.
pub(super) fn stand(open: &mut Open, line: usize, height: u16) {
    open.line = line;
    let rows = usize::from(height.saturating_sub(1)).max(1);
    open.scroll = open.scroll.clamp((line + 1).saturating_sub(rows), line);
    if open.panel == Panel::Yaml
        && let Some(field) = field_at(open, line)
    {
        open.field = Some(field);
    }
}

/// Takes note that the panel has new lines, perhaps of the same thing at another moment.
pub(super) fn answered(open: &mut Open, is_same: bool) {
    let Some(Answer::Lines(_, lines, first)) = &open.answer else {
        return;
    };
    let own = open.field.as_ref().filter(|_| open.panel == Panel::Yaml);
    let found = own.and_then(|own| {
        lines
            .iter()
            .position(|line| line.field.as_ref() == Some(own))
    });
    let changed = || {
        lines
            .iter()
            .position(|line| is_changed(line) && line.field.is_some())
    };
    open.line = match found {
        Some(line) => line,
        None if is_same => open.line.min(lines.len().saturating_sub(1)),
        None => changed().unwrap_or(*first),
    };
    if open.pane == Pane::Panel && found.is_some() {
        // Who reads there wants to see what becomes of it.
        open.scroll = open.line.saturating_sub(SPARE);
    }
}

/// So many lines show above the field that is followed.
const SPARE: usize = 4;

fn is_changed(line: &Line) -> bool {
    line.parts.iter().any(|(ink, _)| *ink == Ink::Changed)
}

/// Gives the field that a line of the panel shows.
fn field_at(open: &Open, line: usize) -> Option<FieldPath> {
    match &open.answer {
        Some(Answer::Lines(_, lines, _)) => lines.get(line)?.field.clone(),
        _ => None,
    }
}

/// Gives the field that is followed: the one that was chosen, the status of the lane's condition, or
/// the one at the panel's line.
pub(crate) fn followed(open: &Open) -> Option<FieldPath> {
    let of_lane = || {
        let condition = open.condition.as_deref()?;
        let key = kubereel_history::KeyPart {
            name: "type".to_owned(),
            value: condition.to_owned(),
        };
        let member = |name: &str| kubereel_history::FieldStep::Member(name.to_owned());
        let item = kubereel_history::FieldStep::Item(vec![key]);
        Some(
            [
                member("status"),
                member("conditions"),
                item,
                member("status"),
            ]
            .into_iter()
            .collect(),
        )
    };
    let at_line = || (open.panel == Panel::Yaml).then(|| field_at(open, open.line))?;
    open.field.clone().or_else(of_lane).or_else(at_line)
}
