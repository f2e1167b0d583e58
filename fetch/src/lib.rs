//! Downloads the reel that an address means.
//!
//! [`ReelAddress`] reads `http://`, `https://` and `gs://` addresses and the pages of Prow that stand for a folder of a
//! bucket. [`fetch()`] finds the reel there and downloads it.
//!
//! Invariants, for a server that somebody else runs:
//!
//! * Every length has a limit, whatever the server promises or sends.
//! * A redirect never leads to another scheme, and credentials never go to another host.
//! * No name or text of a server ever becomes a path on this machine.
//! * What is shown of an address has neither its credentials nor its query.
//! * A file gets its name in the cache when it is complete.
//!
//! The crate does not look into what it downloads.

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
