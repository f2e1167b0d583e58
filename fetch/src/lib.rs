//! Downloads the reel of an address.
//!
//! [`ReelAddress`] reads `http://`, `https://` and `gs://` addresses and the pages of Prow that
//! stand for a folder of a bucket. [`fetch()`] finds the reel there and downloads it.
//!
//! Invariants, because the server is untrusted:
//!
//! * Every length has a limit, whatever length the server declares or sends.
//! * A redirect never leads to another scheme, and credentials never go to another host.
//! * No name or text of a server ever becomes a path on this machine.
//! * An address is shown without its credentials and its query.
//! * A file gets its name in the cache when it is complete.
//!
//! The crate does not read the content of a download.

mod address;
mod cache;
mod client;
mod download;
mod error;
mod listing;

pub use address::ReelAddress;
pub use client::FetchClient;
pub use download::{FetchOptions, FetchProgress, FetchedFile, WantedFile, fetch};
pub use error::FetchError;
pub use listing::is_reel_name;
