//! The bytes of a reel below the database: records, frames, varints, the splice delta and the columns of a
//! segment. No I/O: every function maps bytes to bytes.

pub(crate) mod arithmetic;
pub(crate) mod bodies;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod literals;
pub(crate) mod model;
#[cfg(test)]
mod model_oracle;
pub(crate) mod packed_index;
pub(crate) mod piece;
pub(crate) mod record;
pub(crate) mod splice;
pub(crate) mod stripe;
pub(crate) mod varint;

pub(crate) use crate::error::CodecError;
