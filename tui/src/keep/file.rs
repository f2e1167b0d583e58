//! Small files, read within a bound and replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Reads a file of at most `most` bytes; `None` if it does not exist.
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
    if usize::try_from(most).is_ok_and(|most| bytes.len() > most) {
        return Err(KeepError::TooLarge {
            path: path.to_owned(),
            most,
        });
    }
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Replaces a file in one step: a reader sees the old text or the new one, complete.
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

/// What is kept beside a reel cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum KeepError {
    /// The system refuses.
    #[error("{source}: {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("not a regular file: {}", .path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than anything that is kept.
    #[error("larger than {most} bytes: {}", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        most: u64,
    },
    /// It is not what it should be.
    #[error("{source}: {}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// It is of another program, or of a version that this one does not know.
    #[error("unsupported {kind:?} version {version}: {}", .path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it says that it is.
        kind: String,
        /// The version that it says.
        version: u32,
    },
    /// A time in it is none.
    #[error("not a time: {text:?}: {}", .path.display())]
    NoTime {
        /// The file.
        path: PathBuf,
        /// The text.
        text: String,
    },
    /// All names that it could have are taken by files that cannot be read.
    #[error("too many files cannot be read: {}", .path.display())]
    NoName {
        /// The first of them.
        path: PathBuf,
    },
}

impl KeepError {
    /// Gives the file.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::NoFile { path }
            | Self::TooLarge { path, .. }
            | Self::Malformed { path, .. }
            | Self::OtherKind { path, .. }
            | Self::NoTime { path, .. }
            | Self::NoName { path } => path,
        }
    }
}
