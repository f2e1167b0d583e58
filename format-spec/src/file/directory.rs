//! Owns the directory's rows: where a sealed block's bodies and its index lie. Refuses these
//! themselves.

use super::segment::Start;
use crate::codec::{CodecError, frame, record};
use crate::limits::MAX_RECORD;
use bincode::{Decode, Encode};

/// A frame's place in its stream, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// Where a sealed block's bodies and its index lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Place {
    /// The numbers with which the block begins.
    pub(crate) start: Start,
    /// How many blobs entered the log with it.
    pub(crate) blobs: u32,
    /// The block whose columns are the prefix of this one's frame; itself if there is none.
    pub(crate) prefix: u32,
    /// The frame of its bodies.
    pub(crate) bodies: Span,
    /// The frame of its index.
    pub(crate) index: Span,
}

/// Gives the directory's row of a block.
pub(crate) fn encode(place: &Place) -> Result<Vec<u8>, CodecError> {
    frame::pack(&record::encode(place)?, frame::LEVEL_QUICK, &[])
}

/// Reads the directory's row of a block.
pub(crate) fn decode(row: &[u8]) -> Result<Place, CodecError> {
    record::decode(&frame::unpack(row, &[], MAX_RECORD)?)
}
