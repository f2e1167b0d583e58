//! Owns the lists of all screens and panels, for tests that must leave none out. A variant that is
//! not named here does not compile.

use crate::answer::Panel;
use crate::model::{Choice, Noting, Screen};

/// Gives every screen.
pub(crate) fn screens() -> Vec<Screen> {
    std::iter::successors(Some(Screen::Main), after_screen).collect()
}

/// Gives every panel.
pub(crate) fn panels() -> Vec<Panel> {
    std::iter::successors(Some(Panel::Yaml), |panel| after_panel(*panel)).collect()
}

/// Gives the next screen: each leads to another one, so that all are reached.
fn after_screen(screen: &Screen) -> Option<Screen> {
    Some(match screen {
        Screen::Main => Screen::Large,
        Screen::Large => Screen::Kinds(Choice::default()),
        Screen::Kinds(_) => Screen::Namespaces(Choice::default()),
        Screen::Namespaces(_) => Screen::Problems(0),
        Screen::Problems(_) => Screen::Help(0, Box::default()),
        Screen::Help(..) => Screen::GoTo(Choice::default()),
        Screen::GoTo(_) => Screen::Filter(String::new()),
        Screen::Filter(_) => Screen::Bookmarks(0),
        Screen::Bookmarks(_) => Screen::Note(Noting {
            text: String::new(),
            of: None,
        }),
        Screen::Note(_) => Screen::Compare(0),
        Screen::Compare(_) => Screen::Seek {
            text: String::new(),
            is_large: false,
        },
        Screen::Seek { .. } => return None,
    })
}

/// Gives the next panel.
const fn after_panel(panel: Panel) -> Option<Panel> {
    Some(match panel {
        Panel::Yaml => Panel::History,
        Panel::History => Panel::Events,
        Panel::Events => Panel::Nearby,
        Panel::Nearby => Panel::Between,
        Panel::Between => Panel::Diff,
        Panel::Diff => Panel::Blame,
        Panel::Blame => Panel::Owners,
        Panel::Owners => Panel::Conditions,
        Panel::Conditions => Panel::Raw,
        Panel::Raw => return None,
    })
}

#[test]
fn none_is_reached_twice() {
    let names = |all: Vec<String>| {
        let count = all.len();
        let unlike: std::collections::BTreeSet<String> = all.into_iter().collect();
        (count, unlike.len())
    };
    let screens: Vec<String> = screens().iter().map(|one| format!("{one:?}")).collect();
    let panels: Vec<String> = panels().iter().map(|one| format!("{one:?}")).collect();
    for all in [screens, panels] {
        let (count, unlike) = names(all);
        assert_eq!(count, unlike);
    }
}
