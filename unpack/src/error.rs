//! The ways in which a compressed file or an archive cannot be read.

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
        /// How it is compressed.
        form: CompressionForm,
        /// The decompressed bytes before that place.
        bytes: u64,
        /// The decompressor's error.
        source: io::Error,
    },
    /// The archive is damaged or cut off.
    #[error("the {form} archive is damaged {}: {source}", place(after))]
    DamagedArchive {
        /// Its form.
        form: &'static str,
        /// The last file that was read before that place; empty if there was none.
        after: String,
        /// The error of its reader.
        source: io::Error,
    },
    /// It is larger than allowed.
    #[error("more than {limit} bytes after decompression")]
    TooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// It holds more files than allowed.
    #[error("more than {limit} files")]
    TooManyFiles {
        /// The most files.
        limit: u64,
    },
    /// It is compressed more often than allowed.
    #[error("compressed more than {limit} times")]
    TooManyLayers {
        /// The most layers.
        limit: usize,
    },
    /// A file or folder cannot be read.
    #[error("cannot read: {source}: {name}")]
    Read {
        /// Its name.
        name: String,
        /// Why.
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
    /// Takes an unpacking error out of an error of reading, which is how it comes through a reader.
    ///
    /// # Errors
    /// The error itself, if it is another.
    pub fn of_io(error: io::Error) -> Result<Self, io::Error> {
        error.downcast::<Self>()
    }

    /// Tells whether what was read before is sound: the rest is missing.
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::DamagedArchive { .. })
    }
}

impl From<UnpackError> for io::Error {
    fn from(error: UnpackError) -> Self {
        let kind = match &error {
            UnpackError::Damaged { source, .. } | UnpackError::DamagedArchive { source, .. } => {
                source.kind()
            }
            UnpackError::Read { source, .. } => source.kind(),
            _ => io::ErrorKind::FileTooLarge,
        };
        // `Interrupted` would be tried again, by every reader, without end.
        let kind = if kind == io::ErrorKind::Interrupted {
            io::ErrorKind::Other
        } else {
            kind
        };
        Self::new(kind, error)
    }
}
