//! Every screen in three sizes, and the states of a reel that is opened.

use super::stage::{Stage, damaged, demo, gapped, panels, request, screens};
use crate::answer::Panel;
use crate::model::{ActiveScreen, OpenReel};
use insta::assert_snapshot;
use kubereel_format::Loss;
use kubereel_history::counttext::number;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

fn after(keys: &str, size: (u16, u16)) -> String {
    let mut stage = Stage::open(request(&demo()), size);
    stage.keys(keys);
    stage.screen()
}

#[test]
fn the_first_screen() {
    assert_snapshot!("first_wide", after("", WIDE));
    assert_snapshot!("first_narrow", after("", NARROW));
    assert_snapshot!("first_small", after("", SMALL));
}

#[test]
fn problems_lead_to_moments_and_objects() {
    assert_snapshot!("demo_problems_narrow", after("p", NARROW));
    assert_snapshot!("problem_wide", after("p<Down><Enter>", WIDE));
    assert_snapshot!("next_problem_small", after("nnn", SMALL));
}

#[test]
fn resources_are_listed_as_kubectl_does() {
    assert_snapshot!("demo_kinds_narrow", after("Gb", NARROW));
    let mut request = request(&demo());
    request.select = Some("nodes".to_owned());
    let mut stage = Stage::open(request, WIDE);
    stage.keys("G<Down>");
    assert_snapshot!("nodes_wide", stage.screen());
    stage.keys("/worker");
    assert_snapshot!("nodes_filtered_wide", stage.screen());
}

#[test]
fn versions_and_events_of_an_object() {
    assert_snapshot!("history_wide", after("/etcd<Enter><Down>GH", WIDE));
    assert_snapshot!("events_narrow", after("GE", NARROW));
    assert_snapshot!("demo_large_narrow", after("G<Enter>", NARROW));
    assert_snapshot!("conditions_narrow", after("/operators<Enter>iG", NARROW));
}

#[test]
fn help_and_prompts() {
    assert_snapshot!("demo_help_wide", after("?", WIDE));
    assert_snapshot!("go_to_small", after(":14:0", SMALL));
    assert_snapshot!("wrong_time_narrow", after(":noon<Enter>", NARROW));
}

#[test]
fn gaps_are_unmistakable() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), NARROW);
    stage.keys(":+2m15s<Enter>");
    assert_snapshot!("gap_narrow", stage.screen());
}

#[test]
fn damage_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = damaged(folder.path());
    let mut stage = Stage::open(request(&path), NARROW);
    stage.keys("G");
    let screen = stage.screen();
    assert!(
        screen.contains("damaged") || screen.contains("cannot"),
        "{screen}"
    );
    assert_snapshot!("demo_damaged_narrow", screen);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let small = Stage::open(request(&demo()), (39, 12));
    assert!(small.screen().contains("minimum is"));
    let none = Stage::open(request("no-such.reel".as_ref()), SMALL);
    assert!(none.screen().contains("no-such"), "{}", none.screen());
    let mut request = request(&demo());
    request.select = Some("nonsense/x".to_owned());
    let odd = Stage::open(request, NARROW);
    assert!(odd.screen().contains("--select"), "{}", odd.screen());
}

#[test]
fn every_jump_can_be_undone() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    let place = |stage: &Stage| stage.model.open().map(|open| open.place);
    let mut places = vec![place(&stage)];
    for keys in ["G", "N", "N", "g", ":+10s<Enter>", "<Down>c"] {
        stage.keys(keys);
        places.push(place(&stage));
    }
    let last = places.pop();
    for before in places.iter().rev() {
        stage.press(crate::keymap::KeyPress::Ctrl('o'));
        assert_eq!(place(&stage), *before);
    }
    for _ in 0..6 {
        stage.press(crate::keymap::KeyPress::Alt('o'));
    }
    assert_eq!(Some(place(&stage)), last);
}

#[test]
fn the_address_leads_back() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    stage.keys("nn");
    let open = stage.model.open().expect("open");
    let (place, selected) = (open.place, open.selected.clone().expect("one"));
    let mut again = request(&demo());
    let at = place.written(&open.timeline);
    again.at = Some(at.parse().expect("a moment"));
    let resource = open
        .timeline
        .resources()
        .get(selected.resource)
        .expect("known");
    again.select = Some(format!("{}/{}", resource.qualified(), selected.name));
    again.namespace.clone_from(&selected.namespace);
    let address = open.address(&again.path);
    assert!(
        address.contains(&format!("--at {at} --select ")),
        "{address}"
    );
    let other = Stage::open(again, NARROW);
    let other = other.model.open().expect("open");
    assert_eq!(
        (other.place, other.selected.as_ref()),
        (place, Some(&selected))
    );
}

const SIZES: [(&str, (u16, u16)); 3] = [
    ("small", (40, 12)),
    ("narrow", (80, 24)),
    ("wide", (120, 40)),
];

