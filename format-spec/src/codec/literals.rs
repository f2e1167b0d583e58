//! Texts that occur for the first time in a group: their characters in one column; UUIDs and hexadecimal digests,
//! which no compressor makes smaller, as bytes in another.
//!
//! Four columns, compressed as one zstd frame behind those of the blocks before: `text`, `random`, `uuids`, `blobs`.
//! A text ends with [`END`]. These bytes replace parts of it:
//!
//! | byte | replaces |
//! |---|---|
//! | 1 | a UUID, whose 16 bytes are in `random` |
//! | 2 and a length | lower-case hexadecimal digits, in pairs, whose bytes are in `random` |
//! | 3 | a UUID that was such a text before: how many of them ago, in `uuids` |
//! | 4 | the uid of an object that is new in the group: how far from its newest one, in `uuids` |
//! | 5 and a byte | that byte |

use super::CodecError;
use super::varint::{self, FieldReader};
use crate::codec::frame;
use crate::limits::len64;
use crate::uid::uuid_number;
use std::collections::HashMap;

const END: u8 = 0;
const UUID: u8 = 1;
const DIGITS: u8 = 2;
const UUID_AGAIN: u8 = 3;
const OBJECT: u8 = 4;
const ESCAPE: u8 = 5;

/// The length of a UUID's usual spelling.
const UUID_LEN: usize = 36;
/// Fewer hexadecimal digits in a row stay as they are.
const FEWEST_DIGITS: usize = 16;
/// Longer runs are divided.
const MOST_DIGITS: usize = 128;

/// The UUIDs that a group of blocks named so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct UuidLog {
    /// Those of new objects, in the order of their numbers; objects whose uid is none have no UUID.
    objects: Vec<Option<u128>>,
    /// The place of the newest object that has had an event.
    newest: usize,
    /// Those of texts, in their order.
    texts: Vec<u128>,
    /// Where they are, for a writer.
    places: HashMap<u128, UuidPlace>,
}

#[derive(Clone, Copy, Debug)]
enum UuidPlace {
    Object(usize),
    Text(usize),
}

impl UuidLog {
    /// Takes in the uid of the next new object.
    pub(crate) fn push_object(&mut self, uid: Option<u128>) {
        if let Some(uid) = uid {
            let place = UuidPlace::Object(self.objects.len());
            self.places.insert(uid, place);
        }
        self.objects.push(uid);
    }

    /// Takes note that the object at a place has an event.
    pub(crate) fn see_object(&mut self, place: usize) {
        self.newest = self.newest.max(place);
    }

    fn push_text(&mut self, uuid: u128) {
        let place = UuidPlace::Text(self.texts.len());
        self.places.entry(uuid).or_insert(place);
        self.texts.push(uuid);
    }

    fn text(&self, ago: usize) -> Option<u128> {
        let place = self.texts.len().checked_sub(ago)?.checked_sub(1)?;
        self.texts.get(place).copied()
    }

    fn object(&self, distance: i128) -> Option<u128> {
        let newest = i128::from(len64(self.newest));
        let place = usize::try_from(newest.checked_sub(distance)?).ok()?;
        *self.objects.get(place)?
    }
}

/// Writes texts.
#[derive(Debug, Default)]
pub(crate) struct LiteralWriter {
    text: Vec<u8>,
    random: Vec<u8>,
    uuids: Vec<u8>,
}

const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Returns the UUID that a text begins with.
fn leading_uuid(text: &[u8]) -> Option<u128> {
    let spelling = text.get(..UUID_LEN)?;
    if spelling.get(8) != Some(&b'-') {
        return None;
    }
    uuid_number(std::str::from_utf8(spelling).ok()?)
}

