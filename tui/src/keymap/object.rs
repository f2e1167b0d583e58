//! Owns the keys about the selected object. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::Char;
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
        &[Char('Y')],
        &[Act::CopyAddress],
        "Y",
        "copy the address of this place",
        "",
    ),
];
