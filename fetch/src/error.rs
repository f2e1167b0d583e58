//! Errors of fetching a reel. No text here contains a credential or a query.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// No reel can be fetched from an address.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// It is not an address.
    #[error("not an address: {why}")]
    Address {
        /// The cause.
        why: String,
    },
    /// A proxy variable cannot be read.
    #[error("cannot use the proxy of ${variable}: {why}")]
    Proxy {
        /// The environment variable.
        variable: &'static str,
        /// The cause.
        why: String,
    },
    /// The server cannot be reached, or does not respond.
    #[error("cannot download: {source}: {address}")]
    Connect {
        /// The address.
        address: String,
        /// The cause.
        source: Box<ureq::Error>,
    },
    /// The server refused.
    #[error("cannot download: HTTP status {status}: {address}")]
    Status {
        /// The address.
        address: String,
        /// The status code.
        status: u16,
    },
    /// A redirect leads to another scheme.
    #[error("cannot download: redirected to {to}, another scheme: {address}")]
    OtherScheme {
        /// The address.
        address: String,
        /// The target.
        to: String,
    },
    /// A redirect has no target, or there are too many.
    #[error("cannot download: {why}: {address}")]
    Redirect {
        /// The address.
        address: String,
        /// Why it is not followed.
        why: &'static str,
    },
    /// The file exceeds the size limit.
    #[error("cannot download: larger than the limit of {limit} bytes: {address}")]
    TooLarge {
        /// The address.
        address: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The connection repeatedly ends before the file.
    #[error("cannot download: the connection ended after {done}{}: {source}: {address}", of(*.total))]
    Cut {
        /// The address.
        address: String,
        /// The received bytes.
        done: u64,
        /// The total.
        total: Option<u64>,
        /// The error of the last connection.
        source: io::Error,
    },
    /// The file changes while it is downloaded.
    #[error("cannot download: the file changes while it is read: {address}")]
    Changing {
        /// The address.
        address: String,
    },
    /// It is an HTML page.
    #[error("a web page, not a file: {address}")]
    WebPage {
        /// The address.
        address: String,
    },
    /// It does not exist.
    #[error("nothing found: {address}")]
    NotFound {
        /// The address.
        address: String,
    },
    /// There are files, but no reel among them.
    #[error("no reel among {files} {}: {address}", if *files == 1 { "file" } else { "files" })]
    NoReel {
        /// The address.
        address: String,
        /// The number of files.
        files: u64,
    },
    /// There is more than one reel.
    #[error("{} reels: {address}", reels.len())]
    Several {
        /// The address.
        address: String,
        /// The addresses of the reels.
        reels: Vec<String>,
    },
    /// The store's list of objects cannot be parsed.
    #[error("cannot list: {why}: {address}")]
    Listing {
        /// The address.
        address: String,
        /// The cause.
        why: String,
    },
    /// The download cannot be written.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

fn of(total: Option<u64>) -> String {
    total.map_or_else(|| " bytes".to_owned(), |total| format!(" of {total} bytes"))
}