impl LiteralWriter {
    /// Writes a text.
    pub(crate) fn push(&mut self, text: &[u8], log: &mut UuidLog) {
        let mut rest = text;
        let mut is_inside_digits = false;
        while let Some((&first, behind)) = rest.split_first() {
            if let Some(uuid) = leading_uuid(rest) {
                self.push_uuid(uuid, log);
                rest = rest.get(UUID_LEN..).unwrap_or_default();
                continue;
            }
            let digits = rest
                .iter()
                .take(MOST_DIGITS)
                .take_while(|byte| is_digit(**byte));
            let digits = digits.count() & !1;
            if digits >= FEWEST_DIGITS && !is_inside_digits {
                self.push_digits(rest.get(..digits).unwrap_or_default());
                rest = rest.get(digits..).unwrap_or_default();
                continue;
            }
            is_inside_digits = is_digit(first);
            if first <= ESCAPE {
                self.text.push(ESCAPE);
            }
            self.text.push(first);
            rest = behind;
        }
        self.text.push(END);
    }

    fn push_uuid(&mut self, uuid: u128, log: &mut UuidLog) {
        match log.places.get(&uuid) {
            None => {
                self.text.push(UUID);
                self.random.extend_from_slice(&uuid.to_be_bytes());
                log.push_text(uuid);
            }
            Some(UuidPlace::Text(place)) => {
                self.text.push(UUID_AGAIN);
                let ago = log.texts.len().saturating_sub(*place).saturating_sub(1);
                varint::put_len(&mut self.uuids, ago);
            }
            Some(UuidPlace::Object(place)) => {
                self.text.push(OBJECT);
                let distance = i128::from(len64(log.newest)) - i128::from(len64(*place));
                varint::put_signed(&mut self.uuids, distance);
            }
        }
    }

    #[expect(clippy::expect_used, reason = "the number of digits is bounded")]
    fn push_digits(&mut self, digits: &[u8]) {
        self.text.push(DIGITS);
        self.text
            .push(u8::try_from(digits.len()).expect("at most MOST_DIGITS are taken"));
        let value = |digit: &u8| match digit {
            b'0'..=b'9' => digit - b'0',
            _ => digit - b'a' + 10,
        };
        let pairs = digits.chunks(2).map(|pair| {
            pair.iter()
                .fold(0, |byte: u8, digit| byte << 4 | value(digit))
        });
        self.random.extend(pairs);
    }

    /// Returns the columns.
    pub(crate) fn columns(&self, blobs: &[u8]) -> Vec<u8> {
        frame::join_columns([&self.text, &self.random, &self.uuids, blobs])
    }
}

/// Reads texts.
#[derive(Debug)]
pub(crate) struct LiteralReader<'a> {
    text: FieldReader<'a>,
    random: FieldReader<'a>,
    uuids: FieldReader<'a>,
    blobs: &'a [u8],
}

impl<'a> LiteralReader<'a> {
    pub(crate) fn new(columns: &'a [u8]) -> Result<Self, CodecError> {
        let [text, random, uuids, blobs] = frame::split_columns(columns, "a block's literals")?;
        Ok(Self {
            text: FieldReader::new(text, "a block's text"),
            random: FieldReader::new(random, "a block's random bytes"),
            uuids: FieldReader::new(uuids, "a block's UUIDs"),
            blobs,
        })
    }

    /// Reads a text of at most `most` bytes.
    pub(crate) fn next(&mut self, most: usize, log: &mut UuidLog) -> Result<Vec<u8>, CodecError> {
        let mut out = Vec::new();
        self.next_into(&mut out, most, log)?;
        Ok(out)
    }

