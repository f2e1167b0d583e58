//! Owns the opening of a reel for a command, and what to say when that fails.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::OpenError;
use kubereel_history::Timeline;
use std::io;
use std::path::Path;

/// Opens a reel for questions.
pub(crate) fn open(path: &Path) -> Result<Timeline, CommandError> {
    Timeline::open(path).map_err(|error| explain(&error))
}

/// Says what to do about a reel that does not open.
pub(crate) fn explain(error: &OpenError) -> CommandError {
    let failed = CommandError::new(Exit::Reel, error);
    match error {
        OpenError::InUse { path } => {
            let path = path.display();
            failed
                .hint("wait until its recorder has ended, or stop it with Ctrl-C (SIGINT)")
                .hint(format!("or read a copy: cp {path} copy.reel; it opens like the reel of a killed recorder"))
        }
        OpenError::NotAReel { path, found } if found.contains("JSON") => {
            let path = path.display();
            failed.hint(format!("to convert JSON lines of events or lists of objects: kubereel import {path} -o NEW.reel"))
        }
        OpenError::NotAReel { .. } => {
            failed.hint("expected a file written by kubereel record or kubereel import")
        }
        OpenError::UnknownFormat { .. } => {
            failed.hint("use the version of kubereel that recorded it")
        }
        OpenError::CutOff { .. } => {
            failed.hint("the end of the file is missing: copy or download it again")
        }
        OpenError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            failed.hint("to record one: kubereel record -o FILE; to try one: kubereel demo")
        }
        _ => failed,
    }
}
