//! Owns the terminal's modes: taken at the start, given back at the end and when something panics.

use super::panics::noted;
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufWriter, Stdout};
use std::panic;

/// The screen, buffered so that a frame is one write.
pub(super) type Screen = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// The bytes of a frame, with room to spare: the whole of a large terminal in all colours.
const FRAME_BYTES: usize = 1 << 18;

/// The terminal while it is ours.
pub(super) struct Held(());

impl Held {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<(Self, Screen)> {
        enable_raw_mode()?;
        let mut out = io::stdout();
        if let Err(error) = execute!(out, EnterAlternateScreen, EnableMouseCapture, cursor::Hide) {
            give_back();
            return Err(error);
        }
        let held = Self(());
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that works for the screen says on the screen what became of it.
            if noted(info) {
                return;
            }
            // The database panics on some damage; that becomes an error and nobody's screen ends.
            if !kubereel_format::panic_is_caught() {
                give_back();
            }
            before(info);
        }));
        let screen = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(
            FRAME_BYTES,
            out,
        )))?;
        Ok((held, screen))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back; what fails cannot be told to anybody.
fn give_back() {
    drop(execute!(
        io::stdout(),
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    ));
    drop(disable_raw_mode());
}
