//! Owns the log lines of a recording: to stderr, as far as a filter lets them. Refuses colours where
//! nobody watches.

use crate::command_error::CommandError;
use crate::exit::Exit;
use std::io;
use tracing_subscriber::EnvFilter;

/// What is told where nothing else tells: a pod's log.
const UNWATCHED: &str = "info";

/// What is told beside the live line: it would be torn apart by more.
const WATCHED: &str = "warn";

/// Begins to log.
pub(super) fn begin(filter: Option<&str>, is_terminal: bool) -> Result<(), CommandError> {
    let usual = if is_terminal { WATCHED } else { UNWATCHED };
    let filter = filter.filter(|filter| !filter.is_empty()).unwrap_or(usual);
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        CommandError::new(Exit::Usage, format!("cannot read the log filter: {error}"))
            .hint("write it like info, or kubereel_recorder=debug")
    })?;
    let begun = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(io::stderr)
        .try_init();
    begun.map_err(|error| CommandError::new(Exit::Surroundings, format!("cannot log: {error}")))
}
