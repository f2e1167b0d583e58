//! Owns the keys that move the cursor and the window. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Alt, Char, Ctrl, Named};
use super::binding::Where::Timeline;
use super::binding::row;
use crate::msg::{Act, Way};

/// The keys that move the cursor and the window.
pub(super) const KEYS: &[Binding] = &[
    row(
        Timeline,
        &[Char(' ')],
        &[Act::Play],
        "space",
        "play, pause",
        "play",
    ),
    row(
        Timeline,
        &[Char(','), Char('.')],
        &[Act::Event(Way::Previous), Act::Event(Way::Next)],
        ", .",
        "previous, next event (of the listed resource)",
        "event",
    ),
    row(
        Timeline,
        &[Char('C'), Char('c')],
        &[Act::Change(Way::Previous), Act::Change(Way::Next)],
        "C c",
        "previous, next change of the selected object",
        "change",
    ),
    row(
        Timeline,
        &[Char('T'), Char('t')],
        &[Act::Transition(Way::Previous), Act::Transition(Way::Next)],
        "T t",
        "previous, next transition of the selected lane",
        "transition",
    ),
    row(
        Timeline,
        &[Char('N'), Char('n')],
        &[Act::Problem(Way::Previous), Act::Problem(Way::Next)],
        "N n",
        "previous, next problem",
        "problem",
    ),
    row(
        Timeline,
        &[Named("Left"), Named("Right"), Char('h'), Char('l')],
        &[Act::Cells(-1), Act::Cells(1)],
        "← → h l",
        "move the cursor by a cell",
        "",
    ),
    row(
        Timeline,
        &[Named("Shift-Left"), Named("Shift-Right")],
        &[Act::Cells(-10), Act::Cells(10)],
        "shift-← →",
        "move the cursor by ten cells",
        "",
    ),
    row(
        Timeline,
        &[Char('g'), Char('G')],
        &[Act::Start, Act::End],
        "g G",
        "go to the start, the end",
        "",
    ),
    row(
        Timeline,
        &[Char(':')],
        &[Act::AskTime],
        ":",
        "go to a TIME",
        "go to",
    ),
    row(
        Timeline,
        &[
            Char('-'),
            Char('+'),
            Char('s'),
            Char('w'),
            Char('_'),
            Char('='),
        ],
        &[Act::ZoomOut, Act::ZoomIn],
        "- + s w",
        "zoom out, in at the cursor (also the wheel)",
        "zoom",
    ),
    row(
        Timeline,
        &[Char('a'), Char('d')],
        &[Act::Pan(-2), Act::Pan(2)],
        "a d",
        "pan",
        "",
    ),
    row(
        Timeline,
        &[Char('z'), Char('Z')],
        &[Act::FitSelection, Act::FitAll],
        "z Z",
        "show the life of the selected object, the whole reel",
        "",
    ),
    row(
        Timeline,
        &[Ctrl('o'), Alt('o')],
        &[Act::Back, Act::Forth],
        "ctrl-o alt-o",
        "back before the last jump, forth again",
        "",
    ),
    row(
        Timeline,
        &[Char('['), Char(']')],
        &[Act::Slower, Act::Faster],
        "[ ]",
        "play slower, faster",
        "",
    ),
    row(
        Timeline,
        &[Char('r')],
        &[Act::Reverse],
        "r",
        "play the other way",
        "",
    ),
];
