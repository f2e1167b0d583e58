//! What threads report to the loop, and why the program cannot go on.

use crate::msg::Msg;
use crossterm::event::Event;
use signal_hook::consts::SIGINT;
use std::sync::mpsc::SyncSender;
use std::{io, thread};
use thiserror::Error;

/// What the loop waits for.
pub(super) enum RuntimeEvent {
    /// Input from the terminal.
    Terminal(Event),
    /// A thread that reads has something to say.
    Reader(Msg),
    /// The system wants the program to end.
    Signal(i32),
    /// The terminal is gone.
    Nothing(io::Error),
    /// A thread panicked; the panic hook has reported it.
    Died(&'static str),
}

/// Tells the loop when its thread panics: its questions would never be answered.
struct Alarm {
    name: &'static str,
    told: SyncSender<RuntimeEvent>,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            // The loop may be over already.
            drop(self.told.send(RuntimeEvent::Died(self.name)));
        }
    }
}

/// Starts a thread with a name; the loop hears if it panics.
pub(super) fn spawn(
    name: &'static str,
    told: &SyncSender<RuntimeEvent>,
    run: impl FnOnce(&SyncSender<RuntimeEvent>) + Send + 'static,
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

/// The UI cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TuiError {
    /// There is no terminal to draw on.
    #[error("the screen needs a terminal")]
    NoTerminal,
    /// The terminal shows what is sent to it and does nothing else.
    #[error("the terminal cannot show a screen: TERM is dumb")]
    DumbTerminal,
    /// The reel cannot be opened.
    #[error("{why}")]
    NotOpened {
        /// Why.
        why: String,
    },
    /// The terminal refuses.
    #[error("the terminal failed: {source}")]
    Terminal {
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start the thread {name}: {source}")]
    Thread {
        /// Its name.
        name: &'static str,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A thread panicked; its questions would never be answered.
    #[error("the thread {name} panicked")]
    Panicked {
        /// Its name.
        name: &'static str,
    },
    /// The system ended the program.
    #[error("ended by signal {number}")]
    Signal {
        /// The signal's number.
        number: i32,
    },
}

impl TuiError {
    /// Returns whether SIGINT ended the program.
    pub const fn is_interrupt(&self) -> bool {
        matches!(self, Self::Signal { number: SIGINT })
    }
}

impl From<io::Error> for TuiError {
    fn from(source: io::Error) -> Self {
        Self::Terminal { source }
    }
}