    /// Reads a text of at most `most` bytes in the place of another one.
    pub(crate) fn next_into(
        &mut self,
        out: &mut Vec<u8>,
        most: usize,
        log: &mut UuidLog,
    ) -> Result<(), CodecError> {
        out.clear();
        loop {
            // Most bytes stand for themselves.
            let rest = self.text.rest();
            let plain = rest.iter().position(|byte| *byte <= ESCAPE);
            out.extend_from_slice(
                self.text
                    .bytes(plain.unwrap_or(rest.len()).min(most.saturating_add(1)))?,
            );
            bounded(out, most)?;
            match self.text.byte()? {
                END => return Ok(()),
                UUID => {
                    let bytes = self.random.bytes(16)?;
                    let uuid = bytes
                        .iter()
                        .fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
                    log.push_text(uuid);
                    put_uuid(out, uuid);
                }
                UUID_AGAIN => {
                    let ago = self.uuids.len_at_most(log.texts.len())?;
                    put_uuid(out, log.text(ago).ok_or(NO_UUID)?);
                }
                OBJECT => {
                    let distance = self.uuids.signed()?;
                    put_uuid(out, log.object(distance).ok_or(NO_UUID)?);
                }
                DIGITS => {
                    let pairs = self.random.bytes(usize::from(self.text.byte()? / 2))?;
                    for byte in pairs {
                        out.extend_from_slice(&digits_of(*byte));
                    }
                }
                ESCAPE => out.push(self.text.byte()?),
                byte => out.push(byte),
            }
            bounded(out, most)?;
        }
    }

    /// Ends reading: all texts must have been read. Returns the column of the blobs.
    pub(crate) fn end(&self) -> Result<&'a [u8], CodecError> {
        self.text.end()?;
        self.random.end()?;
        self.uuids.end()?;
        Ok(self.blobs)
    }
}

fn bounded(text: &[u8], most: usize) -> Result<(), CodecError> {
    if text.len() > most {
        return Err(CodecError::Bound {
            what: "a text's length",
            found: u128::from(len64(text.len())),
            bound: u128::from(len64(most)),
        });
    }
    Ok(())
}

const NO_UUID: CodecError = CodecError::Short {
    what: "a block's list of UUIDs",
};

/// Returns the two hexadecimal digits of a byte.
const fn digits_of(byte: u8) -> [u8; 2] {
    const fn digit_of(value: u8) -> u8 {
        match value {
            0..=9 => b'0' + value,
            _ => b'a' + value - 10,
        }
    }
    [digit_of(byte >> 4), digit_of(byte & 15)]
}

fn put_uuid(out: &mut Vec<u8>, uuid: u128) {
    for (place, byte) in uuid.to_be_bytes().into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(&digits_of(byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-z0-9 -]{0,9}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..5),
            "[0-9a-f]{10,150}".prop_map(String::into_bytes),
            (0u128..4).prop_map(|number| crate::uid::uuid_text(number << 64 | 7).into_bytes()),
            any::<u128>().prop_map(|number| crate::uid::uuid_text(number).into_bytes()),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    fn log() -> UuidLog {
        let mut log = UuidLog::default();
        for object in 0..3u128 {
            log.push_object(Some(object << 64 | 7));
        }
        log.push_object(None);
        log.see_object(1);
        log
    }

    proptest! {
        #[test]
        fn texts_come_back(texts in prop::collection::vec(texts(), 0..20), blobs: Vec<u8>) {
            let (mut writer, mut known) = (LiteralWriter::default(), log());
            for text in &texts {
                writer.push(text, &mut known);
            }
            let columns = writer.columns(&blobs);
            let (mut reader, mut known) = (LiteralReader::new(&columns).unwrap(), log());
            for text in &texts {
                prop_assert_eq!(&reader.next(text.len(), &mut known).unwrap(), text);
            }
            prop_assert_eq!(reader.end().unwrap(), blobs);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, text: Vec<u8>) {
            for bytes in [bytes, frame::join_columns([&text, &[7; 40][..], &[1; 9], &[]])] {
                if let Ok(mut reader) = LiteralReader::new(&bytes) {
                    let mut log = log();
                    while let Ok(text) = reader.next(50, &mut log) {
                        prop_assert!(text.len() <= 50);
                    }
                }
            }
        }
    }

    #[test]
    fn a_uid_that_an_object_has_costs_two_bytes() {
        let (mut writer, mut known) = (LiteralWriter::default(), log());
        writer.push(crate::uid::uuid_text(7).as_bytes(), &mut known);
        assert_eq!(
            writer.text.len() + writer.random.len() + writer.uuids.len(),
            3
        );
    }
}
