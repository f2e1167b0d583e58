//! Every screen and every panel at three sizes, and what gaps and damage look like at each.
//!
//! The lists come from `every`, so that a new screen or panel fails here until somebody has looked at
//! it at all sizes.

use super::every::{panels, screens};
use super::stage::{Stage, damaged, demo, gapped, request};
use crate::answer::Panel;
use crate::model::Screen;
use insta::assert_snapshot;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

const SIZES: [(&str, (u16, u16)); 3] = [
    ("small", (40, 12)),
    ("narrow", (80, 24)),
    ("wide", (120, 40)),
];

/// The keys that lead to a screen.
const fn keys_to(screen: &Screen) -> &'static str {
    match screen {
        Screen::Main => "nn",
        Screen::Large => "nn<Enter>",
        Screen::Kinds(_) => "Gb",
        Screen::Namespaces(_) => "Gu",
        Screen::Problems(_) => "p<Down>",
        Screen::Help(..) => "?",
        Screen::GoTo(_) => "n:+5",
        Screen::Filter(_) => "/registry",
        Screen::Bookmarks(_) => "nmfirst<Enter>nm<Enter>'",
        Screen::Note(_) => "nmwhy",
        Screen::Compare(_) => "nvGv",
        Screen::Seek { .. } => "nny<Tab>/status",
    }
}

/// The keys that lead to a panel.
const fn keys_of(panel: Panel) -> &'static str {
    match panel {
        Panel::Yaml => "nny",
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
fn after(reel: &Path, keys: &str, size: (u16, u16)) -> Stage {
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
            let stage = after(&copied(folder.path()), keys_to(&screen), size);
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
            let mut stage = after(&copied(folder.path()), keys_of(panel), size);
            let shown = stage.model.open().map(|open| open.panel);
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
            let stage = after(reel, keys, size);
            assert_snapshot!(format!("{reel_name}_{size_name}"), stage.screen());
        }
    }
}
