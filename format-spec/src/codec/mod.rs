//! Owns the bytes of a reel below the database: records, frames, varints, the splice delta and the
//! columns of a segment. Refuses I/O: every function maps bytes to bytes.

pub(crate) mod bodies;
pub(crate) mod columns;
pub(crate) mod digest;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod pieces;
pub(crate) mod record;
pub(crate) mod seed;
pub(crate) mod splice;
pub(crate) mod varint;

use thiserror::Error;

/// Bytes are not what the format says they are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum CodecError {
    /// They end too early.
    #[error("{what} ends too early")]
    Short { what: &'static str },
    /// They go on where they should end.
    #[error("{what} has {extra} bytes too many")]
    Long { what: &'static str, extra: usize },
    /// A number is beyond its bound.
    #[error("{what} is {found}, above {bound}")]
    Bound {
        what: &'static str,
        found: u128,
        bound: u128,
    },
    /// A value has no meaning.
    #[error("{what} is {found}, which means nothing")]
    Meaningless { what: &'static str, found: u64 },
    /// A text is not UTF-8.
    #[error("{what} is not UTF-8")]
    NotUtf8 { what: &'static str },
    /// The checksum does not fit: the bytes were changed after they were written.
    #[error("checksum mismatch: the bytes were changed after they were written")]
    Checksum,
    /// The compressor refused.
    #[error("{what}: {cause}")]
    Library { what: &'static str, cause: String },
}
