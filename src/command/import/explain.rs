//! Owns what is said when nothing could be imported, and what to do then.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::OpenError;
use kubereel_import::{ImportError, Problem};
use std::io;
use std::path::Path;

/// The form of a line, for hints.
const LINE: &str = r#"a line is {"ts","type","group","version","resource","object"}, as `kubereel export` writes it"#;

/// Says why there is no reel.
pub(super) fn error(error: &ImportError, file: &Path, reel: &Path) -> CommandError {
    let target = reel;
    let (file, reel) = (file.display(), reel.display());
    match error {
        ImportError::Empty | ImportError::NotRecognised | ImportError::Binary { .. } => {
            CommandError::new(Exit::Usage, format!("{error}: {file}")).hint(LINE)
        }
        ImportError::Yaml { .. } | ImportError::TooLong { .. } => {
            CommandError::new(Exit::Usage, format!("{error}: {file}"))
                .hint("one object a line, as `kubectl get … -o json | jq -c .items[]` writes them, may have any number of lines")
        }
        ImportError::NoTime => CommandError::new(Exit::Usage, format!("{error}: {file}"))
            .hint("--at TIME tells it, for example --at 2026-11-21T14:02:31Z"),
        ImportError::Compressed { program, .. } => {
            CommandError::new(Exit::Usage, format!("{error}: {file}"))
                .hint(format!("{program} {file} | kubereel import - -o {reel}"))
        }
        ImportError::Reel => CommandError::new(Exit::Usage, format!("{error}: {file}"))
            .hint(format!("kubereel info {file} tells what is in it")),
        ImportError::Nothing { broken } => {
            let failed = CommandError::new(Exit::Usage, format!("{error}: {file}"));
            let is_timeless = broken
                .first
                .iter()
                .all(|one| one.problem == Problem::NoTime);
            if is_timeless && broken.count > 0 {
                failed.hint("--at TIME says when lines without ts came")
            } else {
                failed.hint(LINE)
            }
        }
        ImportError::Exists { path } if path == target => CommandError::new(Exit::Usage, error)
            .hint("name another file, or replace it with --force"),
        ImportError::Exists { .. } => CommandError::new(Exit::Usage, error)
            .hint("the reel is written there until it is complete: move that file away"),
        ImportError::Create(OpenError::InUse { .. }) => {
            CommandError::new(Exit::Io, error)
                .hint("another import writes it: wait until it has ended")
        }
        ImportError::Create(OpenError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            CommandError::new(Exit::Io, error)
                .hint("make the folder first, or name another file")
        }
        ImportError::Read { .. } => {
            CommandError::new(Exit::Io, format!("{error}: {file}"))
        }
        _ => CommandError::new(Exit::Io, error),
    }
}
