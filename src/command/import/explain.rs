//! Owns what is said when nothing could be imported, and what to do then.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::OpenError;
use kubereel_import::{ImportError, Problem};
use std::io;
use std::path::Path;

/// The form of a line, for hints.
const LINE: &str = r#"expected lines of the form {"ts","type","group","version","resource","object"}, as written by kubereel export"#;

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
                .hint("write one object per line: kubectl get RESOURCE -A -o json | jq -c .items[]")
        }
        ImportError::NoTime => CommandError::new(Exit::Usage, format!("{error}: {file}"))
            .hint("give it with --at, for example --at 2026-11-21T14:02:31Z"),
        ImportError::Compressed { program, .. } => {
            CommandError::new(Exit::Usage, format!("{error}: {file}"))
                .hint(format!("{program} {file} | kubereel import - -o {reel}"))
        }
        ImportError::Reel => CommandError::new(Exit::Usage, format!("{error}: {file}"))
            .hint(format!("to see its contents: kubereel info {file}")),
        ImportError::Nothing { broken } => {
            let failed = CommandError::new(Exit::Usage, format!("{error}: {file}"));
            let is_timeless = broken
                .first
                .iter()
                .all(|one| one.problem == Problem::NoTime);
            if is_timeless && broken.count > 0 {
                failed.hint("give the time of lines without ts with --at TIME")
            } else {
                failed.hint(LINE)
            }
        }
        ImportError::Exists { path } if path == target => CommandError::new(Exit::Usage, error)
            .hint("choose another file, or overwrite it with --force"),
        ImportError::Exists { .. } => CommandError::new(Exit::Usage, error)
            .hint("the import writes to that file until it is complete: move it away"),
        ImportError::Create(OpenError::InUse { .. }) => CommandError::new(Exit::Io, error)
            .hint("another import is writing it: wait until it ends"),
        ImportError::Create(OpenError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            CommandError::new(Exit::Io, error)
                .hint("create the directory first, or choose another file")
        }
        ImportError::Read { .. } => CommandError::new(Exit::Io, format!("{error}: {file}")),
        _ => CommandError::new(Exit::Io, error),
    }
}
