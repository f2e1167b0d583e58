//! Struct-shaped records. The only module that uses bincode; bulk data is written as columns by hand.
//!
//! The layout is bincode's `legacy` configuration, whose bytes are those of `wincode`'s default:
//! fixed-width little-endian integers, 64-bit lengths, 32-bit variant numbers.

use super::CodecError;
use crate::limits::MAX_RECORD;
use bincode::{Decode, Encode, config};

/// Returns the bytes of a record.
pub(crate) fn encode<T: Encode>(record: &T) -> Result<Vec<u8>, CodecError> {
    bincode::encode_to_vec(record, config::legacy().with_limit::<MAX_RECORD>()).map_err(|cause| {
        CodecError::Library {
            what: "a record cannot be written",
            cause: cause.to_string(),
        }
    })
}

/// Reads a record from the start of `bytes` and gives how many bytes it took.
pub(crate) fn decode_prefix<T: Decode<()>>(bytes: &[u8]) -> Result<(T, usize), CodecError> {
    bincode::decode_from_slice(bytes, config::legacy().with_limit::<MAX_RECORD>()).map_err(
        |cause| CodecError::Library {
            what: "a record cannot be read",
            cause: cause.to_string(),
        },
    )
}

/// Reads a record that fills `bytes`.
pub(crate) fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<T, CodecError> {
    let (record, used) = decode_prefix(bytes)?;
    match bytes.len().checked_sub(used) {
        Some(0) => Ok(record),
        extra => Err(CodecError::Long {
            what: "a record",
            extra: extra.unwrap_or(0),
        }),
    }
}

#[cfg(test)]
#[expect(
    clippy::mem_forget,
    reason = "the independent writer's derive forgets its drop guards"
)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Encode, Decode, wincode::SchemaWrite, wincode::SchemaRead)]
    enum SampleShape {
        Point,
        Line { from: i64, to: u32 },
    }

    #[derive(Debug, PartialEq, Encode, Decode, wincode::SchemaWrite, wincode::SchemaRead)]
    struct SampleRecord {
        count: u64,
        flag: bool,
        text: String,
        maybe: Option<u16>,
        shapes: Vec<SampleShape>,
    }

    fn sample() -> SampleRecord {
        SampleRecord {
            count: 7,
            flag: true,
            text: "etcd".to_owned(),
            maybe: Some(3),
            shapes: vec![SampleShape::Point, SampleShape::Line { from: -1, to: 2 }],
        }
    }

    #[test]
    fn the_bytes_equal_those_of_an_independent_writer() {
        let bytes = encode(&sample()).unwrap();
        assert_eq!(bytes, wincode::serialize(&sample()).unwrap());
        assert_eq!(
            wincode::deserialize::<SampleRecord>(&bytes).unwrap(),
            sample()
        );
        assert_eq!(decode::<SampleRecord>(&bytes).unwrap(), sample());
    }

    #[test]
    fn a_length_bomb_is_refused_before_it_is_allocated() {
        let bomb = u64::MAX.to_le_bytes();
        assert!(decode::<Vec<u8>>(&bomb).is_err());
        assert!(decode::<String>(&bomb).is_err());
        assert!(decode::<Vec<SampleRecord>>(&(1u64 << 40).to_le_bytes()).is_err());
        assert!(decode::<Vec<SampleRecord>>(&1_000_000u64.to_le_bytes()).is_err());
    }

    #[test]
    fn bytes_behind_a_record_are_refused() {
        let mut bytes = encode(&sample()).unwrap();
        bytes.push(0);
        assert!(decode::<SampleRecord>(&bytes).is_err());
    }
}
