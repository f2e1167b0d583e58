//! The ways in which an address gives no reel. No text here repeats a credential or a query.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// No reel can be fetched from an address.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The word is not an address.
    #[error("not an address: {why}")]
    Address {
        /// Why.
        why: String,
    },
    /// A proxy variable cannot be read.
    #[error("cannot use the proxy of ${variable}: {why}")]
    Proxy {
        /// The environment variable.
        variable: &'static str,
        /// Why.
        why: String,
    },
    /// The server cannot be asked, or does not answer.
    #[error("cannot download: {source}: {address}")]
    Connect {
        /// The address.
        address: String,
        /// Why.
        source: Box<ureq::Error>,
    },
    /// The server refuses.
    #[error("cannot download: HTTP status {status}: {address}")]
    Status {
        /// The address.
        address: String,
        /// The status.
        status: u16,
    },
    /// A redirect leads to another scheme.
    #[error("cannot download: redirected to {to}, another scheme: {address}")]
    OtherScheme {
        /// The address.
        address: String,
        /// Where to.
        to: String,
    },
    /// A redirect leads nowhere, or to yet another one.
    #[error("cannot download: {why}: {address}")]
    Redirect {
        /// The address.
        address: String,
        /// Why it is not followed.
        why: &'static str,
    },
    /// It is larger than allowed.
    #[error("cannot download: larger than the limit of {limit} bytes: {address}")]
    TooLarge {
        /// The address.
        address: String,
        /// The most bytes.
        limit: u64,
    },
    /// The connection ends again and again before the file does.
    #[error("cannot download: the connection ended after {done}{}: {source}: {address}", of(*.total))]
    Cut {
        /// The address.
        address: String,
        /// How many bytes came.
        done: u64,
        /// How many there are.
        total: Option<u64>,
        /// How the last connection ended.
        source: io::Error,
    },
    /// The file becomes another one while it is downloaded.
    #[error("cannot download: the file changes while it is read: {address}")]
    Changing {
        /// The address.
        address: String,
    },
    /// It is a page for people.
    #[error("a web page, not a file: {address}")]
    WebPage {
        /// The address.
        address: String,
    },
    /// Nothing is there.
    #[error("nothing found: {address}")]
    NotFound {
        /// The address.
        address: String,
    },
    /// There are files, and none of them is called a reel.
    #[error("no reel among {files} files: {address}")]
    NoReel {
        /// The address.
        address: String,
        /// How many files there are.
        files: usize,
    },
    /// There are more than one.
    #[error("{} reels: {address}", reels.len())]
    Several {
        /// The address.
        address: String,
        /// Their addresses.
        reels: Vec<String>,
    },
    /// The store's list of objects cannot be understood.
    #[error("cannot list: {why}: {address}")]
    Listing {
        /// The address.
        address: String,
        /// Why.
        why: String,
    },
    /// The download cannot be written.
    #[error("cannot write: {source}: {}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn of(total: Option<u64>) -> String {
    total.map_or_else(|| " bytes".to_owned(), |total| format!(" of {total} bytes"))
}
