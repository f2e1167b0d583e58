//! Owns the log lines of a recording: to stderr, as far as a filter lets them. Refuses colours where
//! nobody watches, and secrets: a log is published as a reel is.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::public_words;
use kubereel_redact::{Extra, Redactor};
use std::io::{self, Write};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// What is told where nothing else tells: a pod's log.
const UNWATCHED: &str = "info";

/// What is told beside the live line: it would be torn apart by more.
const WATCHED: &str = "warn";

/// Gives each line a writer that takes secrets out.
struct Scrubbed(Redactor);

/// A line in the making.
struct Line<'a> {
    redactor: &'a Redactor,
    text: Vec<u8>,
}

impl<'a> MakeWriter<'a> for Scrubbed {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            redactor: &self.0,
            text: Vec::new(),
        }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    /// Writes the line: only a whole one can be searched.
    fn drop(&mut self) {
        let text = self.redactor.text(&self.text);
        // Nobody can be told that a log cannot be written.
        let _written = io::stderr().lock().write_all(&text);
    }
}

/// Begins to log.
pub(super) fn begin(
    filter: Option<&str>,
    extra: Extra,
    is_terminal: bool,
) -> Result<(), CommandError> {
    let usual = if is_terminal { WATCHED } else { UNWATCHED };
    let filter = filter.filter(|filter| !filter.is_empty()).unwrap_or(usual);
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        CommandError::new(Exit::Usage, format!("cannot read the log filter: {error}"))
            .hint("for example: --log info, or --log kubereel_recorder=debug")
    })?;
    let redactor =
        public_words::begin(extra).map_err(|error| CommandError::new(Exit::Io, error))?;
    let begun = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Scrubbed(redactor))
        .try_init();
    begun.map_err(|error| CommandError::new(Exit::Io, format!("cannot log: {error}")))
}
