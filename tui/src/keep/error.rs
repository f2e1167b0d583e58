//! Owns the ways in which a file beside a reel cannot be read or written. Refuses those of reels.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

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
    #[error("no file: {}", .path.display())]
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
    #[error("{kind:?} of version {version} is not known: {}", .path.display())]
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
