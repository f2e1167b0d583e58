//! The same loop with the same threads, without a terminal: for benches and tests. What would be sent
//! to a terminal is counted instead.

use super::error::TuiError;
use super::heard::Heard;
use super::looping::Looping;
use crate::model::Request;
use crate::theme::Theme;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Counts bytes.
struct Counting {
    sent: Arc<AtomicU64>,
}

impl io::Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.sent.fetch_add(count, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A keyboard.
#[derive(Clone)]
pub struct Keys {
    told: SyncSender<Heard>,
}

impl Keys {
    /// Presses a key: a letter, or a name such as `<Down>`.
    pub fn press(&self, key: &str) {
        let name = key
            .strip_prefix('<')
            .and_then(|key| key.strip_suffix('>'))
            .unwrap_or_default();
        let code = match name {
            "Enter" => KeyCode::Enter,
            "Esc" => KeyCode::Esc,
            "Tab" => KeyCode::Tab,
            "Up" => KeyCode::Up,
            "Down" => KeyCode::Down,
            "Left" => KeyCode::Left,
            "Right" => KeyCode::Right,
            _ => KeyCode::Char(key.chars().next().unwrap_or(' ')),
        };
        let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        // The loop takes all that waits before it draws.
        drop(self.told.try_send(Heard::Terminal(event)));
    }
}

/// A program that draws for nobody.
pub struct Headless {
    looping: Looping<Counting>,
    told: SyncSender<Heard>,
    sent: Arc<AtomicU64>,
}

impl Headless {
    /// Begins on a screen of so many columns and rows; nothing is drawn yet.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn begin(request: Request, theme: Theme, size: (u16, u16)) -> Result<Self, TuiError> {
        let sent = Arc::new(AtomicU64::new(0));
        let backend = CrosstermBackend::new(Counting {
            sent: Arc::clone(&sent),
        });
        let options = TerminalOptions {
            viewport: Viewport::Fixed(Rect::new(0, 0, size.0, size.1)),
        };
        let screen = Terminal::with_options(backend, options)?;
        let (looping, told) = Looping::begin(request, theme, screen, size)?;
        Ok(Self {
            looping,
            told,
            sent,
        })
    }

    /// Gives a keyboard that can be pressed from elsewhere.
    pub fn keys(&self) -> Keys {
        Keys {
            told: self.told.clone(),
        }
    }

    /// Presses a key: a letter, or a name such as `<Down>`.
    pub fn press(&self, key: &str) {
        self.keys().press(key);
    }

    /// Makes the terminal another size.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn resize(&mut self, columns: u16, rows: u16) -> Result<(), TuiError> {
        self.looping.screen.resize(Rect::new(0, 0, columns, rows))?;
        drop(
            self.told
                .try_send(Heard::Terminal(Event::Resize(columns, rows))),
        );
        Ok(())
    }

    /// Asks the world for what is to be done, and draws.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn draw(&mut self) -> Result<bool, TuiError> {
        self.looping.draw()
    }

    /// Waits until something happens, and takes in all that has.
    ///
    /// # Errors
    /// When a thread died.
    pub fn wait(&mut self) -> Result<(), TuiError> {
        self.looping.wait()
    }

    /// Waits and draws until nothing is under way any more: no pass, no question without an answer.
    ///
    /// # Errors
    /// When drawing fails, or a thread died.
    pub fn settle(&mut self) -> Result<(), TuiError> {
        self.looping.draw()?;
        loop {
            // Whoever is idle has told all.
            let are_idle = self.looping.readers.are_idle();
            if self.looping.take_waiting()? {
                self.looping.draw()?;
            } else if are_idle {
                return Ok(());
            } else {
                self.looping.wait()?;
                self.looping.draw()?;
            }
        }
    }

    /// Tells whether the reel is open.
    pub fn is_open(&self) -> bool {
        self.looping.model.open().is_some()
    }

    /// Gives how long the loop waits at most when nothing happens; `None` is for ever.
    pub fn patience(&self) -> Option<Duration> {
        self.looping.patience()
    }

    /// Gives how many bytes a terminal would have got so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Draws the whole frame anew, from what is in memory.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn draw_all(&mut self) -> Result<(), TuiError> {
        self.looping.screen.clear()?;
        self.looping.draw().map(drop)
    }

    /// Runs the loop until the program ends: with nothing pressed, never.
    ///
    /// # Errors
    /// When drawing fails, or a thread died.
    pub fn run(&mut self) -> Result<(), TuiError> {
        self.looping.run()
    }
}
