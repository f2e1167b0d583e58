//! Bookmarks: set, listed, gone to, noted, removed, and drawn.

use super::stage::{Stage, demo, gapped, request};
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};

fn copy(folder: &Path) -> PathBuf {
    let path = folder.join("demo.reel");
    fs::copy(demo(), &path).expect("room");
    path
}

fn at(stage: &Stage) -> String {
    let open = stage.model.open().expect("open");
    open.place.written(&open.timeline)
}

#[test]
fn bookmarks_are_set_listed_noted_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = copy(folder.path());
    let mut stage = Stage::open(request(&path), (80, 24));
    stage.keys(":+23s<Enter>mthe upgrade begins<Enter>");
    let first = at(&stage);
    stage.keys("nm<Enter>g");
    assert_snapshot!("set_narrow", stage.screen());
    stage.keys("'");
    assert_snapshot!("list_narrow", stage.screen());
    stage.keys("<Down>m again<Enter>");
    assert!(stage.screen().contains("again"), "{}", stage.screen());
    stage.keys("<Up><Enter>");
    assert_eq!(at(&stage), first);
    stage.keys("'<Up>d<Esc>");
    let text = fs::read_to_string(folder.path().join("demo.reel.bookmarks.json")).expect("a file");
    assert!(text.contains("again") && !text.contains("begins"), "{text}");
    // What another run of the program finds.
    let mut again = Stage::open(request(&path), (40, 12));
    again.keys("'");
    assert_snapshot!("list_small", again.screen());
}

#[test]
fn marks_are_stepped_over_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&copy(folder.path())), (120, 40));
    let word = |stage: &Stage| stage.model.word.clone().unwrap_or_default();
    stage.keys(":+40s<Enter>mhere<Enter>g");
    let mut words = Vec::new();
    loop {
        stage.keys("}");
        if word(&stage).starts_with("no later") {
            break;
        }
        words.push(word(&stage));
    }
    assert!(
        words.contains(&"◆ bookmark 1 of 1: here".to_owned()),
        "{words:?}"
    );
    assert!(
        words.iter().any(|word| word.ends_with(" begins")),
        "{words:?}"
    );
    let mut back = Vec::new();
    loop {
        stage.keys("{");
        if word(&stage).starts_with("no earlier") {
            break;
        }
        back.push(word(&stage));
    }
    back.reverse();
    // Forth, the last one is stepped to; back, one stands on it already.
    words.pop();
    assert!(back.ends_with(&words), "{words:?} {back:?}");
}

#[test]
fn hostile_bookmarks_are_said_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = gapped(folder.path());
    let file = folder.path().join("gapped.reel.bookmarks.json");
    fs::write(&file, "{\"kind\": 3").expect("room");
    let mut stage = Stage::open(request(&path), (120, 40));
    assert!(
        stage.screen().contains("cannot be read"),
        "{}",
        stage.screen()
    );
    stage.keys("mnew<Enter>'");
    let screen = stage.screen();
    for words in [
        "gapped.reel.bookmarks.json cannot be read and stays",
        ">◆ ",
        "  new  nodes/m-0",
    ] {
        assert!(screen.contains(words), "{screen}");
    }
    assert_eq!(fs::read_to_string(&file).expect("it"), "{\"kind\": 3");
    let hostile = r#"{"kind":"kubereel-bookmarks","version":1,"bookmarks":[
        {"time":"1970-01-01T00:00:00Z","seq":99999999,"note":"\u001b[2J\u202e","select":"nonsense/x"},
        {"time":"2026-11-21T14:00:00Z","seq":2,"note":"","select":"nodes/m-0"}]}"#;
    fs::write(&file, hostile).expect("room");
    let mut stage = Stage::open(request(&path), (80, 24));
    stage.keys("'");
    assert!(
        stage.screen().contains("\\u001b[2J\\u202e"),
        "{}",
        stage.screen()
    );
    stage.keys("<Down><Enter>");
    assert!(stage.screen().contains("nonsense"), "{}", stage.screen());
}
