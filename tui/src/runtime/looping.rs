//! Owns the loop: a message, the model, a frame. Refuses to draw when nothing happened.

use super::clipboard;
use super::error::TuiError;
use super::keys;
use super::reader::{Readers, spawn};
use super::terminal::Held;
use crate::effect::Effect;
use crate::model::{Model, Request};
use crate::msg::Msg;
use crate::theme::Theme;
use crate::update::{begin, update};
use crate::view::view;
use crossterm::event::{self, Event};
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many messages may wait.
const MOST_WAITING: usize = 1_024;
/// How long a frame lasts while time moves by itself.
const FRAME: Duration = Duration::from_millis(33);

/// What the loop waits for.
enum Heard {
    Terminal(Event),
    Reader(Msg),
    /// The terminal is gone.
    Nothing(io::Error),
}

/// Shows a reel until the user leaves; gives the address of the last place, if there was one.
///
/// # Errors
/// When there is no terminal, or it fails.
pub fn run(request: Request, theme: Theme) -> Result<Option<String>, TuiError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    let (told, heard) = sync_channel(MOST_WAITING);
    let (from_readers, messages) = sync_channel(MOST_WAITING);
    let readers = Readers::start(&from_readers)?;
    drop(from_readers);
    let own = told.clone();
    spawn("kubereel-relay", move || {
        while let Ok(msg) = messages.recv() {
            if own.send(Heard::Reader(msg)).is_err() {
                return;
            }
        }
    })?;
    let mut held = Held::take()?;
    spawn("kubereel-input", move || listen(&told))?;
    let size = held.screen.size()?;
    let mut model = Model::new(request, theme, (size.width, size.height));
    let mut effects = begin(&model);
    let mut last = Instant::now();
    loop {
        for effect in effects.drain(..) {
            if let Effect::Copy(text) = &effect {
                clipboard::copy(text)?;
            }
            readers.take(effect);
        }
        if model.is_over {
            break;
        }
        held.screen.draw(|frame| view(&model, frame))?;
        effects = wait(&heard, &mut model, &mut last)?;
    }
    drop(held);
    Ok(model.open().map(|open| open.address(&model.request.path)))
}

/// Waits until something happens, and takes in all that has.
fn wait(
    heard: &Receiver<Heard>,
    model: &mut Model,
    last: &mut Instant,
) -> Result<Vec<Effect>, TuiError> {
    let mut effects = Vec::new();
    let first = if model.is_playing() {
        match heard.recv_timeout(FRAME) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    } else {
        let first = heard.recv().ok().ok_or_else(gone)?;
        // Time stood still while nothing played.
        *last = Instant::now();
        Some(first)
    };
    for one in first.into_iter().chain(heard.try_iter()) {
        let msg = match one {
            Heard::Nothing(error) => return Err(error.into()),
            Heard::Reader(msg) => Some(msg),
            Heard::Terminal(event) => keys::msg(&event, &model.screen),
        };
        if let Some(msg) = msg {
            effects.extend(update(model, msg));
        }
    }
    if model.is_playing() {
        let now = Instant::now();
        let micros = i64::try_from(now.duration_since(*last).as_micros()).unwrap_or(0);
        *last = now;
        effects.extend(update(model, Msg::Elapsed(micros)));
    }
    Ok(effects)
}

fn gone() -> TuiError {
    TuiError::Terminal {
        source: io::ErrorKind::BrokenPipe.into(),
    }
}

fn listen(told: &SyncSender<Heard>) {
    loop {
        let heard = match event::read() {
            Ok(event) => Heard::Terminal(event),
            Err(error) => Heard::Nothing(error),
        };
        let is_last = matches!(heard, Heard::Nothing(_));
        if told.send(heard).is_err() || is_last {
            return;
        }
    }
}
