//! Owns every way in which an import can fail as a whole. Refuses single broken lines: those are
//! counted, and the rest is imported.

use crate::broken::Broken;
use kubereel_format::{AppendError, FinishError, OpenError};
use kubereel_redact::NoRandomness;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An import failed, and no reel was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input cannot be read.
    #[error("cannot read the input: {source}")]
    Read {
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("the input is empty")]
    Empty,
    /// It is compressed.
    #[error("the input is compressed ({form})")]
    Compressed {
        /// The form.
        form: &'static str,
        /// The program that writes it uncompressed to stdout.
        program: &'static str,
    },
    /// It is a reel already.
    #[error("the input is a reel already")]
    Reel,
    /// It is no text.
    #[error("the input is neither JSON nor YAML: byte {offset} is 0")]
    Binary {
        /// Where a zero byte stands.
        offset: usize,
    },
    /// It is text of another form.
    #[error("the input is neither JSON lines of events nor a list of objects")]
    NotRecognised,
    /// It looks like YAML and is not.
    #[error("the input cannot be read as YAML: {cause}")]
    Yaml {
        /// What is wrong with it.
        cause: String,
    },
    /// It is a list or YAML, which is read as a whole, and too long for that.
    #[error("the input is too long to be read as a whole: it may have {most} bytes")]
    TooLong {
        /// The most bytes.
        most: u64,
    },
    /// It does not tell when its objects were so.
    #[error("the time of the objects is unknown")]
    NoTime,
    /// What is hidden could be guessed.
    #[error("cannot create a key for hidden values: {source}")]
    NoRandomness {
        /// Why.
        #[from]
        source: NoRandomness,
    },
    /// Nothing of it could be taken.
    #[error("nothing of the input could be imported")]
    Nothing {
        /// What is wrong with it.
        broken: Broken,
    },
    /// There is a file of the reel's name already.
    #[error("there is such a file already: {}", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The reel cannot be made.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// The reel cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The reel cannot be finished.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// The finished reel cannot be given its name.
    #[error("cannot write: {source}: {}", .path.display())]
    Place {
        /// The name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
