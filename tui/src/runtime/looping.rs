//! The loop: takes what the threads report, updates the model, does the effects and draws when something
//! changed.

use super::event::{RuntimeEvent, TuiError};
use super::judge::{Executable, JudgeProcess};
use super::output;
use super::reader::ReaderThreads;
use crate::effect::Effect;
use crate::findings::JudgingState;
use crate::keymap;
use crate::keymap::KeyPress;
use crate::model::{ActiveScreen, Model, TuiRequest};
use crate::msg::{KeyAction, Msg};
use crate::theme::Theme;
use crate::time::TimeDirection;
use crate::update::{begin, update};
use crate::view::view;
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many messages may wait.
const MOST_WAITING: usize = 1_024;
/// How long a frame lasts while time moves by itself.
const FRAME: Duration = Duration::from_millis(33);

/// The program while it runs, on a terminal that is a writer of bytes.
pub(super) struct EventLoop<W: io::Write> {
    pub(super) model: Model,
    pub(super) screen: Terminal<CrosstermBackend<W>>,
    pub(super) readers: ReaderThreads,
    /// The process that runs the rules; none without an executable.
    judge: Option<JudgeProcess>,
    heard: Receiver<RuntimeEvent>,
    effects: Vec<Effect>,
    last: Instant,
    signal: Option<i32>,
}

impl<W: io::Write> EventLoop<W> {
    /// Begins on a screen of a size; threads report through the sender.
    pub(super) fn begin(
        request: TuiRequest,
        theme: Theme,
        executable: Option<Executable>,
        screen: Terminal<CrosstermBackend<W>>,
        size: (u16, u16),
    ) -> Result<(Self, SyncSender<RuntimeEvent>), TuiError> {
        let (told, heard) = sync_channel(MOST_WAITING);
        let readers = ReaderThreads::start(&told)?;
        let model = Model::new(request, theme, size);
        let effects = begin(&model);
        let looping = Self {
            model,
            screen,
            readers,
            judge: executable.map(|executable| JudgeProcess::new(executable, told.clone())),
            heard,
            effects,
            last: Instant::now(),
            signal: None,
        };
        Ok((looping, told))
    }

    /// Runs until the user leaves, or the system wants the program to end.
    pub(super) fn run(&mut self) -> Result<(), TuiError> {
        while self.draw()? {
            self.wait()?;
        }
        match self.signal {
            Some(number) => Err(TuiError::Signal { number }),
            None => Ok(()),
        }
    }

    /// Asks the world for what is to be done, and draws; tells whether the program goes on.
    pub(super) fn draw(&mut self) -> Result<bool, TuiError> {
        for effect in std::mem::take(&mut self.effects) {
            match (effect, &mut self.judge) {
                (Effect::Copy(text), _) => output::copy(&text, self.screen.backend_mut())?,
                (Effect::Judge(path), Some(judge)) => judge.begin(path)?,
                (Effect::Judge(_), None) => self.say(Msg::Judging(JudgingState::Stopped)),
                (Effect::StopJudging, judge) => judge.iter().for_each(JudgeProcess::stop),
                (other, _) => self.readers.take(other),
            }
        }
        if self.model.is_over {
            return Ok(false);
        }
        let model = &self.model;
        // A terminal that can shows the frame at once, not while it comes in.
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        self.screen.draw(|frame| view(model, frame))?;
        execute!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        Ok(true)
    }

    /// Gives how long the loop waits at most: for ever, unless time moves by itself.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.model.is_playing().then_some(FRAME)
    }

    /// Waits until something happens, and takes in all that has.
    pub(super) fn wait(&mut self) -> Result<(), TuiError> {
        let first = if let Some(frame) = self.patience() {
            match self.heard.recv_timeout(frame) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        } else {
            let first = self.heard.recv().ok().ok_or_else(gone)?;
            // Time stood still while nothing played.
            self.last = Instant::now();
            Some(first)
        };
        if let Some(first) = first {
            self.take(first)?;
        }
        self.take_waiting()?;
        if self.model.is_playing() {
            let now = Instant::now();
            let passed = now.duration_since(self.last);
            self.last = now;
            // Saturates after 292,000 years.
            let micros = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
            self.say(Msg::Elapsed(micros));
        }
        Ok(())
    }

    /// Takes in all that waits; tells whether anything did.
    pub(super) fn take_waiting(&mut self) -> Result<bool, TuiError> {
        let mut is_any = false;
        while let Ok(next) = self.heard.try_recv() {
            self.take(next)?;
            is_any = true;
        }
        Ok(is_any)
    }

    fn take(&mut self, heard: RuntimeEvent) -> Result<(), TuiError> {
        match heard {
            RuntimeEvent::Nothing(error) => return Err(error.into()),
            RuntimeEvent::Died(name) => return Err(TuiError::Panicked { name }),
            RuntimeEvent::Signal(number) => {
                self.signal = Some(number);
                self.say(Msg::Act(KeyAction::Quit));
            }
            RuntimeEvent::Reader(msg) => {
                self.readers.heard(&msg);
                self.say(msg);
            }
            RuntimeEvent::Terminal(event) => {
                if let Some(msg) = key_msg(&event, &self.model.screen) {
                    self.say(msg);
                }
            }
        }
        Ok(())
    }

    fn say(&mut self, msg: Msg) {
        self.effects.extend(update(&mut self.model, msg));
    }
}

