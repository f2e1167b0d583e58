//! Errors of compressed files and archives.

use crate::compression::CompressionForm;
use std::io;
use thiserror::Error;

/// A compressed file, an archive or a folder cannot be read further.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The compressed data is damaged or cut off.
    #[error("the {} data is damaged after {bytes} decompressed bytes: {source}", form.as_str())]
    Damaged {
        /// Its compression.
        form: CompressionForm,
        /// The number of decompressed bytes before that place.
        bytes: u64,
        /// The decompressor's error.
        source: io::Error,
    },
    /// The archive is damaged or cut off.
    #[error("the {form} archive is damaged {}: {source}", place(after))]
    DamagedArchive {
        /// Its format.
        form: &'static str,
        /// The last file that was read; empty if there was none.
        after: String,
        /// The error of its reader.
        source: io::Error,
    },
    /// One file of an archive is damaged, such as one with a failed checksum; the others can be read.
    #[error("the data of {name} is damaged: {source}")]
    DamagedFile {
        /// Its name.
        name: String,
        /// The error of the archive's reader.
        source: io::Error,
    },
    /// A file of a zip archive needs a password, or is compressed in a way that is not supported.
    #[error("the zip archive cannot be read {}: {reason}", place(after))]
    UnsupportedZip {
        /// The last file that was read; empty if there was none.
        after: String,
        /// What is not supported.
        reason: String,
    },
    /// It exceeds the size limit.
    #[error("more than {limit} bytes after decompression")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Its decompressor would need more memory than the limit.
    #[error("the {} data needs more than {limit_mib} MiB of memory to be decompressed", form.as_str())]
    TooMuchMemory {
        /// Its compression.
        form: CompressionForm,
        /// The limit, in MiB.
        limit_mib: u32,
    },
    /// It has too many files.
    #[error("more than {limit} files")]
    TooManyFiles {
        /// The limit.
        limit: u64,
    },
    /// It has too many layers of compression.
    #[error("compressed more than {limit} times")]
    TooManyLayers {
        /// The limit.
        limit: usize,
    },
    /// A file or folder cannot be read.
    #[error("{name}: {source}")]
    Read {
        /// Its name.
        name: String,
        /// The cause.
        source: io::Error,
    },
}

fn place(after: &str) -> String {
    if after.is_empty() {
        "at its beginning".to_owned()
    } else {
        format!("behind {after}")
    }
}

impl UnpackError {
    /// Extracts an unpacking error from an I/O error, in which a reader wraps it.
    ///
    /// # Errors
    /// The I/O error itself, if it is another one.
    pub fn of_io(error: io::Error) -> Result<Self, io::Error> {
        error.downcast::<Self>()
    }

    /// Returns whether data is damaged or not supported: what was read before the error can be used.
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::DamagedArchive { .. }
                | Self::DamagedFile { .. }
                | Self::UnsupportedZip { .. }
        )
    }

    /// Returns whether compressed data is wrong, and not only cut off: what its decompressor returned before the error
    /// may be wrong, too.
    pub fn is_corrupt(&self) -> bool {
        match self {
            Self::Damaged { source, .. } => source.kind() != io::ErrorKind::UnexpectedEof,
            Self::DamagedArchive { source, .. } => {
                let inner = source.get_ref().and_then(|inner| inner.downcast_ref());
                inner.is_some_and(Self::is_corrupt)
            }
            _ => false,
        }
    }
}

impl From<UnpackError> for io::Error {
    fn from(error: UnpackError) -> Self {
        let kind = match &error {
            UnpackError::Damaged { source, .. }
            | UnpackError::DamagedArchive { source, .. }
            | UnpackError::DamagedFile { source, .. }
            | UnpackError::Read { source, .. } => source.kind(),
            _ => io::ErrorKind::FileTooLarge,
        };
        // Readers retry `Interrupted` without end.
        let kind = if kind == io::ErrorKind::Interrupted {
            io::ErrorKind::Other
        } else {
            kind
        };
        Self::new(kind, error)
    }
}