/// The keys that lead to a screen.
const fn keys_to(screen: &ActiveScreen) -> &'static str {
    match screen {
        // Where one pane shows at a time, y shows the panel.
        ActiveScreen::Main => "nn<Tab>y<Tab>",
        ActiveScreen::Large => "nny<Enter>",
        ActiveScreen::Kinds(_) => "Gb",
        ActiveScreen::Namespaces(_) => "Gu",
        ActiveScreen::Problems(_) => "p<Down>",
        ActiveScreen::Help(..) => "?",
        ActiveScreen::GoTo(_) => "n:+5",
        ActiveScreen::Filter(_) => "/registry",
        ActiveScreen::Bookmarks(_) => "nmfirst<Enter>nm<Enter>'",
        ActiveScreen::Note(_) => "nmwhy",
        ActiveScreen::SaveAs(_) => "nnyS",
        ActiveScreen::Compare(_) => "nvGv",
        ActiveScreen::Seek { .. } => "nn<Tab>y/status",
    }
}

/// The keys that lead to a panel.
const fn keys_of(panel: Panel) -> &'static str {
    match panel {
        Panel::Yaml => "nny",
        Panel::Problem => "nn",
        Panel::History => "nnH",
        Panel::Events => "nnE",
        Panel::Nearby => "nnW",
        Panel::Between => "nvGv<Enter>",
        Panel::Diff => "nnD",
        Panel::Blame => "nnB",
        Panel::Owners => "nnO",
        Panel::Conditions => "nnK",
        Panel::Raw => "nnR",
    }
}

/// Opens a reel, and presses keys.
fn after_keys(reel: &Path, keys: &str, size: (u16, u16)) -> Stage {
    let mut stage = Stage::open(request(reel), size);
    stage.keys(keys);
    stage
}

/// Copies the demo: what is kept beside a reel is to lie elsewhere.
fn copied(folder: &Path) -> PathBuf {
    let path = folder.join("demo.reel");
    std::fs::copy(demo(), &path).expect("room");
    path
}

/// Gives the name of a variant.
fn name(of: &impl std::fmt::Debug) -> String {
    let all = format!("{of:?}").to_lowercase();
    let end = all.find(|letter: char| !letter.is_alphanumeric());
    all[..end.unwrap_or(all.len())].to_owned()
}

#[test]
fn every_screen_at_every_size() {
    for screen in screens() {
        for (size_name, size) in SIZES {
            let folder = tempfile::tempdir().expect("a folder");
            let stage = after_keys(&copied(folder.path()), keys_to(&screen), size);
            let shown = &stage.model.screen;
            assert_eq!(
                discriminant(shown),
                discriminant(&screen),
                "{shown:?} instead of {screen:?}"
            );
            assert_snapshot!(format!("{}_{size_name}", name(&screen)), stage.screen());
        }
    }
}

#[test]
fn every_panel_at_every_size() {
    for panel in panels() {
        for (size_name, size) in SIZES {
            let folder = tempfile::tempdir().expect("a folder");
            let mut stage = after_keys(&copied(folder.path()), keys_of(panel), size);
            let shown = stage.model.open().map(OpenReel::shown_panel);
            assert_eq!(shown, Some(panel));
            if size.1 < 20 {
                // There is room for one pane only.
                stage.keys("<Enter>");
            }
            assert_snapshot!(
                format!("panel_{}_{size_name}", name(&panel)),
                stage.screen()
            );
        }
    }
}

#[test]
fn gaps_and_damage_at_every_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let gapped = gapped(folder.path());
    let damaged = damaged(folder.path());
    for (reel_name, reel, keys) in [
        ("in_a_gap", &gapped, ":+2m15s<Enter>"),
        ("problems_and_a_gap", &gapped, "p"),
        ("damaged", &damaged, "G"),
        ("problems_and_damage", &damaged, "p"),
    ] {
        for (size_name, size) in SIZES {
            let stage = after_keys(reel, keys, size);
            assert_snapshot!(format!("{reel_name}_{size_name}"), stage.screen());
        }
    }
}

#[test]
fn unreadable_events_are_counted_as_the_least() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = std::fs::read(demo()).expect("the demo");
    let mut found = Vec::new();
    for part in 1..10 {
        let path = folder.path().join("spoilt.reel");
        let mut bytes = bytes.clone();
        let at = bytes.len() * part / 10;
        bytes[at..at + 64].fill(0xa5);
        std::fs::write(&path, bytes).expect("room");
        let stage = Stage::open(request(&path), (80, 24));
        let open = stage.model.open().expect("open");
        let mut damage = open.timeline.reel().damage().iter();
        let has_lost_records =
            damage.any(|damage| matches!(damage.loss, Loss::Records { .. } | Loss::Unknown));
        let unread = open.board().expect("a board").unread;
        if unread > 0 {
            let more = if has_lost_records { " or more" } else { "" };
            let words = format!("{}{more} unreadable events", number(unread));
            assert_eq!(open.unread_words(), Some(words));
            found.push(has_lost_records);
        }
    }
    assert!(found.contains(&true), "{found:?}");
}

#[test]
fn a_terminal_that_is_too_small_says_what_it_needs() {
    for (size, words) in [
        ((30, 8), "terminal is 30x8, minimum is\n40x12"),
        ((20, 2), "terminal is 20x2,\nminimum is 40x12"),
        ((20, 1), "minimum is 40x12"),
        ((9, 1), "40x12"),
    ] {
        let stage = Stage::open(request(&demo()), size);
        let screen = stage.screen();
        assert!(screen.starts_with(words), "{screen}");
    }
}
