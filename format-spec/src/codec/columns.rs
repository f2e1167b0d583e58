//! Owns the joining of columns: each one's length, then its bytes. Refuses to know what is in them.

use super::CodecError;
use super::varint::{self, Fields};
use std::ops::Range;

/// Joins columns.
pub(crate) fn join<const N: usize>(columns: [&[u8]; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(columns.iter().map(|column| column.len() + 4).sum());
    for column in columns {
        varint::put_len(&mut out, column.len());
        out.extend_from_slice(column);
    }
    out
}

/// Gives the places of `N` columns, which must fill `bytes`.
pub(crate) fn places<const N: usize>(
    bytes: &[u8],
    what: &'static str,
) -> Result<[Range<usize>; N], CodecError> {
    let mut fields = Fields::new(bytes, what);
    let mut places = [const { 0..0 }; N];
    for place in &mut places {
        let len = fields.sized(bytes.len())?.len();
        let end = bytes.len() - fields.rest().len();
        *place = end - len..end;
    }
    fields.end()?;
    Ok(places)
}

/// Takes `N` columns apart, which must fill `bytes`.
pub(crate) fn split<'a, const N: usize>(
    bytes: &'a [u8],
    what: &'static str,
) -> Result<[&'a [u8]; N], CodecError> {
    Ok(places(bytes, what)?.map(|place: Range<usize>| bytes.get(place).unwrap_or_default()))
}
