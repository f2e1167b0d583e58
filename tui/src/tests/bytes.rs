//! The bytes that a terminal gets: what a cluster says must not command it, and no letter, however
//! wide, may push another one out of its place.

use super::hostile::{HOSTILE, hostile};
use super::stage::{Stage, demo, gapped, request};
use super::terminal::{Sent, SmallTerminal};
use crate::view::view;
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::path::Path;

fn terminal(sent: &Sent, (width, height): (u16, u16)) -> Terminal<CrosstermBackend<Sent>> {
    let options = TerminalOptions {
        viewport: Viewport::Fixed(Rect::new(0, 0, width, height)),
    };
    Terminal::with_options(CrosstermBackend::new(sent.clone()), options).expect("a writer")
}

/// Walks over a reel by keys, and checks every frame.
fn walk(reel: &Path, size: (u16, u16)) -> String {
    let mut stage = Stage::open(request(reel), size);
    let sent = Sent::default();
    let mut screen = terminal(&sent, size);
    let mut seen = SmallTerminal::new(size.0, size.1);
    let mut all = String::new();
    for keys in [
        "",
        "?",
        "<Esc>p",
        "<Down><Enter>",
        "<Esc>n",
        "n",
        "n",
        "i<Down>",
        "t",
        "G<Down>",
        "y",
        "<Enter>",
        "<Down><Down>",
        "H",
        "E",
        "<Esc>",
        "b",
        "<Enter>",
        "<Down>y",
        "b<Down><Enter>",
        "<Down>",
        "b<Down><Enter>",
        "<Down>H",
        "b<Down><Enter>",
        "<Down>E",
        "b<Down><Enter>",
        "<Down>",
        "b<Down><Enter>",
        "<Down>",
        "/\u{202e}日本",
        "<Enter>",
        "<Esc>",
        "Y",
        ":日e\u{301}",
        "<Enter>",
        "Z",
        " ",
    ] {
        stage.keys(keys);
        screen
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
        let text = sent.take();
        if let Err(wrong) = seen.take(&text) {
            panic!("after {keys:?} at {size:?}: {wrong}");
        }
        let mut meant = Terminal::new(TestBackend::new(size.0, size.1)).expect("memory");
        meant
            .draw(|frame| view(&stage.model, frame))
            .expect("memory");
        if let Err(wrong) = seen.compare(meant.backend().buffer()) {
            panic!("after {keys:?} at {size:?}: {wrong}");
        }
        all.push_str(&seen.text());
    }
    all
}

#[test]
fn no_text_of_a_cluster_commands_the_terminal_or_moves_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hostile, gapped) = (hostile(folder.path()), gapped(folder.path()));
    for size in [(40, 12), (80, 24), (120, 40), (57, 19), (41, 30)] {
        let all = walk(&hostile, size) + &walk(&gapped, size);
        // What is taken apart stands far to the right.
        let far = (size.0 >= 120).then_some("👩👩👧DE");
        for shown in ["u202e", "日"].into_iter().chain(far) {
            assert!(all.contains(shown), "{shown} was never drawn at {size:?}");
        }
    }
}

#[test]
fn nor_does_a_damaged_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = hostile(folder.path());
    let bytes = std::fs::read(&path).expect("a reel");
    for place in [4, 10, 16] {
        let mut bytes = bytes.clone();
        let at = bytes.len() * place / 20;
        bytes[at..at + 64].fill(0x1b);
        let damaged = folder.path().join(format!("{HOSTILE}.reel"));
        std::fs::write(&damaged, bytes).expect("room");
        for size in [(40, 12), (80, 24)] {
            walk(&damaged, size);
        }
    }
    let missing = folder.path().join(HOSTILE);
    walk(&missing, (80, 24));
}

#[test]
fn every_small_terminal_gets_something_harmless() {
    let mut stage = Stage::open(request(&demo()), (1, 1));
    for width in [1, 2, 5, 39, 40, 69, 70, 71, 200] {
        for height in [1, 2, 11, 12, 19, 20, 60] {
            stage.say(crate::msg::Msg::Resized(width, height));
            let sent = Sent::default();
            let mut real = terminal(&sent, (width, height));
            real.draw(|frame| view(&stage.model, frame))
                .expect("a writer");
            let mut seen = SmallTerminal::new(width, height);
            if let Err(wrong) = seen.take(&sent.take()) {
                panic!("{width}x{height}: {wrong}");
            }
        }
    }
}

#[test]
fn a_key_sends_only_the_cells_that_change_and_nothing_sends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    let sent = Sent::default();
    let mut terminal = terminal(&sent, (120, 40));
    let mut draw = |stage: &Stage| {
        sent.take();
        terminal
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
        // What only moves or hides the cursor shows nothing.
        sent.take()
            .replace("\u{1b}[?25l", "")
            .replace("\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m", "")
            .len()
    };
    let whole = draw(&stage);
    assert!(draw(&stage) < 40, "nothing changed");
    stage.keys("<Down>");
    let step = draw(&stage);
    assert!(step > 0 && step < whole / 3, "{step} of {whole}");
}
