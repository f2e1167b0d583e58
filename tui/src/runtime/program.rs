//! Owns the program on a real terminal: who is heard, and that the terminal is given back however it
//! ends. Refuses to do anything with what is heard: the loop does.

use super::error::TuiError;
use super::executable::Executable;
use super::heard::{Heard, spawn};
use super::looping::Looping;
use super::terminal::Held;
use crate::model::{Model, Request};
use crate::theme::Theme;
use crate::update::left;
use crossterm::event;
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::SyncSender;

/// Shows a reel until the user leaves; gives the address of the last place, if there was one.
///
/// # Errors
/// When there is no terminal, or it fails, or the system ends the program.
pub fn run(
    request: Request,
    theme: Theme,
    executable: Executable,
) -> Result<Option<String>, TuiError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    // Before the terminal is taken: a signal in between would leave it taken.
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    let (_held, screen) = Held::take()?;
    let size = screen.size()?;
    let (mut looping, told) = Looping::begin(
        request,
        theme,
        Some(executable),
        screen,
        (size.width, size.height),
    )?;
    spawn("kubereel-input", &told, listen)?;
    spawn("kubereel-signals", &told, move |told| {
        for signal in &mut signals {
            if told.send(Heard::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    let ended = looping.run();
    let model = &looping.model;
    leave(model);
    ended?;
    Ok(model.open().map(|open| open.address(&model.request.path)))
}

/// Writes where one was, for the next time.
fn leave(model: &Model) {
    if let (Some(open), Some(folder)) = (model.open(), &model.request.state_folder)
        && !open.id.is_empty()
    {
        // Only a place is lost, and the address of it is printed.
        drop(left(open).save(folder, &open.id));
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
