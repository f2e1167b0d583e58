//! Errors that keep a recording from beginning or from ending in order. Failures of the cluster are
//! recorded, not returned.

use kubereel_format::{FinishError, OpenError, RecoverError};
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// Recording could not begin, or the file could not be written to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The reel can be neither created nor resumed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The existing reel cannot be read well enough to be resumed.
    #[error("{path}: cannot resume the reel: {cause}", path = path.display())]
    Past {
        /// The reel.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// The existing reel is sealed, and cannot be rewritten as one that takes more records. It is unchanged.
    #[error("{path}: cannot resume the sealed reel: {source}", path = path.display())]
    Unseal {
        /// The reel.
        path: PathBuf,
        /// Why.
        source: RecoverError,
    },
    /// The reel has reached its size limit.
    #[error("{path}: the reel has no room left: {file_bytes} bytes of {max_bytes}", path = path.display())]
    Full {
        /// The reel.
        path: PathBuf,
        /// Its size, in bytes.
        file_bytes: u64,
        /// The limit, in bytes.
        max_bytes: u64,
    },
    /// The status page cannot be served.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// The operating system refuses a resource that the recorder needs.
    #[error("cannot {what}: {source}")]
    System {
        /// The resource.
        what: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// The file could not be written to its end. Its content can be read.
    #[error("{path}: stopped writing: {cause}", path = path.display())]
    Write {
        /// The reel.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// Everything is recorded, but the file could not be packed.
    #[error(transparent)]
    Finish(#[from] FinishError),
}
