//! Owns the keys where a text is written. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Ctrl, Named};
use super::binding::Where::{Palette, Text};
use super::binding::row;
use crate::msg::Act;

/// The keys where a text is written.
pub(super) const KEYS: &[Binding] = &[
    row(
        Text,
        &[Named("Enter")],
        &[Act::Open],
        "enter",
        "take it",
        "take it",
    ),
    row(
        Text,
        &[Named("Esc")],
        &[Act::Close],
        "esc",
        "leave it",
        "leave it",
    ),
    row(
        Text,
        &[Named("Backspace"), Ctrl('h')],
        &[Act::Erase],
        "backspace",
        "take back a letter",
        "take back",
    ),
    row(
        Palette,
        &[Named("Up"), Named("Down")],
        &[Act::Rows(-1), Act::Rows(1)],
        "↑ ↓",
        "in the list of commands: move, letters narrow it",
        "choose",
    ),
    row(Text, &[Ctrl('c')], &[Act::Quit], "ctrl-c", "quit", ""),
];
