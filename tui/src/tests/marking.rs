//! Bookmarks, and the place at which a session ended.

use super::stage::{Stage, demo, gapped, request};
use crate::keymap::{KeyPress, bindings};
use crate::model::TuiRequest;
use crate::msg::Msg;
use crate::update::left;
use insta::assert_snapshot;
use jiff::tz::TimeZone;
use proptest::prelude::*;
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
        "gapped.reel.bookmarks.json cannot be read, left unchanged",
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

const SIZE: (u16, u16) = (120, 40);

/// Takes an address apart as a shell and the flags of the command would.
fn parsed(address: &str) -> TuiRequest {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    let mut letters = address.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' if !is_quoted && letters.next_if_eq(&'\'').is_some() => {
                word.push_str(&escapes_read(&mut letters));
            }
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => word.extend(letters.next()),
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    let mut words = words.into_iter();
    assert_eq!(words.next().as_deref(), Some("kubereel"));
    let mut all = request(Path::new(&words.next().expect("a reel")));
    while let Some(flag) = words.next() {
        let value = words.next().expect("a value");
        match flag.as_str() {
            "--at" => all.at = Some(value.parse().expect("a moment")),
            "--select" => all.select = Some(value),
            "-n" => all.namespace = value,
            "--filter" => all.filter = value,
            other => panic!("no such flag: {other}"),
        }
    }
    all
}

/// Reads the rest of a word `$'…'`, with the escapes that name characters.
fn escapes_read(letters: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    loop {
        let named = match letters.next().expect("a closing quote") {
            '\'' => return text,
            '\\' => letters.next().expect("an escape"),
            letter => {
                text.push(letter);
                continue;
            }
        };
        let digits = match named {
            'x' => 2,
            'u' => 4,
            itself => {
                text.push(itself);
                continue;
            }
        };
        let code: String = letters.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&code, 16).expect("hexadecimal digits");
        text.push(char::from_u32(code).expect("a character"));
    }
}

fn leave(stage: &Stage, folder: &Path) {
    let open = stage.model.open().expect("open");
    left(open).save(folder, &open.id).expect("room");
}

#[test]
fn one_comes_back_to_where_one_was_unless_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = request(&demo());
    asked.state_folder = Some(folder.path().to_owned());
    let mut stage = Stage::open(asked.clone(), SIZE);
    stage.keys("/ns:openshift-etcd bad<Enter>nn++iH]]r");
    leave(&stage, folder.path());
    let before = stage.model.open().expect("open");
    let mut plain = asked.clone();
    plain.at = None;
    let again = Stage::open(plain, SIZE);
    let open = again.model.open().expect("open");
    assert_eq!(left(open), left(before));
    assert!(
        again.screen().contains("last session restored"),
        "{}",
        again.screen()
    );

    let mut fresh = asked.clone();
    fresh.is_fresh = true;
    let fresh = Stage::open(fresh, SIZE);
    let open = fresh.model.open().expect("open");
    assert_eq!(
        (open.place.at, open.filter.text()),
        (open.timeline.start(), "")
    );

    let mut told = asked;
    told.at = Some("+5s".parse().expect("a moment"));
    told.select = Some("nodes".to_owned());
    told.filter = "m".to_owned();
    let told = Stage::open(told, SIZE);
    let open = told.model.open().expect("open");
    assert_eq!(open.place.at.micros_since(open.timeline.start()), 5_000_000);
    assert_eq!(
        (open.chosen().0.starts_with("nodes"), open.filter.text()),
        (true, "m")
    );
}

