//! Random keys: nothing that is pressed may end the program in a panic.

use super::stage::{Stage, demo, gapped, request};
use crate::keymap::{Key, bindings};
use crate::msg::{Msg, Way};
use proptest::prelude::*;

fn keys() -> Vec<Key> {
    let bound = bindings().flat_map(|row| row.keys.iter().copied());
    let letters = "019:.+-m/é日 ".chars().map(Key::Char);
    bound
        .chain(letters)
        .filter(|key| !matches!(key, Key::Char('q') | Key::Ctrl('c')))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_keys_panic(
        pressed in prop::collection::vec((0_usize..1_000, 0_u16..130, 0_u16..45), 0..250),
        size in (1_u16..130, 1_u16..45),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut stage = Stage::open(request(&gapped(folder.path())), size);
        let keys = keys();
        for (number, (key, x, y)) in pressed.into_iter().enumerate() {
            match key {
                0..20 => stage.say(Msg::Pointed(x, y)),
                20..25 => stage.say(Msg::Dragged(x, y)),
                25..28 => stage.say(Msg::Released),
                28..40 => stage.say(Msg::Wheel(x, y, if x > y { Way::Next } else { Way::Previous })),
                40..60 => stage.say(Msg::Resized(x, y)),
                60..80 => stage.say(Msg::Elapsed(i64::from(x) * 100_000)),
                _ => stage.press(keys[key % keys.len()]),
            }
            if number % 8 == 0 && stage.model.size.0 > 0 && stage.model.size.1 > 0 {
                prop_assert!(!stage.screen().is_empty());
            }
        }
    }
}

#[test]
fn playing_reaches_the_end_and_stops() {
    let mut stage = Stage::open(request(&demo()), (80, 24));
    stage.keys(" ]]");
    for _ in 0..20 {
        stage.say(Msg::Elapsed(1_000_000));
    }
    let open = stage.model.open().expect("open");
    assert_eq!(open.place.at, open.timeline.end());
    assert!(!open.playing.is_on);
}
