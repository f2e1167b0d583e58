//! Owns the keys of lists and panes. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Char, Named};
use super::binding::Where::Timeline;
use super::binding::row;
use crate::msg::Act;

/// The keys of lists and panes.
pub(super) const KEYS: &[Binding] = &[
    row(
        Timeline,
        &[Named("Tab")],
        &[Act::OtherPane],
        "tab",
        "list, panel",
        "",
    ),
    row(
        Timeline,
        &[Char('<'), Char('>')],
        &[Act::Border(false), Act::Border(true)],
        "< >",
        "make the list smaller, larger (also: drag its border)",
        "",
    ),
    row(
        Timeline,
        &[Char('/')],
        &[Act::AskFilter],
        "/",
        "filter: words /regex/ ns:x kind:x label:a=b a.b!=c bad !not; in the panel: search",
        "filter",
    ),
    row(
        Timeline,
        &[Char('b')],
        &[Act::Kinds],
        "b",
        "browse the recorded resources",
        "browse",
    ),
    row(
        Timeline,
        &[Char('u')],
        &[Act::Namespaces],
        "u",
        "choose a namespace, or all of them",
        "",
    ),
    row(
        Timeline,
        &[Char('o')],
        &[Act::Order],
        "o",
        "sort objects by name, or changed last first",
        "",
    ),
    row(
        Timeline,
        &[Char('i')],
        &[Act::Conditions],
        "i",
        "lanes of objects; with their conditions; operators by what was wrong",
        "",
    ),
    row(
        Timeline,
        &[Char('x')],
        &[Act::Pin],
        "x",
        "pin the selected object as a lane, or take its pin away",
        "",
    ),
    row(
        Timeline,
        &[Char('P')],
        &[Act::Pods],
        "P",
        "lanes of the pods of the chosen namespace",
        "",
    ),
    row(
        Timeline,
        &[Char('p')],
        &[Act::Problems],
        "p",
        "what looks wrong",
        "problems",
    ),
    row(
        Timeline,
        &[Char('!')],
        &[Act::First],
        "!",
        "the first thing that went wrong, after the installation if there was one",
        "first",
    ),
];
