//! Owns the panel: lines about the selected object. Refuses a blank one: it says what is missing.

use super::pen::Pen;
use crate::answer::{Answer, Line};
use crate::lane::{LaneState, Reading};
use crate::model::{Open, Pane, Panel};
use crate::theme::Role;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr as _;

/// Where less is left for the text, what stands at the right end is left out.
const NARROWEST_TEXT: usize = 24;

/// Draws it.
pub(super) fn draw(open: &Open, pen: &mut Pen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(Role::Faint);
    let is_nearby = open.panel == Panel::Nearby;
    let Some(selected) = open
        .selected
        .as_ref()
        .map(|selected| selected.written(&open.timeline))
        .or_else(|| is_nearby.then(String::new))
    else {
        pen.head(0, "nothing is selected");
        pen.text(1, 1, "↑ ↓ selects a row, b browses resources", faint);
        return;
    };
    let tab = match open.panel {
        Panel::Yaml => "yaml",
        Panel::History => "history",
        Panel::Events => "events",
        Panel::Between => "between A and here",
        Panel::Nearby => "",
    };
    let field = match (open.panel, crate::update::followed(open)) {
        (Panel::Yaml, Some(field)) => {
            format!(" · .{}", kubereel_replay::harmless(&field.to_string()))
        }
        _ => String::new(),
    };
    let sign = if open.pane == Pane::Panel { "> " } else { "" };
    let head = if is_nearby {
        format!("{sign}CHANGED HERE · enter goes there")
    } else {
        format!("{sign}{selected} · {tab}{field}")
    };
    pen.head(0, &head);
    let state = state(open).filter(|_| !is_nearby);
    if let Some((state, words)) = state {
        let style = pen.theme.state(state);
        pen.right(0, &format!(" {} {words}", state.glyph()), style);
    }
    let Some(Answer::Lines(question, lines, _)) = &open.answer else {
        pen.text(1, 1, "reading …", faint);
        return;
    };
    let is_late = open.asked.iter().flatten().all(|asked| asked != question);
    if is_late
        && !open
            .asked
            .iter()
            .flatten()
            .any(|asked| crate::answer::is_same_thing(asked, question))
    {
        pen.text(1, 1, "reading …", faint);
        return;
    }
    let rows = lines.iter().enumerate().skip(open.scroll);
    for (y, (at, line)) in (1..pen.area.height).zip(rows) {
        draw_line(line, y, pen);
        if at == open.line && open.pane == Pane::Panel {
            let chosen = pen.role(Role::Chosen).add_modifier(Modifier::REVERSED);
            pen.paint(0, y, pen.area.width, chosen);
        }
        if is_late {
            // It is how things were where the cursor stood a moment ago.
            pen.paint(0, y, pen.area.width, faint);
        }
    }
}

/// Gives what the selected lane says at the cursor.
fn state(open: &Open) -> Option<(LaneState, String)> {
    let lane = open.chosen_lane()?;
    let (state, why) = lane.at(open.place.at);
    if lane.reading == Reading::Presence && state != LaneState::Unknown {
        return None;
    }
    let gap = if why.is_empty() { "" } else { " " };
    Some((state, format!("{}{gap}{why}", state.word())))
}

fn draw_line(line: &Line, y: u16, pen: &mut Pen<'_>) {
    let width = usize::from(pen.area.width);
    let own: usize = line.parts.iter().map(|(_, text)| text.width()).sum();
    let aside = line.aside.width();
    let has_room = aside > 0 && own.max(NARROWEST_TEXT) + aside + 3 <= width;
    let is_kept = aside > 0 && !has_room && width > NARROWEST_TEXT + aside + 3;
    let room = if is_kept { width - aside - 2 } else { width };
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    let mut x = 0;
    for (ink, text) in &line.parts {
        let style = pen.theme.ink(*ink);
        x = pen.within(x, y, text, room.saturating_sub(x), style);
    }
    if has_room || is_kept {
        let faint = pen.role(Role::Faint);
        pen.right(y, &line.aside, faint);
    }
}
