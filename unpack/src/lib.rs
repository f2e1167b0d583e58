//! Reads what lies inside compressed files, archives and folders, and finds reels in them.
//!
//! [`PlainInput`] takes off gzip, zstd and xz, in layers, by the content. [`walk_folder`], [`walk_tar`] and
//! [`walk_zip`] hand out the regular files of a folder or an archive, one after the other. [`locate()`] gives the reel
//! that a path means: the file itself, or the one inside of it.
//!
//! Invariants, for input that somebody else made:
//!
//! * No name inside an archive ever becomes a path on this machine, and no link is followed.
//! * Bytes, files, folders in folders and layers of compression are counted, and have a limit.
//! * Memory does not grow with the input: the window of a decompressor is bounded.
//!
//! The crate knows no format of a cluster's data beside the first bytes of a reel.

mod compression;
mod error;
mod locate;
mod plain;
mod walk;

pub use compression::CompressionForm;
pub use error::UnpackError;
pub use locate::{LocateError, LocatedReel, ReelCache, forget_oldest, locate};
pub use plain::{LOOKED_AT, PlainInput};
pub use walk::{ArchiveFile, SkippedEntries, UnpackLimits, walk_folder, walk_tar, walk_zip};