#[test]
fn what_was_left_in_a_reel_that_is_no_more_is_not_gone_back_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = request(&demo());
    asked.state_folder = Some(folder.path().to_owned());
    let stage = Stage::open(asked.clone(), SIZE);
    let open = stage.model.open().expect("open");
    let mut session = left(open);
    session.at = "seq:99999999".to_owned();
    session.select = "nonsense/\u{1b}[2J".to_owned();
    session.list = "nonsense".to_owned();
    session.panel = "nonsense".to_owned();
    session.window_micros = i64::MAX;
    session.window_from_micros = i64::MIN;
    session.speed = -3;
    session.shares = Some((0, u16::MAX));
    session.save(folder.path(), &open.id).expect("room");
    asked.at = None;
    let again = Stage::open(asked, SIZE);
    let open = again.model.open().expect("open");
    assert_eq!(
        (open.place.at, open.playing.speed),
        (open.timeline.end(), 1)
    );
    assert!(open.window.from >= open.bounds().from && open.window.end() <= open.bounds().end());
    assert!(!again.screen().contains('\u{1b}'));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_address_and_the_session_lead_back(pressed in prop::collection::vec(0_usize..10_000, 0..60)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = gapped(folder.path());
        let mut asked = request(&path);
        asked.state_folder = Some(folder.path().to_owned());
        let mut stage = Stage::open(asked.clone(), SIZE);
        let bound = bindings().flat_map(|row| row.keys.iter().copied());
        let letters = "m-0'é日 ".chars().map(KeyPress::Char);
        let keys: Vec<KeyPress> = bound
            .chain(letters)
            .filter(|key| !matches!(key, KeyPress::Char('q') | KeyPress::Ctrl('c')))
            .collect();
        for key in pressed {
            stage.press(keys[key % keys.len()]);
            stage.say(Msg::Elapsed(100_000));
        }
        let open = stage.model.open().expect("open");
        let address = open.address(&path);
        let other = Stage::open(parsed(&address), SIZE);
        let there = other.model.open().expect("open");
        prop_assert_eq!(there.place, open.place, "{}", address);
        prop_assert_eq!(there.filter.text(), open.filter.text(), "{}", address);
        prop_assert_eq!(&there.namespace, &open.namespace, "{}", address);
        if open.selected.is_some() {
            prop_assert_eq!(&there.selected, &open.selected, "{}", address);
        }
        leave(&stage, folder.path());
        asked.at = None;
        let back = Stage::open(asked, SIZE);
        let back = back.model.open().expect("open");
        prop_assert_eq!(back.place, open.place);
        prop_assert_eq!(back.window, open.window);
        prop_assert_eq!(back.list, open.list);
        prop_assert_eq!(back.filter.text(), open.filter.text());
        prop_assert_eq!(&back.namespace, &open.namespace);
    }
}

#[test]
fn a_filter_leaves_nothing_selected_that_it_hides() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = gapped(folder.path());
    let chosen = |keys: &str| {
        let mut stage = Stage::open(request(&path), SIZE);
        stage.keys(keys);
        let open = stage.model.open().expect("open");
        (open.selected.is_some(), open.filter.text().to_owned())
    };
    assert_eq!(chosen("/zzz<Enter>"), (false, "zzz".to_owned()));
    assert_eq!(chosen("A&zzz<Enter>"), (false, "zzz".to_owned()));
    // Who goes to something wants to see it.
    assert_eq!(chosen("/zzz<Enter>!"), (true, String::new()));
    assert_eq!(chosen("/zzz<Enter>)"), (true, String::new()));
}

#[test]
fn a_bookmark_and_a_local_time_are_moments() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = gapped(folder.path());
    let mut asked = request(&path);
    asked.zone = Some(Box::leak(Box::new(TimeZone::fixed(jiff::tz::offset(2)))));
    let mut stage = Stage::open(asked.clone(), (80, 24));
    let place = |stage: &Stage| stage.model.open().expect("open").place;
    // The reel begins at 14:00 UTC.
    stage.keys(":16:01<Enter>");
    let there = place(&stage);
    assert_eq!(
        there
            .at
            .micros_since(stage.model.open().expect("open").timeline.start()),
        60_000_000
    );
    stage.keys("mBefore the gap<Enter>G");
    assert!(place(&stage).at > there.at);
    stage.keys(":bookmark:before<Enter>");
    assert_eq!(place(&stage), there);
    stage.keys(":bookmark:nothing<Enter>");
    assert!(
        stage.screen().contains("no bookmark \"nothing\""),
        "{}",
        stage.screen()
    );
    asked.at = "bookmark:Before the gap".parse().ok();
    let again = Stage::open(asked, (80, 24));
    assert_eq!(place(&again), there);
    // Commands find it likewise.
    let timeline = kubereel_history::Timeline::open(&path).expect("a reel");
    let all = crate::keep::named_bookmarks(&timeline, &path, None);
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Before the gap"]);
    assert_eq!(all.first().map(|one| one.at), Some(there.at));
}

