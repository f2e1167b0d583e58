//! Owns reading a small file and replacing it in one step. Refuses to follow what is no file, and to
//! read more than was agreed.

use super::error::KeepError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Reads a file of at most so many bytes; `None` if there is none.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<String>, KeepError> {
    let failed = |source: io::Error| KeepError::Io {
        path: path.to_owned(),
        source,
    };
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !about.is_file() {
        return Err(KeepError::NoFile {
            path: path.to_owned(),
        });
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(KeepError::TooLarge {
            path: path.to_owned(),
            most,
        });
    }
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Puts a text in the place of a file: whoever reads it sees the old or the new one, whole.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What was written for nothing is not left lying about.
        drop(fs::remove_file(&beside));
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true);
    let mut file = match options.open(path) {
        // One of this name is from a process that is gone: this one has its number now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
