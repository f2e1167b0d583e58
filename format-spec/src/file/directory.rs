//! Owns the directory's rows: where a sealed block's bodies lie, and its index. Refuses the bodies
//! themselves.

use super::segment::Start;
use crate::codec::{CodecError, columns, frame, record};
use crate::limits::{MAX_BLOCK_RAW, MAX_RECORD};
use bincode::{Decode, Encode};

/// Where a sealed block's bodies lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Place {
    /// The numbers with which the block begins.
    pub(crate) start: Start,
    /// How many blobs entered the log with it.
    pub(crate) blobs: u32,
    /// The block whose columns are the prefix of this one's frame; itself if there is none.
    pub(crate) prefix: u32,
    /// The place of the frame in the stream of extents, in bytes.
    pub(crate) offset: u64,
    /// The frame's length, in bytes.
    pub(crate) len: u32,
}

/// Gives the directory's row of a block.
pub(crate) fn encode(place: &Place, index: &[u8]) -> Result<Vec<u8>, CodecError> {
    let raw = columns::join([&record::encode(place)?, index]);
    frame::pack(&raw, frame::LEVEL_KEPT, &[])
}

/// Reads the directory's row of a block: its place and its index.
pub(crate) fn decode(row: &[u8]) -> Result<(Place, Vec<u8>), CodecError> {
    let raw = frame::unpack(row, &[], MAX_BLOCK_RAW.saturating_add(MAX_RECORD))?;
    let [place, index] = columns::split(&raw, "a directory row")?;
    Ok((record::decode(place)?, index.to_vec()))
}
