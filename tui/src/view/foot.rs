//! Owns the last line: what is being written, what happened, or the keys. Refuses two of them at once.

use super::pen::Pen;
use crate::keymap::{bindings, has_meaning};
use crate::model::{Content, List, Model, Open, Picked, Screen};
use crate::theme::Role;
use kubereel_history::{harmless, timetext};
use unicode_width::UnicodeWidthStr as _;

/// Says how a filter is written.
fn filter_hint(open: &Open) -> &'static str {
    match open.list {
        List::Lanes => "words /regex/ ns:x kind:pod bad down !not",
        List::Objects(_) => "words /regex/ ns:x label:app=web status.phase!=Running !not",
    }
}

/// Draws what is wrong with the filter that is being written, above the prompt.
pub(super) fn error(model: &Model, open: &Open, pen: &mut Pen<'_>) {
    if let (Screen::Filter(_), Some(error)) = (&model.screen, open.filter.error()) {
        let style = pen.theme.state(crate::lane::LaneState::Bad);
        let blank = " ".repeat(usize::from(pen.area.width));
        pen.text(0, 0, &blank, style);
        pen.text(0, 0, error, style);
    }
}

/// Draws it.
pub(super) fn draw(model: &Model, open: &Open, pen: &mut Pen<'_>) {
    let bar = pen.role(Role::Bar);
    let strong = pen.role(Role::Strong);
    let faint = pen.role(Role::Faint);
    let prompt = match &model.screen {
        Screen::GoTo(choice) => Some((
            ":",
            &choice.text,
            "14:02  +5m  -30s  rv:1200  start  end  or a command",
        )),
        Screen::Note(noting) => Some(("◆", &noting.text, "a note, if you like · enter sets")),
        Screen::Filter(text) => Some(("/", text, filter_hint(open))),
        Screen::Seek { text, .. } => Some(("/", text, open.reading.hint.as_str())),
        Screen::Kinds(choice) => Some((
            "b ",
            &choice.text,
            "letters narrow  enter lists  tab order  esc",
        )),
        Screen::Namespaces(choice) => {
            Some(("u ", &choice.text, "letters narrow  enter takes  esc"))
        }
        _ => None,
    };
    if let Some((sign, text, hint)) = prompt {
        let end = pen.text(0, 0, sign, strong);
        let end = pen.text(end, 0, &harmless(text), strong);
        let end = pen.text(end, 0, " ", bar);
        pen.text(end + 2, 0, hint, faint);
        return;
    }
    if let Some(word) = &model.word {
        pen.text(0, 0, &harmless(word), strong);
        return;
    }
    if let Some(now) = &open.searches.now {
        let far = match now.done {
            (_, 0) => String::new(),
            (done, all) => format!("{done} of {all} · "),
        };
        let words = format!("looking for {}: {far}esc stops", now.words);
        pen.text(0, 0, &words, strong);
        return;
    }
    if let Some(content) = open.picked_content {
        picked(open, content, pen);
        return;
    }
    let mut x = 0;
    if !open.filter.is_empty() {
        let filter = format!("/{} ", harmless(open.filter.text()));
        x = pen.within(0, 0, &filter, pen.area.width / 3, bar) + 1;
    }
    let rows = bindings().filter(|row| has_meaning(row.place, &model.screen));
    for row in rows.filter(|row| !row.brief.is_empty()) {
        let width = row.shown.width() + row.brief.width() + 3;
        if usize::from(x) + width > usize::from(pen.area.width) + 2 {
            continue;
        }
        x = pen.text(x, 0, row.shown, strong);
        x = pen.text(x + 1, 0, row.brief, faint) + 2;
    }
}

/// Says what lies in the span of time that is selected, and what can be done with it.
fn picked(open: &Open, content: Content, pen: &mut Pen<'_>) {
    let (strong, plain) = (pen.role(Role::Strong), pen.role(Role::Plain));
    let long = timetext::span(u64::try_from(content.span.micros).unwrap_or(0));
    let mut x = pen.text(0, 0, &long, strong);
    for (count, one, many) in [
        (content.events, "event", "events"),
        (
            u64::try_from(content.changes).unwrap_or(u64::MAX),
            "change",
            "changes",
        ),
    ] {
        let word = if count == 1 { one } else { many };
        x = pen.text(x, 0, &format!(" · {count} {word}"), plain);
    }
    let is_fixed = open.picked.is_some_and(Picked::is_fixed);
    let first = ("V", if is_fixed { "begins anew" } else { "fixes it" });
    x += 2;
    for (key, does) in [first, ("enter", "zooms"), ("esc", "drops it")] {
        let end = usize::from(x) + key.len() + does.len() + 1;
        if end <= usize::from(pen.area.width) {
            x = pen.text(x, 0, key, strong);
            let faint = pen.role(Role::Faint);
            x = pen.text(x + 1, 0, does, faint) + 2;
        }
    }
}
