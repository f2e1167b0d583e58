//! Owns where a command's words go: answers to stdout, everything about them to stderr, colours only
//! where a person looks. Refuses to know what is said.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_history::harmless;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

/// Lines are not broken shorter than this.
const NARROWEST: usize = 40;

/// The two outputs of a command.
pub(crate) struct Screen {
    out: BufWriter<Stdout>,
    out_paint: Paint,
    out_width: Option<usize>,
    err_paint: Paint,
    is_err_terminal: bool,
}

/// Whether and how words are coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Screen {
    /// Opens stdout and stderr.
    pub(crate) fn open() -> Self {
        let is_err_terminal = io::stderr().is_terminal();
        let size = terminal_size::terminal_size_of(io::stdout());
        Self {
            out: BufWriter::new(io::stdout()),
            out_paint: Paint::for_output(io::stdout().is_terminal()),
            out_width: size.map(|(width, _)| usize::from(width.0).max(NARROWEST)),
            err_paint: Paint::for_output(is_err_terminal),
            is_err_terminal,
        }
    }

    /// Gives stdout.
    pub(crate) const fn out(&mut self) -> &mut BufWriter<Stdout> {
        &mut self.out
    }

    /// Gives the colours of stdout.
    pub(crate) const fn paint(&self) -> Paint {
        self.out_paint
    }

    /// Gives the colours of stderr.
    pub(crate) const fn err_paint(&self) -> Paint {
        self.err_paint
    }

    /// Gives how many columns stdout has; `None` if it is no terminal: lines are not broken there.
    pub(crate) const fn width(&self) -> Option<usize> {
        self.out_width
    }

    /// Tells whether somebody watches stderr.
    pub(crate) const fn is_err_terminal(&self) -> bool {
        self.is_err_terminal
    }

    /// Prints a value for programs.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        let json = serde_json::to_string_pretty(value)
            .map_err(|error| CommandError::new(Exit::Io, error))?;
        self.line(json)
    }

    /// Writes a line to stdout.
    pub(crate) fn line(&mut self, line: impl std::fmt::Display) -> Result<(), CommandError> {
        writeln!(self.out, "{line}").map_err(|error| CommandError::output(&error))
    }

    /// Writes a line about the answer to stderr, in its order with what stdout shows.
    pub(crate) fn aside(&mut self, line: impl std::fmt::Display) -> Result<(), CommandError> {
        self.finish()?;
        // An answer stands also where nobody hears what is said about it.
        // In one piece: a pipe's reader may be writing to the same terminal.
        let line = format!("{line}\n");
        drop(io::stderr().lock().write_all(line.as_bytes()));
        Ok(())
    }

    /// Makes sure that everything was written.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        self.out
            .flush()
            .map_err(|error| CommandError::output(&error))
    }
}

impl Paint {
    /// Decides by the environment: `NO_COLOR`, a dumb terminal, or no terminal mean none.
    pub(crate) fn for_output(is_terminal: bool) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_on: is_terminal && !is_set("NO_COLOR") && !is_dumb,
        }
    }

    /// What matters most.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What can be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What needs care: gaps, unknowns.
    pub(crate) fn wary(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        let text = harmless(text);
        if self.is_on && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.into_owned()
        }
    }
}