/// Gives what is selected, the filter and the namespace, and whether the list shows what is selected.
fn sight(stage: &Stage) -> (String, String, Option<String>, bool) {
    let open = stage.model.open().expect("open");
    let selected = open.selected.as_ref().map(|own| own.name.clone());
    (
        selected.unwrap_or_default(),
        open.filter.text().to_owned(),
        open.namespace.clone(),
        open.row().is_some(),
    )
}

#[test]
fn an_address_is_not_narrowed_by_the_last_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = request(&demo());
    asked.state_folder = Some(folder.path().to_owned());
    let mut stage = Stage::open(asked.clone(), SIZE);
    stage.keys("/console<Enter>:ns openshift-console<Enter>");
    leave(&stage, folder.path());
    let mut selecting = asked.clone();
    selecting.at = None;
    selecting.select = Some("clusteroperators/etcd".to_owned());
    for address in [asked.clone(), selecting] {
        let is_selecting = address.select.is_some();
        let stage = Stage::open(address, SIZE);
        let (selected, filter, namespace, is_in_sight) = sight(&stage);
        assert_eq!((filter.as_str(), namespace), ("", None));
        assert!(
            is_in_sight && (!is_selecting || selected == "etcd"),
            "{selected}"
        );
    }
    // Without an address the session is gone back to.
    asked.at = None;
    assert_eq!(sight(&Stage::open(asked, SIZE)).1, "console");
}

#[test]
fn an_object_that_is_gone_to_is_not_hidden() {
    let etcd = |filter: &str| ("etcd".to_owned(), filter.to_owned(), None, true);
    let after = |keys: &str| {
        let mut stage = Stage::open(request(&demo()), SIZE);
        stage.keys("G");
        stage.keys(keys);
        sight(&stage)
    };
    assert_eq!(after("/console<Enter>:co/etcd<Enter>"), etcd(""));
    // A filter that lets it through stays.
    assert_eq!(after("/etcd<Enter>:co/etcd<Enter>"), etcd("etcd"));
    let (selected, filter, namespace, is_in_sight) =
        after("/zzz<Enter>:ns openshift-console<Enter>:pod etcd-operator<Enter>");
    assert!(selected.starts_with("etcd-operator"), "{selected}");
    assert_eq!((filter.as_str(), namespace, is_in_sight), ("", None, true));
    // So is what a bookmark was set on.
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&copy(folder.path())), SIZE);
    stage.keys(":co/etcd<Enter>mhere<Enter>/console<Enter>");
    assert_ne!(sight(&stage).0, "etcd");
    stage.keys("'<Enter>");
    assert_eq!(sight(&stage), etcd(""));
}

#[test]
fn a_line_of_the_tree_is_not_hidden() {
    let mut asked = request(&demo());
    asked.select = Some("deployments/etcd-operator".to_owned());
    asked.namespace = "openshift-etcd-operator".to_owned();
    let mut stage = Stage::open(asked, SIZE);
    // The ReplicaSet below it is no Deployment.
    stage.keys("G/kind:deployment etcd-operator<Enter>O<Tab><Down><Down><Enter>");
    let (_, filter, _, is_in_sight) = sight(&stage);
    assert_eq!((filter.as_str(), is_in_sight), ("", true));
}
