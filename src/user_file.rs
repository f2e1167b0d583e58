//! Small files that users give by name, read whole: rules, exceptions, words, tokens. Each has a limit,
//! which holds for what is read, not for what the file system says of it: a device or a pipe has no size.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::words;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, CommandError> {
    let failed = |error: io::Error| {
        let path = path.display();
        CommandError::new(Exit::Io, format!("cannot read: {error}: {path}"))
    };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if u64::try_from(read.map_err(failed)?).is_ok_and(|read| read <= limit) {
        return Ok(bytes);
    }
    let (limit, path) = (words::bytes(limit), path.display());
    let message = format!("cannot read: larger than {limit}: {path}");
    Err(CommandError::new(Exit::Usage, message))
}

/// Reads a file of at most `limit` bytes as UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, CommandError> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let (error, path) = (error.utf8_error(), path.display());
        CommandError::new(Exit::Usage, format!("cannot read: {error}: {path}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, 5).expect("read"), b"12345");
        let refused = |result: Result<Vec<u8>, CommandError>| {
            let error = result.expect_err("refused");
            error.lines().first().map(|(_, line)| (*line).to_owned())
        };
        let said = refused(read(&path, 4)).unwrap_or_default();
        assert!(said.contains("larger than 4 B: "), "{said}");
        #[cfg(target_os = "linux")]
        {
            let said = refused(read(Path::new("/dev/zero"), 1_000_000)).unwrap_or_default();
            assert!(said.contains("larger than 1.0 MB: "), "{said}");
        }
        std::fs::write(&path, b"\xff").expect("written");
        assert!(read_text(&path, 4).is_err());
    }
}
