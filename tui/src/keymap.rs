//! Owns the one table of keys: help, footer and the test for conflicts come from it. Refuses the
//! terminal's own types: tests write keys down.

use crate::model::{Panel, Screen};
use crate::msg::{Act, Way};

/// A key as a terminal sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A letter.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    /// A letter with Alt.
    Alt(char),
    /// A key with a name.
    Named(&'static str),
}

/// Where a key has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Wherever no text is written.
    Everywhere,
    /// With the timeline in sight and nothing over the list.
    Timeline,
    /// Where a text is written.
    Text,
}

/// One row of the table.
pub(crate) struct Binding {
    /// The keys.
    pub(crate) keys: &'static [Key],
    /// Where.
    pub(crate) place: Where,
    /// What the first key means, and the second.
    pub(crate) acts: &'static [Act],
    /// The keys, for people.
    pub(crate) shown: &'static str,
    /// What they do.
    pub(crate) does: &'static str,
    /// A word for the footer; empty if the footer leaves it out.
    pub(crate) brief: &'static str,
}

use Key::{Alt, Char, Ctrl, Named};
use Where::{Everywhere, Text, Timeline};

const fn row(
    place: Where,
    keys: &'static [Key],
    acts: &'static [Act],
    shown: &'static str,
    does: &'static str,
    brief: &'static str,
) -> Binding {
    Binding {
        keys,
        place,
        acts,
        shown,
        does,
        brief,
    }
}

/// The table. Keys take the acts in turn: with two acts, every other key means the second.
pub(crate) const BINDINGS: &[Binding] = &[
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
        Timeline,
        &[Named("Tab")],
        &[Act::OtherPane],
        "tab",
        "list, panel",
        "",
    ),
    row(
        Everywhere,
        &[Named("Enter")],
        &[Act::Open],
        "enter",
        "show it large, or take what is chosen",
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
        Timeline,
        &[Char('/')],
        &[Act::AskFilter],
        "/",
        "filter the list: words, ns:NAME, bad, down",
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
        &[Char('i')],
        &[Act::Conditions],
        "i",
        "a lane for each condition, or one for each object",
        "",
    ),
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
        &[Char('p')],
        &[Act::Problems],
        "p",
        "what looks wrong",
        "problems",
    ),
    row(
        Timeline,
        &[Char('Y')],
        &[Act::CopyAddress],
        "Y",
        "copy the address of this place",
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
    row(Text, &[Ctrl('c')], &[Act::Quit], "ctrl-c", "quit", ""),
];

/// Gives what a key means on a screen.
pub(crate) fn act(key: Key, screen: &Screen) -> Option<Act> {
    let is_here = |place: Where| has_meaning(place, screen);
    BINDINGS
        .iter()
        .filter(|row| is_here(row.place))
        .find_map(|row| {
            let at = row.keys.iter().position(|own| *own == key)?;
            row.acts.get(at % row.acts.len().max(1)).copied()
        })
}

/// Tells whether keys of a place have a meaning on a screen.
pub(crate) const fn has_meaning(place: Where, screen: &Screen) -> bool {
    match screen {
        Screen::Main | Screen::Large => matches!(place, Timeline | Everywhere),
        Screen::Kinds(_) | Screen::Problems(_) | Screen::Help(_) => matches!(place, Everywhere),
        Screen::GoTo(_) | Screen::Filter(_) => matches!(place, Text),
    }
}

/// Gives the keys and what they do, for manuals.
pub fn keys_help() -> String {
    let rows = BINDINGS.iter().filter(|row| row.place != Text);
    let rows = rows.map(|row| format!("  {:<14}{}", row.shown, row.does));
    let rows: Vec<String> = rows.collect();
    rows.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal sends for a key.
    fn bytes(key: Key) -> Vec<u8> {
        let letter = |letter: char| letter.to_string().into_bytes();
        match key {
            Char(plain) => letter(plain),
            Ctrl(with) => vec![u8::try_from(with).expect("ASCII") & 0x1f],
            Alt(with) => [vec![0x1b], letter(with)].concat(),
            Named(name) => match name {
                "Tab" => vec![9],
                "Enter" => vec![13],
                "Esc" => vec![0x1b],
                "Backspace" => vec![0x7f],
                "Up" => b"\x1b[A".to_vec(),
                "Down" => b"\x1b[B".to_vec(),
                "Right" => b"\x1b[C".to_vec(),
                "Left" => b"\x1b[D".to_vec(),
                "Shift-Right" => b"\x1b[1;2C".to_vec(),
                "Shift-Left" => b"\x1b[1;2D".to_vec(),
                "PageUp" => b"\x1b[5~".to_vec(),
                "PageDown" => b"\x1b[6~".to_vec(),
                other => panic!("what does a terminal send for {other}?"),
            },
        }
    }

    #[test]
    fn no_two_keys_of_a_screen_send_the_same_bytes() {
        assert_eq!(
            bytes(Ctrl('i')),
            bytes(Named("Tab")),
            "the trap that this test is for"
        );
        for screen in [Screen::Main, Screen::Help(0), Screen::GoTo(String::new())] {
            let mut sent: Vec<(Vec<u8>, &str)> = Vec::new();
            for row in BINDINGS
                .iter()
                .filter(|row| has_meaning(row.place, &screen))
            {
                assert!(row.keys.len() % row.acts.len() == 0, "{}", row.shown);
                for key in row.keys {
                    let own = bytes(*key);
                    let other = sent.iter().find(|(other, _)| *other == own);
                    assert_eq!(other, None, "{} is taken", row.shown);
                    sent.push((own, row.does));
                }
            }
        }
    }
}
