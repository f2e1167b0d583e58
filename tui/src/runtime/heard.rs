//! Owns what the loop hears, and how threads that talk to it are started and how it learns that one
//! died. Refuses to act on it: the loop does.

use super::error::TuiError;
use crate::msg::Msg;
use crossterm::event::Event;
use std::io;
use std::sync::mpsc::SyncSender;
use std::thread;

/// What the loop waits for.
pub(super) enum Heard {
    /// Somebody did something at the terminal.
    Terminal(Event),
    /// A thread that reads has something to say.
    Reader(Msg),
    /// The system wants the program to end.
    Signal(i32),
    /// The terminal is gone.
    Nothing(io::Error),
    /// A thread panicked; the panic was told where panics are told.
    Died(&'static str),
}

/// Tells the loop when its thread panics: what it was asked would never be answered.
struct Alarm {
    name: &'static str,
    told: SyncSender<Heard>,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            // The loop may be over already.
            drop(self.told.send(Heard::Died(self.name)));
        }
    }
}

/// Starts a thread with a name; the loop hears if it panics.
pub(super) fn spawn(
    name: &'static str,
    told: &SyncSender<Heard>,
    run: impl FnOnce(&SyncSender<Heard>) + Send + 'static,
) -> Result<(), TuiError> {
    let alarm = Alarm {
        name,
        told: told.clone(),
    };
    let built = thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || run(&alarm.told));
    built
        .map(drop)
        .map_err(|source| TuiError::Thread { name, source })
}
