//! The ways in which recording cannot begin or cannot end well. Trouble with the cluster is recorded, not
//! returned.

use kubereel_format::{FinishError, OpenError};
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
    #[error("cannot resume the reel: {cause}: {path}", path = path.display())]
    Past {
        /// The reel.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// The reel is as large as it may become.
    #[error("the reel has no room left: {file_bytes} bytes of {max_bytes}: {path}", path = path.display())]
    Full {
        /// The reel.
        path: PathBuf,
        /// Its size, in bytes.
        file_bytes: u64,
        /// How large it may become, in bytes.
        max_bytes: u64,
    },
    /// The status page cannot be served.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The system refuses something that the recorder cannot do without.
    #[error("cannot {what}: {source}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// The file could not be written to its end. What it holds can be read.
    #[error("stopped writing: {cause}: {path}", path = path.display())]
    Write {
        /// The reel.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// Everything is recorded, but the file could not be brought into its final form.
    #[error(transparent)]
    Finish(#[from] FinishError),
}
