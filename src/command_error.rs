//! Owns how a failed command speaks: what happened, what to do next, and the exit code. Refuses to
//! decide whether something is an error: commands do.

use crate::exit::Exit;
use kubereel_history::harmless;
use std::fmt::Display;
use std::io;

/// A command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    exit: Exit,
    message: String,
    hints: Vec<String>,
    is_quiet: bool,
}

impl CommandError {
    /// Makes an error of a lower-case message without a full stop; it stays one line.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Self {
            exit,
            message: harmless(&message.to_string()).into_owned(),
            hints: Vec::new(),
            is_quiet: false,
        }
    }

    /// Adds a line that says what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(harmless(&hint.to_string()).into_owned());
        self
    }

    /// Gives what happened.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Gives the exit code.
    pub(crate) const fn exit(&self) -> Exit {
        self.exit
    }

    /// Gives the lines for stderr; none if the reader of our output simply went away.
    pub(crate) fn lines(&self) -> Vec<(&'static str, &str)> {
        if self.is_quiet {
            return Vec::new();
        }
        let mut lines = vec![("error", self.message.as_str())];
        lines.extend(self.hints.iter().map(|hint| ("hint", hint.as_str())));
        lines
    }

    /// Makes an error of a failed write to stdout; a closed pipe is no failure.
    pub(crate) fn output(source: &io::Error) -> Self {
        let is_quiet = source.kind() == io::ErrorKind::BrokenPipe;
        Self {
            exit: if is_quiet { Exit::Yes } else { Exit::Io },
            message: format!("cannot write the output: {source}"),
            hints: Vec::new(),
            is_quiet,
        }
    }
}
