//! Owns the door to the rows' decoders for the fuzz targets. Refuses to be part of the library.

use super::state::State;
use super::{checkpoint, directory, segment};
use std::hint::black_box;

/// Reads a row as each kind of row.
pub(crate) fn decode_rows(row: &[u8]) {
    let _place = black_box(directory::decode(row));
    let _tail = black_box(segment::TailRow::decode(row).map(|row| row.index.len()));
    let _checkpoint = black_box(checkpoint::Checkpoint::decode(row));
    let _stored = black_box(checkpoint::Stored::decode(row));
    let _state = black_box(State::decode(row));
}
