//! The same loop with the same threads, without a terminal: for benches and tests. What would be sent
//! to a terminal is counted instead.

use super::event::{RuntimeEvent, TuiError};
use super::judge::Executable;
use super::looping::EventLoop;
use crate::findings::JudgingState;
use crate::model::TuiRequest;
use crate::theme::Theme;
use crate::view::view;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Counts bytes.
struct CountingWriter {
    sent: Arc<AtomicU64>,
}

impl io::Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = u64::try_from(bytes.len()).map_err(io::Error::other)?;
        self.sent.fetch_add(count, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A keyboard, and a look at what its keys send to the terminal.
#[derive(Clone)]
pub struct KeyScript {
    told: SyncSender<RuntimeEvent>,
    sent: Arc<AtomicU64>,
}

impl KeyScript {
    /// Gives how many bytes a terminal would have got so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

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
        drop(self.told.try_send(RuntimeEvent::Terminal(event)));
    }
}

/// The program without a terminal.
pub struct Headless {
    looping: EventLoop<CountingWriter>,
    told: SyncSender<RuntimeEvent>,
    sent: Arc<AtomicU64>,
}

impl Headless {
    /// Begins on a screen of a size in columns and rows; nothing is drawn yet. Without an executable nothing
    /// is judged.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn begin(
        request: TuiRequest,
        theme: Theme,
        executable: Option<Executable>,
        size: (u16, u16),
    ) -> Result<Self, TuiError> {
        let sent = Arc::new(AtomicU64::new(0));
        let screen = terminal(&sent, size)?;
        let (looping, told) = EventLoop::begin(request, theme, executable, screen, size)?;
        Ok(Self {
            looping,
            told,
            sent,
        })
    }

    /// Gives a keyboard that can be pressed from elsewhere.
    pub fn keys(&self) -> KeyScript {
        KeyScript {
            told: self.told.clone(),
            sent: Arc::clone(&self.sent),
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
                .try_send(RuntimeEvent::Terminal(Event::Resize(columns, rows))),
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
            if self.looping.take_waiting()? {
                self.looping.draw()?;
            } else if self.looping.readers.are_idle() {
                return Ok(());
            } else {
                self.looping.wait()?;
                self.looping.draw()?;
            }
        }
    }

    /// Waits and draws until the reel is judged, and nothing is under way any more.
    ///
    /// # Errors
    /// When drawing fails, or a thread died.
    pub fn settle_judged(&mut self) -> Result<(), TuiError> {
        self.settle()?;
        while self.is_being_judged() {
            self.looping.wait()?;
            self.settle()?;
        }
        Ok(())
    }

    fn is_being_judged(&self) -> bool {
        let open = self.looping.model.open();
        open.is_some_and(|open| matches!(open.trouble.judging, JudgingState::Under(_)))
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

    /// Gives the frame.
    pub fn screen(&self) -> Buffer {
        let model = &self.looping.model;
        let (width, height) = model.size;
        let Ok(mut screen) = Terminal::new(TestBackend::new(width, height));
        let Ok(frame) = screen.draw(|frame| view(model, frame));
        frame.buffer.clone()
    }

    /// Draws the whole frame from what is in memory, for a terminal that shows nothing yet; gives how
    /// many bytes that took.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn draw_all(&self) -> Result<u64, TuiError> {
        let sent = Arc::new(AtomicU64::new(0));
        let model = &self.looping.model;
        let mut screen = terminal(&sent, model.size)?;
        screen.draw(|frame| view(model, frame))?;
        Ok(sent.load(Ordering::Relaxed))
    }

    /// Runs the loop until the program ends: with nothing pressed, never.
    ///
    /// # Errors
    /// When drawing fails, or a thread died.
    pub fn run(&mut self) -> Result<(), TuiError> {
        self.looping.run()
    }
}

/// Makes a terminal that counts.
fn terminal(
    sent: &Arc<AtomicU64>,
    (columns, rows): (u16, u16),
) -> Result<Terminal<CrosstermBackend<CountingWriter>>, TuiError> {
    let backend = CrosstermBackend::new(CountingWriter {
        sent: Arc::clone(sent),
    });
    let options = TerminalOptions {
        viewport: Viewport::Fixed(Rect::new(0, 0, columns, rows)),
    };
    Ok(Terminal::with_options(backend, options)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{Depth, Palette};
    use std::path::Path;
    use std::sync::mpsc::{RecvTimeoutError, sync_channel};
    use std::thread;

    fn at_rest() -> Headless {
        let request = TuiRequest {
            path: Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel"),
            file: None,
            damage: None,
            copies: None,
            at: "start".parse().ok(),
            select: None,
            namespace: "default".to_owned(),
            filter: String::new(),
            state_folder: None,
            zone: None,
            local_zone: None,
            is_fresh: true,
        };
        let mut program = Headless::begin(
            request,
            Theme::new(Palette::Dark, Depth::Indexed),
            None,
            (80, 24),
        )
        .expect("threads");
        program.settle().expect("a writer");
        assert!(program.is_open());
        program
    }

    #[test]
    fn nothing_is_sent_and_nothing_wakes_up_while_nobody_does_anything() {
        let mut program = at_rest();
        assert_eq!(program.patience(), None, "it would wake up by itself");
        program.press(" ");
        program.wait().expect("a key");
        assert!(program.patience().is_some(), "time moves by itself");
        program.press(" ");
        program.wait().expect("a key");
        program.settle().expect("a writer");
        assert_eq!(program.patience(), None);

        let keys = program.keys();
        let (told, ended) = sync_channel(1);
        let runs = thread::Builder::new().name("loop".to_owned());
        let runs = runs.spawn(move || told.send(program.run().is_ok()));
        // The first frame of the loop, and what its questions bring.
        let mut quiet = None;
        while quiet != Some(keys.sent_bytes()) {
            quiet = Some(keys.sent_bytes());
            let still = ended.recv_timeout(Duration::from_millis(200));
            assert_eq!(still, Err(RecvTimeoutError::Timeout));
        }
        let still = ended.recv_timeout(Duration::from_millis(500));
        assert_eq!(still, Err(RecvTimeoutError::Timeout), "it runs on");
        assert_eq!(Some(keys.sent_bytes()), quiet, "something was sent");
        keys.press("q");
        assert_eq!(ended.recv(), Ok(true));
        let joined = runs.expect("a thread").join().expect("no panic");
        joined.expect("somebody listened");
    }

    #[test]
    fn a_key_sends_less_than_a_whole_frame() {
        let mut program = at_rest();
        let whole = program.draw_all().expect("a writer");
        let before = program.sent_bytes();
        program.press("<Down>");
        program.wait().expect("a key");
        program.draw().expect("a writer");
        let step = program.sent_bytes() - before;
        assert!(step > 0 && step < whole / 4, "{step} of {whole} bytes");
    }
}
