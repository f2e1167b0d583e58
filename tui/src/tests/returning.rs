//! Going back to where one was, and the address that leads there.

use super::stage::{Stage, demo, gapped, request};
use crate::keymap::{Key, bindings};
use crate::model::Request;
use crate::msg::Msg;
use crate::update::left;
use proptest::prelude::*;
use std::path::Path;

const SIZE: (u16, u16) = (120, 40);

/// Takes an address apart as a shell and the flags of the command would.
fn parsed(address: &str) -> Request {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    let mut letters = address.chars();
    while let Some(letter) = letters.next() {
        match letter {
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
    let again = Stage::open(asked.clone(), SIZE);
    let open = again.model.open().expect("open");
    assert_eq!(left(open), left(before));
    assert!(
        again.screen().contains("back where you were"),
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
    let again = Stage::open(asked, SIZE);
    let open = again.model.open().expect("open");
    assert_eq!(
        (open.place.at, open.playing.speed),
        (open.timeline.start(), 1)
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
        let letters = "m-0'é日 ".chars().map(Key::Char);
        let keys: Vec<Key> = bound
            .chain(letters)
            .filter(|key| !matches!(key, Key::Char('q') | Key::Ctrl('c')))
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
        let back = Stage::open(asked, SIZE);
        let back = back.model.open().expect("open");
        prop_assert_eq!(back.place, open.place);
        prop_assert_eq!(back.window, open.window);
        prop_assert_eq!(back.list, open.list);
        prop_assert_eq!(back.filter.text(), open.filter.text());
        prop_assert_eq!(&back.namespace, &open.namespace);
    }
}
