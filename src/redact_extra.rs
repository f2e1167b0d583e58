//! Owns the file of `--redact-extra`: where it is read, and how its mistakes are told. Refuses its rules:
//! the policy reads those.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::user_file;
use kubereel_redact::Extra;
use std::path::Path;

/// How much of a file is read. Rules are written by hand.
const FILE_BYTES: u64 = 1024 * 1024;

/// Reads the file, if there is one.
pub(crate) fn read(path: Option<&Path>) -> Result<Extra, CommandError> {
    let Some(path) = path else {
        return Ok(Extra::default());
    };
    let name = path.display().to_string();
    let text = user_file::read_text(path, FILE_BYTES)?;
    Extra::read(&name, &text).map_err(|error| {
        CommandError::new(Exit::Usage, error)
            .hint("rules: [{name: pins, kind: widgets.acme.io, path: spec.pin}, {name: licences, text: 'LIC-[0-9]{6}'}]")
    })
}
