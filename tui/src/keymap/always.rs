//! Owns the keys that mean the same wherever no text is written. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Char, Ctrl, Named};
use super::binding::Where::Everywhere;
use super::binding::row;
use crate::msg::Act;

/// The keys that mean the same wherever no text is written.
pub(super) const KEYS: &[Binding] = &[
    row(
        Everywhere,
        &[Named("Up"), Named("Down"), Char('k'), Char('j')],
        &[Act::Rows(-1), Act::Rows(1)],
        "↑ ↓ k j",
        "move by a row",
        "",
    ),
    row(
        Everywhere,
        &[Named("PageUp"), Named("PageDown")],
        &[Act::Rows(-10), Act::Rows(10)],
        "pgup pgdn",
        "move by ten rows",
        "",
    ),
    row(
        Everywhere,
        &[Named("Enter")],
        &[Act::Open],
        "enter",
        "show it large, take what is chosen, fold a group",
        "",
    ),
    row(
        Everywhere,
        &[Named("Esc")],
        &[Act::Close],
        "esc",
        "back; while reading: stop",
        "",
    ),
    row(
        Everywhere,
        &[Char('?')],
        &[Act::Help],
        "?",
        "these keys",
        "help",
    ),
    row(
        Everywhere,
        &[Char('q'), Ctrl('c')],
        &[Act::Quit],
        "q",
        "quit",
        "quit",
    ),
];
