//! Owns the keys of the list of problems. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::Char;
use super::binding::Where::Problems;
use super::binding::row;
use crate::msg::Act;

/// The keys of the list of problems.
pub(super) const KEYS: &[Binding] = &[
    row(
        Problems,
        &[Char('o')],
        &[Act::ProblemOrder],
        "o",
        "in the list of problems: what matters most first, or what came first",
        "order",
    ),
    row(
        Problems,
        &[Char('x')],
        &[Act::Again],
        "x",
        "in the list of problems: begin again what was stopped or failed",
        "again",
    ),
];