fn gone() -> TuiError {
    TuiError::Terminal {
        source: io::ErrorKind::BrokenPipe.into(),
    }
}

/// Gives the message that an event is, on a screen.
fn key_msg(event: &Event, screen: &ActiveScreen) -> Option<Msg> {
    match event {
        Event::Resize(width, height) => Some(Msg::Resized(*width, *height)),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let own = named_key(*key)?;
            match (keymap::act(own, screen), own) {
                (Some(act), _) => Some(Msg::Act(act)),
                (None, KeyPress::Char(letter)) => Some(Msg::Letter(letter)),
                (None, _) => None,
            }
        }
        Event::Paste(text) => Some(Msg::Pasted(text.clone())),
        Event::Mouse(mouse) => {
            let (x, y) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::Down(_) if is_pull(*mouse) => Some(Msg::Pulled(x, y, true)),
                MouseEventKind::Drag(_) if is_pull(*mouse) => Some(Msg::Pulled(x, y, false)),
                MouseEventKind::Down(MouseButton::Left) => Some(Msg::Pointed(x, y)),
                MouseEventKind::Drag(MouseButton::Left) => Some(Msg::Dragged(x, y)),
                MouseEventKind::Up(_) => Some(Msg::Released),
                MouseEventKind::ScrollUp => Some(Msg::Wheel(x, y, TimeDirection::Previous)),
                MouseEventKind::ScrollDown => Some(Msg::Wheel(x, y, TimeDirection::Next)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Tells whether the mouse selects: with the right button, or with Shift where the terminal tells.
const fn is_pull(mouse: MouseEvent) -> bool {
    let is_shifted = mouse.modifiers.contains(KeyModifiers::SHIFT);
    match mouse.kind {
        MouseEventKind::Down(button) | MouseEventKind::Drag(button) => match button {
            MouseButton::Right => true,
            MouseButton::Left => is_shifted,
            MouseButton::Middle => false,
        },
        _ => false,
    }
}

fn named_key(key: KeyEvent) -> Option<KeyPress> {
    let has = |modifier| key.modifiers.contains(modifier);
    let named = |plain: &'static str, shifted: &'static str| {
        Some(KeyPress::Named(if has(KeyModifiers::SHIFT) {
            shifted
        } else {
            plain
        }))
    };
    match key.code {
        KeyCode::Char(letter) if has(KeyModifiers::CONTROL) => Some(KeyPress::Ctrl(letter)),
        KeyCode::Char(letter) if has(KeyModifiers::ALT) => Some(KeyPress::Alt(letter)),
        KeyCode::Char(letter) => Some(KeyPress::Char(letter)),
        KeyCode::Left => named("Left", "Shift-Left"),
        KeyCode::Right => named("Right", "Shift-Right"),
        KeyCode::Up => Some(KeyPress::Named("Up")),
        KeyCode::Down => Some(KeyPress::Named("Down")),
        KeyCode::PageUp => Some(KeyPress::Named("PageUp")),
        KeyCode::PageDown => Some(KeyPress::Named("PageDown")),
        KeyCode::Enter => Some(KeyPress::Named("Enter")),
        KeyCode::Esc => Some(KeyPress::Named("Esc")),
        KeyCode::Tab => Some(KeyPress::Named("Tab")),
        KeyCode::Delete => Some(KeyPress::Named("Delete")),
        KeyCode::Backspace => Some(KeyPress::Named("Backspace")),
        _ => None,
    }
}
