//! Owns what a key means on a screen, and the manual of keys. Refuses to hold the keys: the tables do.

use super::binding::{Binding, Key, Where};
use super::{always, choice, list, marks, object, problems, text, time};
use crate::model::Screen;
use crate::msg::Act;

/// Gives all rows. Keys take the acts in turn: with two acts, every other key means the second.
pub(crate) fn bindings() -> impl Iterator<Item = &'static Binding> {
    [
        time::KEYS,
        list::KEYS,
        object::KEYS,
        marks::KEYS,
        always::KEYS,
        choice::KEYS,
        problems::KEYS,
        text::KEYS,
    ]
    .into_iter()
    .flatten()
}

/// Gives what a key means on a screen.
pub(crate) fn act(key: Key, screen: &Screen) -> Option<Act> {
    let is_here = |place: Where| has_meaning(place, screen);
    bindings().filter(|row| is_here(row.place)).find_map(|row| {
        let at = row.keys.iter().position(|own| *own == key)?;
        row.acts.get(at % row.acts.len().max(1)).copied()
    })
}

/// Tells whether keys of a place have a meaning on a screen.
pub(crate) const fn has_meaning(place: Where, screen: &Screen) -> bool {
    match screen {
        Screen::Main | Screen::Large => matches!(place, Where::Timeline | Where::Everywhere),
        Screen::Kinds(_) | Screen::Namespaces(_) => matches!(place, Where::Choice | Where::Text),
        Screen::Problems(_) => matches!(place, Where::Problems | Where::Everywhere),
        Screen::Help(..) | Screen::Compare(_) => matches!(place, Where::Everywhere),
        Screen::Bookmarks(_) => matches!(place, Where::Bookmarks | Where::Everywhere),
        Screen::GoTo(_) => matches!(place, Where::Text | Where::Palette),
        Screen::Filter(_) | Screen::Note(_) | Screen::Seek { .. } => matches!(place, Where::Text),
    }
}

/// Gives the keys for people: those of a screen, those that hold everywhere, and all others.
pub(crate) fn grouped(of: &Screen) -> [(&'static str, Vec<&'static Binding>); 3] {
    let rows = |is_it: &dyn Fn(Where) -> bool| bindings().filter(|row| is_it(row.place)).collect();
    let is_own = |place| place != Where::Everywhere && has_meaning(place, of);
    let is_other = |place| place != Where::Everywhere && place != Where::Text && !is_own(place);
    [
        ("HERE", rows(&is_own)),
        ("EVERYWHERE", rows(&|place| place == Where::Everywhere)),
        ("ELSEWHERE", rows(&is_other)),
    ]
}

/// Gives the keys and what they do, for manuals.
pub fn keys_help() -> String {
    let rows = bindings().filter(|row| row.place != Where::Text);
    let rows = rows.map(|row| format!("  {:<14}{}", row.shown, row.does));
    let rows: Vec<String> = rows.collect();
    rows.join("\n") + "\n"
}
