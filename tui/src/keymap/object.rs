//! Owns the keys about the selected object. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Char, Ctrl};
use super::binding::Where::Timeline;
use super::binding::row;
use crate::model::Panel;
use crate::msg::Act;

/// The keys about the selected object.
pub(super) const KEYS: &[Binding] = &[
    row(
        Timeline,
        &[Char('y')],
        &[Act::Panel(Panel::Yaml)],
        "y",
        "YAML of the object, what changed last and who did",
        "",
    ),
    row(
        Timeline,
        &[Char('H')],
        &[Act::Panel(Panel::History)],
        "H",
        "versions of the object, field by field",
        "",
    ),
    row(
        Timeline,
        &[Char('E')],
        &[Act::Panel(Panel::Events)],
        "E",
        "Events about the object",
        "",
    ),
    row(
        Timeline,
        &[Char('W')],
        &[Act::Panel(Panel::Nearby)],
        "W",
        "what changed here: the last seconds, of everything",
        "",
    ),
    row(
        Timeline,
        &[Char('D')],
        &[Act::Panel(Panel::Diff)],
        "D",
        "diff to the version before, or to the one marked in H by enter",
        "",
    ),
    row(
        Timeline,
        &[Char('B')],
        &[Act::Panel(Panel::Blame)],
        "B",
        "blame: who set each field, and when",
        "",
    ),
    row(
        Timeline,
        &[Char('O')],
        &[Act::Panel(Panel::Owners)],
        "O",
        "owners of the object and what it owns; enter goes there",
        "",
    ),
    row(
        Timeline,
        &[Char('K')],
        &[Act::Panel(Panel::Conditions)],
        "K",
        "conditions, and how they turned",
        "",
    ),
    row(
        Timeline,
        &[Char('R')],
        &[Act::Panel(Panel::Raw)],
        "R",
        "raw JSON as the server sent it",
        "",
    ),
    row(
        Timeline,
        &[Char('S')],
        &[Act::Save],
        "S",
        "save what panel or table shows to a file here",
        "",
    ),
    row(
        Timeline,
        &[Char('L')],
        &[Act::Wrap],
        "L",
        "break long lines of the panel, or cut them",
        "",
    ),
    row(
        Timeline,
        &[Ctrl('y')],
        &[Act::CopyText],
        "ctrl-y",
        "copy what panel or table shows (tmux: set-clipboard on)",
        "",
    ),
    row(
        Timeline,
        &[Char('Y')],
        &[Act::CopyAddress],
        "Y",
        "copy the address of this place",
        "",
    ),
];
