//! Owns the ways in which the UI cannot run. Refuses what goes wrong with a reel: the screen says that.

use std::io;
use thiserror::Error;

/// The UI cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TuiError {
    /// There is no terminal to draw on.
    #[error("the screen needs a terminal")]
    NoTerminal,
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
    /// A thread panicked; what it was asked would never be answered.
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

impl From<io::Error> for TuiError {
    fn from(source: io::Error) -> Self {
        Self::Terminal { source }
    }
}
