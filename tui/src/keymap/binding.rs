//! Keys and their meaning on each screen, and the manual of keys. Terminal types are not known here: tests write
//! keys down.

use super::table::KEYS;
use crate::model::ActiveScreen;
use crate::msg::KeyAction;

/// A key as a terminal sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPress {
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
pub(crate) enum KeyContext {
    /// Wherever no text is written.
    Everywhere,
    /// With the timeline in sight and nothing over the list.
    Timeline,
    /// In a list that letters narrow.
    Choice,
    /// In the list of bookmarks.
    Bookmarks,
    /// In the list of what can be run.
    Palette,
    /// In the list of problems.
    Problems,
    /// Where a text is written.
    Text,
}

/// One row of the table.
pub(crate) struct KeyBinding {
    /// The keys.
    pub(crate) keys: &'static [KeyPress],
    /// Where.
    pub(crate) place: KeyContext,
    /// What the first key means, and the second.
    pub(crate) acts: &'static [KeyAction],
    /// The keys, for people.
    pub(crate) shown: &'static str,
    /// What they do.
    pub(crate) does: &'static str,
    /// A word for the footer; empty if the footer leaves it out.
    pub(crate) brief: &'static str,
}

/// Gives all rows. Keys take the acts in turn: with two acts, every other key means the second.
pub(crate) fn bindings() -> impl Iterator<Item = &'static KeyBinding> {
    KEYS.iter()
}

/// Gives what a key means on a screen.
pub(crate) fn act(key: KeyPress, screen: &ActiveScreen) -> Option<KeyAction> {
    let found = |is_here: &dyn Fn(KeyContext) -> bool| {
        bindings().filter(|row| is_here(row.place)).find_map(|row| {
            let at = row.keys.iter().position(|own| *own == key)?;
            row.acts.get(at % row.acts.len().max(1)).copied()
        })
    };
    let own = found(&|place| has_meaning(place, screen));
    // In the list of problems the keys that open a view go to the problem and open it there.
    let is_list = matches!(screen, ActiveScreen::Problems(_));
    own.or_else(|| {
        let of_timeline = is_list.then(|| found(&|place| place == KeyContext::Timeline));
        of_timeline?.filter(|act| act.opens_view())
    })
}

/// Tells whether keys of a place have a meaning on a screen.
pub(crate) const fn has_meaning(place: KeyContext, screen: &ActiveScreen) -> bool {
    match screen {
        ActiveScreen::Main | ActiveScreen::Large => {
            matches!(place, KeyContext::Timeline | KeyContext::Everywhere)
        }
        ActiveScreen::Kinds(_) | ActiveScreen::Namespaces(_) => {
            matches!(place, KeyContext::Choice | KeyContext::Text)
        }
        ActiveScreen::Problems(_) => matches!(place, KeyContext::Problems | KeyContext::Everywhere),
        ActiveScreen::Help(..) | ActiveScreen::Compare(_) => {
            matches!(place, KeyContext::Everywhere)
        }
        ActiveScreen::Bookmarks(_) => {
            matches!(place, KeyContext::Bookmarks | KeyContext::Everywhere)
        }
        ActiveScreen::GoTo(_) => matches!(place, KeyContext::Text | KeyContext::Palette),
        ActiveScreen::Filter(_)
        | ActiveScreen::Note(_)
        | ActiveScreen::SaveAs(_)
        | ActiveScreen::Seek { .. } => {
            matches!(place, KeyContext::Text)
        }
    }
}

/// Gives the keys for people: those of a screen, those that hold everywhere, and all others.
pub(crate) fn grouped(of: &ActiveScreen) -> [(&'static str, Vec<&'static KeyBinding>); 3] {
    let rows =
        |is_it: &dyn Fn(KeyContext) -> bool| bindings().filter(|row| is_it(row.place)).collect();
    let is_own = |place| place != KeyContext::Everywhere && has_meaning(place, of);
    let is_other =
        |place| place != KeyContext::Everywhere && place != KeyContext::Text && !is_own(place);
    [
        ("THIS SCREEN", rows(&is_own)),
        ("GLOBAL", rows(&|place| place == KeyContext::Everywhere)),
        ("OTHER SCREENS", rows(&is_other)),
    ]
}

/// Gives the keys and what they do, for manuals.
pub fn keys_help() -> String {
    let rows = bindings().filter(|row| row.place != KeyContext::Text);
    let rows = rows.map(|row| format!("  {:<14}{}", row.shown, row.does));
    let rows: Vec<String> = rows.collect();
    rows.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::KeyPress::{Alt, Char, Ctrl, Named};
    use super::*;
    use crate::tests::stage::screens;

    /// What a terminal sends for a key.
    fn bytes(key: KeyPress) -> Vec<u8> {
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
                "Delete" => b"\x1b[3~".to_vec(),
                other => panic!("what does a terminal send for {other}?"),
            },
        }
    }

    #[test]
    fn a_key_that_means_something_else_elsewhere_is_in_the_footer_there() {
        let meaning = |row: &KeyBinding, key: KeyPress| {
            let at = row.keys.iter().position(|own| *own == key)?;
            row.acts.get(at % row.acts.len()).copied()
        };
        let mut compared = 0;
        for row in bindings().filter(|row| row.place != KeyContext::Timeline) {
            for key in row.keys {
                let here = meaning(row, *key);
                let others = bindings().filter(|one| one.place == KeyContext::Timeline);
                for other in others.filter_map(|one| meaning(one, *key)) {
                    compared += 1;
                    assert!(
                        Some(other) == here || !row.brief.is_empty(),
                        "{} means {other:?} elsewhere, and the footer does not say so",
                        row.shown
                    );
                }
            }
        }
        assert!(compared > 3, "{compared}");
    }

    #[test]
    fn no_two_keys_of_a_screen_send_the_same_bytes() {
        assert_eq!(
            bytes(Ctrl('i')),
            bytes(Named("Tab")),
            "the trap that this test is for"
        );
        for screen in screens() {
            let mut sent: Vec<(Vec<u8>, &str)> = Vec::new();
            for row in bindings().filter(|row| has_meaning(row.place, &screen)) {
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
