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
                .hint(format!("or look at a copy: cp {path} copy.reel; it opens like a reel whose recorder was killed"))
        }
        OpenError::NotAReel { path, found } if found.contains("JSON") => {
            let path = path.display();
            failed.hint(format!("kubereel import {path} -o NEW.reel makes a reel of JSON lines of events and of lists of objects"))
        }
        OpenError::NotAReel { .. } => {
            failed.hint("kubereel reads what `kubereel record -o FILE` or `kubereel import` wrote")
        }
        OpenError::UnknownFormat { .. } => {
            failed.hint("read it with the kubereel that recorded it")
        }
        OpenError::CutOff { .. } => failed.hint("its end is missing: copy or download it again"),
        OpenError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            failed.hint("kubereel record -o FILE records one; kubereel demo shows one")
        }
        _ => failed,
    }
}
