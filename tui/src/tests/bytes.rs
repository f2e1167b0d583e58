//! The bytes that a terminal gets: what a cluster says must not command it.

use super::stage::{Stage, gapped, request};
use crate::view::view;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

#[derive(Clone, Default)]
struct Sent(Rc<RefCell<Vec<u8>>>);

impl Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn terminal(sent: &Sent) -> Terminal<CrosstermBackend<Sent>> {
    let options = TerminalOptions {
        viewport: Viewport::Fixed(Rect::new(0, 0, 120, 40)),
    };
    Terminal::with_options(CrosstermBackend::new(sent.clone()), options).expect("a writer")
}

#[test]
fn no_text_of_a_cluster_commands_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    let sent = Sent::default();
    let mut terminal = terminal(&sent);
    for keys in [
        "",
        "<Down>",
        "Gy<Down>",
        "H",
        "E",
        "p",
        "<Esc>b",
        "<Enter>",
        "<Down>",
        "/\u{202e}",
    ] {
        stage.keys(keys);
        terminal
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
    }
    let bytes = sent.0.borrow().clone();
    let text = String::from_utf8(bytes).expect("UTF-8");
    assert!(text.contains("u202e"), "the hostile name was never drawn");
    for hostile in [
        "\u{1b}]",
        "\u{1b}[2J",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{9b}",
        "\u{7}",
    ] {
        assert!(!text.contains(hostile), "{hostile:?} was sent");
    }
}

#[test]
fn a_key_sends_only_the_cells_that_change_and_nothing_sends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    let sent = Sent::default();
    let mut terminal = terminal(&sent);
    let mut draw = |stage: &Stage| {
        sent.0.borrow_mut().clear();
        terminal
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
        let bytes = String::from_utf8_lossy(&sent.0.borrow()).into_owned();
        // What only moves or hides the cursor shows nothing.
        bytes
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
