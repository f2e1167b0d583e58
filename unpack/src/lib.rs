//! Reads the content of compressed files, archives and folders, and finds reels in them.
//!
//! [`PlainInput`] removes layers of gzip, zstd and xz, by the content. [`walk_folder`],
//! [`walk_tar`] and [`walk_zip`] visit the regular files of a folder or an archive, one after
//! another. [`locate()`] returns the reel of a path: the file itself, or the one inside it.
//!
//! Invariants, because the input is untrusted:
//!
//! * No name inside an archive ever becomes a path on this machine, and no link is followed.
//! * Bytes, files, nested folders and layers of compression are counted and limited.
//! * Memory does not grow with the input: the window of a decompressor is bounded.
//!
//! The crate does not know the format of a cluster's data, except the first bytes of a reel.

mod compression;
mod cut_zip;
mod error;
mod locate;
mod plain;
mod walk;

pub use compression::CompressionForm;
pub use error::UnpackError;
pub use locate::{LocateError, LocatedReel, ReelCache, forget_oldest, locate};
pub use plain::{LOOKED_AT, PlainInput};
pub use walk::{ArchiveFile, SkippedEntries, UnpackLimits, walk_folder, walk_tar, walk_zip};
