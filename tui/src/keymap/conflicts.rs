//! Keys compared by the bytes that terminals send: no two of one screen may be the same.

use super::binding::Key::{self, Alt, Char, Ctrl, Named};
use super::lookup::{bindings, has_meaning};
use crate::tests::every::screens;

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
            "Delete" => b"\x1b[3~".to_vec(),
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
