//! Owns the keys of lists that letters narrow. Refuses letters: those narrow.

use super::binding::Binding;
use super::binding::Key::Named;
use super::binding::Where::Choice;
use super::binding::row;
use crate::msg::Act;

/// The keys of lists that letters narrow.
pub(super) const KEYS: &[Binding] = &[
    row(
        Choice,
        &[Named("Up"), Named("Down")],
        &[Act::Rows(-1), Act::Rows(1)],
        "↑ ↓",
        "in a list to choose from: move, letters narrow it",
        "choose",
    ),
    row(
        Choice,
        &[Named("PageUp"), Named("PageDown")],
        &[Act::Rows(-10), Act::Rows(10)],
        "pgup pgdn",
        "in a list to choose from: move by ten rows",
        "",
    ),
    row(
        Choice,
        &[Named("Tab")],
        &[Act::Order],
        "tab",
        "in the list of resources: by name, or changed last first",
        "order",
    ),
];
