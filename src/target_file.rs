//! Owns which files a command may write over: never its own input, and others only if it is told to.
//! Refuses reels that are written: the library replaces those in one step.

use crate::command_error::CommandError;
use crate::exit::Exit;
use std::fs::{self, File};
use std::path::Path;

/// Refuses to write to the file that is read.
pub(crate) fn refuse_input(input: &Path, output: &Path) -> Result<(), CommandError> {
    let is_same = match (fs::canonicalize(input), fs::canonicalize(output)) {
        (Ok(input), Ok(output)) => input == output && input.is_file(),
        // What is not there yet is no input.
        _ => false,
    };
    if is_same {
        let output = output.display();
        return Err(CommandError::new(
            Exit::Usage,
            format!("the output is the input file: {output}"),
        )
        .hint("choose another output file"));
    }
    Ok(())
}

/// Makes a file. One that is there already is replaced only by force; a device or a pipe is written to.
pub(crate) fn create(path: &Path, replaces: bool) -> Result<File, CommandError> {
    if !replaces && path.is_file() {
        let path = path.display();
        return Err(
            CommandError::new(Exit::Usage, format!("file exists: {path}"))
                .hint("choose another file, or overwrite it with --force"),
        );
    }
    File::create(path).map_err(|error| {
        let path = path.display();
        CommandError::new(Exit::Io, format!("cannot write: {error}: {path}"))
    })
}
