//! Variable-length integers: LEB128, least significant group first, and zigzag for signed ones. A form that
//! is longer than its value needs is an error, so that each value has one encoding.

use super::CodecError;
use crate::limits::len64;

/// Appends an unsigned number of up to 128 bits.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u128) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Appends a length.
pub(crate) fn put_len(out: &mut Vec<u8>, len: usize) {
    put(out, u128::from(len64(len)));
}

/// Appends a signed number.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i128) {
    put(out, zigzag(value));
}

fn zigzag(value: i128) -> u128 {
    let doubled = value.cast_unsigned() << 1;
    if value < 0 { !doubled } else { doubled }
}

fn unzigzag(value: u128) -> i128 {
    let half = (value >> 1).cast_signed();
    if value & 1 == 1 { !half } else { half }
}

/// Reads a number of up to 28 bits in its only form, if it is one.
#[inline]
fn short_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0u32;
    let mut rest = bytes;
    for shift in [0, 7, 14, 21] {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return (byte != 0 || shift == 0).then_some((value, rest));
        }
    }
    None
}

/// Reads fields one after another from bytes that may be anything.
#[derive(Clone, Debug)]
pub(crate) struct FieldReader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> FieldReader<'a> {
    /// Reads from `bytes`; `what` names them in errors.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// Reads an unsigned number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<u128, CodecError> {
        // Nearly all are short: those need no wide arithmetic.
        if let Some((number, rest)) = short_number(self.rest) {
            self.rest = rest;
            return Ok(u128::from(number));
        }
        self.long_number()
    }

    #[cold]
    fn long_number(&mut self) -> Result<u128, CodecError> {
        let mut value = 0u128;
        let mut shift = 0u32;
        loop {
            let byte = self.byte()?;
            let group = u128::from(byte & 0x7f);
            if shift > 126 || (shift == 126 && group > 3) || (byte == 0 && shift > 0) {
                return Err(CodecError::Meaningless {
                    what: self.what,
                    found: u64::from(byte),
                });
            }
            value |= group << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift = shift.saturating_add(7);
        }
    }

    /// Reads a signed number.
    pub(crate) fn signed(&mut self) -> Result<i128, CodecError> {
        self.number().map(unzigzag)
    }

    /// Reads an unsigned number of at most `bound`.
    pub(crate) fn at_most(&mut self, bound: u64) -> Result<u64, CodecError> {
        let found = self.number()?;
        match u64::try_from(found) {
            Ok(value) if value <= bound => Ok(value),
            _ => Err(CodecError::Bound {
                what: self.what,
                found,
                bound: u128::from(bound),
            }),
        }
    }

    /// Reads a length of at most `bound`.
    pub(crate) fn len_at_most(&mut self, bound: usize) -> Result<usize, CodecError> {
        let found = self.number()?;
        match usize::try_from(found) {
            Ok(value) if value <= bound => Ok(value),
            _ => Err(CodecError::Bound {
                what: self.what,
                found,
                bound: u128::from(len64(bound)),
            }),
        }
    }

    /// Reads a 32-bit number.
    pub(crate) fn number32(&mut self) -> Result<u32, CodecError> {
        let found = self.number()?;
        u32::try_from(found).map_err(|_too_wide| CodecError::Bound {
            what: self.what,
            found,
            bound: u128::from(u32::MAX),
        })
    }

    /// Reads one byte.
    pub(crate) fn byte(&mut self) -> Result<u8, CodecError> {
        let (first, rest) = self
            .rest
            .split_first()
            .ok_or(CodecError::Short { what: self.what })?;
        self.rest = rest;
        Ok(*first)
    }

    /// Reads `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(CodecError::Short { what: self.what })?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a length of at most `bound` and that many bytes.
    pub(crate) fn sized(&mut self, bound: usize) -> Result<&'a [u8], CodecError> {
        let len = self.len_at_most(bound)?;
        self.bytes(len)
    }

    /// Reads a length of at most `bound` and that many bytes of UTF-8.
    pub(crate) fn text(&mut self, bound: usize) -> Result<&'a str, CodecError> {
        let what = self.what;
        std::str::from_utf8(self.sized(bound)?).map_err(|_not_utf8| CodecError::NotUtf8 { what })
    }

    /// Returns whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns what was not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Ends reading: everything must have been read.
    pub(crate) fn end(&self) -> Result<(), CodecError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(CodecError::Long {
                what: self.what,
                extra: self.rest.len(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(value: u128, signed: i128) {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            put_signed(&mut bytes, signed);
            let mut fields = FieldReader::new(&bytes, "test");
            prop_assert_eq!(fields.number().unwrap(), value);
            prop_assert_eq!(fields.signed().unwrap(), signed);
            prop_assert!(fields.end().is_ok());
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let mut fields = FieldReader::new(&bytes, "test");
            while !fields.is_empty() {
                if fields.number().is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_longer_form_than_needed_is_refused() {
        assert!(FieldReader::new(&[0x80, 0x00], "test").number().is_err());
    }

    #[test]
    fn the_bound_is_kept() {
        let mut bytes = Vec::new();
        put(&mut bytes, 301);
        assert!(FieldReader::new(&bytes, "test").at_most(300).is_err());
        assert_eq!(FieldReader::new(&bytes, "test").at_most(301), Ok(301));
    }
}
