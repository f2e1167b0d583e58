//! Owns setting a moment A and comparing it with another. Refuses to wait for the comparison.

use crate::effect::Effect;
use crate::model::{Model, Open, Pane, Panel, Reel, Screen, Search};
use std::sync::Arc;

/// Sets A, or compares it with here.
pub(super) fn step(model: &mut Model) -> Vec<Effect> {
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let Some(a) = open.compared.a else {
        open.compared.a = Some(open.place);
        let at = open.place.written(&open.timeline);
        model.word = Some(format!("A is {at}: move, and v compares it with there"));
        return Vec::new();
    };
    if a == open.place {
        model.word = Some("A is here: move, and v compares it with there; esc drops it".to_owned());
        return Vec::new();
    }
    let words = format!(
        "what differs between {} and here",
        a.written(&open.timeline)
    );
    let number = open.searches.begin(words);
    let search = Search::Compare(a, open.place);
    vec![Effect::Search(Arc::clone(&open.timeline), number, search)]
}

/// Shows one object of those that differ, field by field.
pub(super) fn show(open: &mut Open, at: usize) -> Screen {
    let row = open
        .compared
        .difference
        .as_ref()
        .and_then(|all| all.rows.get(at));
    let Some(subject) = row.map(|row| row.subject.clone()) else {
        return Screen::Main;
    };
    open.selected = Some(subject);
    open.condition = None;
    open.panel = Panel::Between;
    open.pane = Pane::Panel;
    open.scroll = 0;
    open.line = 0;
    Screen::Large
}
