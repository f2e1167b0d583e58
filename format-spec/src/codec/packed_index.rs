//! The index of a block in its tightest form. Names, uids and numbers are written so that a compressor finds
//! what repeats, and what does not is outside of it: the random bits of uids.
//!
//! A frame of this form stands for the index of section 5.1 of SPEC.md, and has its checksum.
//!
//! Invariants, because the bytes may be damaged or forged:
//! * Every length is bounded before it is allocated, and the index never grows beyond the length in the frame.
//! * The number of an event's object is found in constant time, from those of the block's events before it.

use super::literals::{LiteralReader, LiteralWriter, UuidLog};
use super::varint::{self, FieldReader};
use super::{CodecError, frame};
use crate::limits::{MAX_NAME, len64};
use std::collections::HashMap;

/// How an object's uid is given, in the column of resources.
mod uid_kind {
    /// A random UUID (version 4): the 122 bits that are random.
    pub(super) const RANDOM: u128 = 0;
    /// Another UUID.
    pub(super) const NUMBER: u128 = 1;
    /// Another text, in the names.
    pub(super) const TEXT: u128 = 2;
    pub(super) const COUNT: u128 = 3;
}

/// The bytes of a UUID's 128 bits, and of most of the 122 bits of a random one; two bits of that lie apart.
const UUID_BYTES: usize = 16;
const RANDOM_BYTES: usize = 15;
const RANDOM_HIGH_BITS: u32 = 120;

/// Returns the random bits of a UUID of version 4.
const fn random_bits(uuid: u128) -> Option<u128> {
    let (version, variant) = (uuid >> 76 & 0xf, uuid >> 62 & 3);
    if version != 4 || variant != 2 {
        return None;
    }
    Some(uuid >> 80 << 74 | (uuid >> 64 & 0xfff) << 62 | uuid & ((1 << 62) - 1))
}

/// Returns the UUID of version 4 with these random bits.
const fn random_uuid(bits: u128) -> u128 {
    bits >> 74 << 80 | 4 << 76 | (bits >> 62 & 0xfff) << 64 | 2 << 62 | bits & ((1 << 62) - 1)
}

/// How the number of an event's object is given, in the column of steps; larger ones are how many events ago it had
/// one, plus one.
mod step {
    /// The next new object of the block.
    pub(super) const NEW: u128 = 0;
    /// An older one: how far before the next new one, in the column of distances.
    pub(super) const OLDER: u128 = 1;
}

/// The uids of a block's objects.
#[derive(Default)]
struct UidWriter {
    /// The highest two bits of each random UUID, four of them in a byte, the first one lowest.
    high: Vec<u8>,
    low: Vec<u8>,
    randoms: usize,
}

impl UidWriter {
    fn push(&mut self, uuid: u128) -> u128 {
        let Some(bits) = random_bits(uuid) else {
            self.low.extend_from_slice(&uuid.to_be_bytes());
            return uid_kind::NUMBER;
        };
        let [high, low @ ..] = bits.to_be_bytes();
        if self.randoms.is_multiple_of(4) {
            self.high.push(0);
        }
        if let Some(last) = self.high.last_mut() {
            *last |= high << (self.randoms % 4 * 2);
        }
        self.low.extend_from_slice(&low);
        self.randoms += 1;
        uid_kind::RANDOM
    }
}

/// Reads the uids of a block's objects.
struct UidReader<'a> {
    high: &'a [u8],
    low: FieldReader<'a>,
    randoms: usize,
}

impl UidReader<'_> {
    fn next(&mut self, kind: u128) -> Result<u128, CodecError> {
        let len = match kind {
            uid_kind::RANDOM => RANDOM_BYTES,
            _ => UUID_BYTES,
        };
        let low = self.low.bytes(len)?.iter();
        let number = low.fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
        if kind != uid_kind::RANDOM {
            return Ok(number);
        }
        let high = self.high.get(self.randoms / 4).ok_or(CodecError::Short {
            what: "a block's uids",
        })?;
        let high = u128::from(high >> (self.randoms % 4 * 2) & 3);
        self.randoms += 1;
        Ok(random_uuid(high << RANDOM_HIGH_BITS | number))
    }

    /// Ends reading: every bit must have been read or be zero.
    fn end(&self) -> Result<(), CodecError> {
        self.low.end()?;
        if self.high.len() != self.randoms.div_ceil(4) {
            return Err(CodecError::Long {
                what: "a block's uids",
                extra: self.high.len(),
            });
        }
        Ok(())
    }
}

/// The objects of a block's events so far.
struct ObjectSteps {
    next: u32,
    log: Vec<u32>,
    /// Where an object's last event is, for a writer.
    places: HashMap<u32, usize>,
}

impl ObjectSteps {
    fn new(first: u32) -> Self {
        Self {
            next: first,
            log: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Writes the number of the next event's object.
    fn push(&mut self, object: u32, (steps, distances): (&mut Vec<u8>, &mut Vec<u8>)) {
        let before = self.places.insert(object, self.log.len());
        if object == self.next {
            varint::put(steps, step::NEW);
            self.next = self.next.saturating_add(1);
        } else if let Some(before) = before {
            let ago = len64(self.log.len()) - len64(before);
            varint::put(steps, u128::from(ago) + step::OLDER);
        } else {
            varint::put(steps, step::OLDER);
            varint::put_signed(distances, i128::from(self.next) - i128::from(object));
        }
        self.log.push(object);
    }

    /// Reads the number of the next event's object.
    fn next(
        &mut self,
        steps: &mut FieldReader<'_>,
        distances: &mut FieldReader<'_>,
    ) -> Result<u32, CodecError> {
        let meaningless = CodecError::Meaningless {
            what: "an object's number",
            found: u64::from(self.next),
        };
        let object = match steps.number()? {
            step::NEW => {
                let object = self.next;
                self.next = object.checked_add(1).ok_or(meaningless)?;
                object
            }
            step::OLDER => {
                let object = i128::from(self.next).checked_sub(distances.signed()?);
                let object = object.and_then(|object| u32::try_from(object).ok());
                object.ok_or(meaningless)?
            }
            ago => {
                let ago = usize::try_from(ago - step::OLDER).ok();
                let place = ago.and_then(|ago| self.log.len().checked_sub(ago));
                let object = place.and_then(|place| self.log.get(place));
                *object.ok_or(meaningless)?
            }
        };
        self.log.push(object);
        Ok(object)
    }
}

/// The columns that a compressor takes.
const COLUMNS: usize = 10;

/// Makes the frame of an index whose first new object has the number `first_object`.
pub(crate) fn pack(raw: &[u8], first_object: u32, level: i32) -> Result<Vec<u8>, CodecError> {
    let packed = payload_of(raw, first_object, level)
        .and_then(|payload| frame::with_header(frame::Form::Index, raw, &payload));
    match packed {
        Ok(packed) if unpack(&packed, raw.len()).is_ok_and(|back| back == raw) => Ok(packed),
        // What is not spelt in the shortest way, or has odd names, stays as it is.
        _ => frame::pack(raw, level, &[]),
    }
}

fn payload_of(raw: &[u8], first_object: u32, level: i32) -> Result<Vec<u8>, CodecError> {
    let [keys, kinds, walls, skews, numbers, versions, notes] =
        frame::split_columns(raw, "a segment's index")?;
    let mut keys = FieldReader::new(keys, "an object's key");
    let (mut resources, mut uids) = (Vec::new(), UidWriter::default());
    let (mut names, mut uid_log) = (LiteralWriter::default(), UuidLog::default());
    while !keys.is_empty() {
        let resource = u128::from(keys.number32()?);
        for _ in ["namespace", "name"] {
            names.push(keys.sized(MAX_NAME)?, &mut uid_log);
        }
        let kind = match keys.len_at_most(MAX_NAME + 1)?.checked_sub(1) {
            None => {
                let bytes = keys.bytes(UUID_BYTES)?.iter().rev();
                uids.push(bytes.fold(0, |number: u128, byte| number << 8 | u128::from(*byte)))
            }
            Some(len) => {
                names.push(keys.bytes(len)?, &mut uid_log);
                uid_kind::TEXT
            }
        };
        varint::put(&mut resources, resource * uid_kind::COUNT + kind);
    }
    let (mut steps, mut distances) = (Vec::new(), Vec::new());
    let mut objects = ObjectSteps::new(first_object);
    let mut numbers = FieldReader::new(numbers, "an object's number");
    while !numbers.is_empty() {
        objects.push(numbers.number32()?, (&mut steps, &mut distances));
    }
    let columns: [&[u8]; COLUMNS] = [
        &resources,
        &names.columns(&[]),
        kinds,
        walls,
        skews,
        &steps,
        &distances,
        versions,
        notes,
        &uids.high,
    ];
    let columns = frame::join_columns(columns);
    let mut payload = Vec::new();
    varint::put(&mut payload, u128::from(first_object));
    varint::put_len(&mut payload, uids.low.len());
    payload.extend_from_slice(&uids.low);
    varint::put_len(&mut payload, columns.len());
    payload.extend(frame::compress(&columns, level, &[])?);
    Ok(payload)
}

/// Returns an index of at most `max_raw` bytes, from a frame of any form that one can have.
pub(crate) fn unpack(packed: &[u8], max_raw: usize) -> Result<Vec<u8>, CodecError> {
    if frame::form_of(packed) != Some(frame::Form::Index) {
        return frame::unpack(packed, &[], max_raw);
    }
    let header = frame::Header::of(packed, max_raw)?;
    let mut fields = FieldReader::new(header.payload, "a block's index");
    let first_object = fields.number32()?;
    let low = fields.sized(packed.len())?;
    // Each column is at most twice as long as what it stands for, which is in the index.
    let most = header.raw_len.saturating_mul(2).saturating_add(256);
    let columns = frame::inflate(fields.len_at_most(most)?, fields.rest(), &[])?;
    let [
        resources,
        names,
        kinds,
        walls,
        skews,
        steps,
        distances,
        versions,
        notes,
        high,
    ] = frame::split_columns::<COLUMNS>(&columns, "a block's index")?;
    let names = LiteralReader::new(names)?;
    let uids = UidReader {
        high,
        low: FieldReader::new(low, "a block's uids"),
        randoms: 0,
    };
    let keys = keys_of(resources, names, uids, header.raw_len)?;
    let numbers = numbers_of(first_object, (steps, distances), header.raw_len)?;
    let raw = frame::join_columns([&keys, kinds, walls, skews, &numbers, versions, notes]);
    header.check(&raw)?;
    Ok(raw)
}

/// Returns the column of objects.
fn keys_of(
    resources: &[u8],
    mut names: LiteralReader<'_>,
    mut uids: UidReader<'_>,
    most: usize,
) -> Result<Vec<u8>, CodecError> {
    let mut resources = FieldReader::new(resources, "an object's key");
    let mut uid_log = UuidLog::default();
    let (mut keys, mut name) = (Vec::new(), Vec::new());
    while !resources.is_empty() {
        let resource = resources.number()?;
        let kind = resource % uid_kind::COUNT;
        varint::put(&mut keys, resource / uid_kind::COUNT);
        for _ in ["namespace", "name"] {
            names.next_into(&mut name, MAX_NAME, &mut uid_log)?;
            varint::put_len(&mut keys, name.len());
            keys.extend_from_slice(&name);
        }
        if kind == uid_kind::TEXT {
            names.next_into(&mut name, MAX_NAME, &mut uid_log)?;
            varint::put_len(&mut keys, name.len() + 1);
            keys.extend_from_slice(&name);
        } else {
            keys.push(0);
            keys.extend_from_slice(&uids.next(kind)?.to_le_bytes());
        }
        bounded(&keys, most)?;
    }
    uids.end()?;
    if !names.end()?.is_empty() {
        return Err(CodecError::Long {
            what: "a block's names",
            extra: 1,
        });
    }
    Ok(keys)
}

fn bounded(column: &[u8], most: usize) -> Result<(), CodecError> {
    if column.len() > most {
        return Err(CodecError::Bound {
            what: "an index's length",
            found: u128::from(len64(column.len())),
            bound: u128::from(len64(most)),
        });
    }
    Ok(())
}

/// Returns the column of the events' objects.
fn numbers_of(
    first_object: u32,
    (steps, distances): (&[u8], &[u8]),
    most: usize,
) -> Result<Vec<u8>, CodecError> {
    let mut steps = FieldReader::new(steps, "an object's number");
    let mut distances = FieldReader::new(distances, "an object's number");
    let mut objects = ObjectSteps::new(first_object);
    let mut numbers = Vec::new();
    while !steps.is_empty() {
        let object = objects.next(&mut steps, &mut distances)?;
        varint::put(&mut numbers, u128::from(object));
        bounded(&numbers, most)?;
    }
    distances.end()?;
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::frame::zstd_reader;
    use crate::codec::index;
    use crate::event::{EventType, Evidence, ObjectKey};
    use crate::id::{ConnectionId, ObjectId, ResourceId, Stamp};
    use proptest::prelude::*;
    use std::io::Read as _;

    fn uids() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => any::<u128>().prop_map(|bits| crate::uid::uuid_text(random_uuid(bits >> 6))),
            1 => any::<u128>().prop_map(crate::uid::uuid_text),
            1 => "[a-f0-9-]{0,40}",
        ]
    }

    fn keys() -> impl Strategy<Value = ObjectKey> {
        (
            0u32..300,
            "[a-z]{0,3}",
            "[a-z]{0,4}(\\.[0-9a-f]{16})?\0?",
            uids(),
        )
            .prop_map(|(resource, namespace, name, uid)| ObjectKey {
                resource: ResourceId(resource),
                namespace,
                name,
                uid,
            })
    }

    fn indexes() -> impl Strategy<Value = (Vec<u8>, u32)> {
        let records = prop::collection::vec((0u32..40, 0i64..1_000_000, any::<bool>()), 0..60);
        (0u32..30, prop::collection::vec(keys(), 0..12), records).prop_map(
            |(first, objects, records)| {
                let records: Vec<index::Record> = records
                    .into_iter()
                    .map(|(object, micros, is_note)| index::Record {
                        stamp: Stamp::from_micros(micros, micros.unsigned_abs() / 2),
                        content: if is_note {
                            index::RecordContent::Note(vec![7; 3])
                        } else {
                            index::RecordContent::Event {
                                kind: EventType::Modified,
                                evidence: Evidence::Live,
                                object: ObjectId(object),
                                connection: ConnectionId(object % 3),
                                version: index::Rv::Number(micros.unsigned_abs()),
                            }
                        },
                    })
                    .collect();
                let resource_of = |object: ObjectId| Some(ResourceId(object.0 % 3));
                (index::encode(&objects, &records, resource_of), first)
            },
        )
    }

    /// Reads a frame as SPEC.md describes it: digit by digit, all columns from lists.
    #[expect(
        clippy::too_many_lines,
        clippy::format_collect,
        clippy::format_push_string,
        reason = "written from the specification, step by step, and not fast"
    )]
    fn oracle(packed: &[u8]) -> Option<Vec<u8>> {
        fn number(bytes: &[u8], at: &mut usize) -> Option<u128> {
            let (mut value, mut weight) = (0u128, 1u128);
            loop {
                let byte = *bytes.get(*at)?;
                *at += 1;
                value += u128::from(byte % 128) * weight;
                if byte < 128 {
                    return Some(value);
                }
                weight *= 128;
            }
        }
        fn list(bytes: &[u8]) -> Option<Vec<u128>> {
            let mut at = 0;
            let mut all = Vec::new();
            while at < bytes.len() {
                all.push(number(bytes, &mut at)?);
            }
            Some(all)
        }
        fn columns(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
            let mut at = 0;
            let mut all = Vec::new();
            while at < bytes.len() {
                let len = usize::try_from(number(bytes, &mut at)?).ok()?;
                all.push(bytes.get(at..at + len)?.to_vec());
                at += len;
            }
            Some(all)
        }
        fn leb(mut value: u128) -> Vec<u8> {
            let mut out = Vec::new();
            while value > 127 {
                out.push(u8::try_from(value % 128).ok().unwrap() + 128);
                value /= 128;
            }
            out.push(u8::try_from(value).unwrap());
            out
        }
        let payload = packed.get(21..)?;
        let mut at = 0;
        let first = number(payload, &mut at)?;
        let len = usize::try_from(number(payload, &mut at)?).ok()?;
        let mut low = payload.get(at..at + len)?.to_vec();
        at += len;
        number(payload, &mut at)?;
        let mut plain = Vec::new();
        let mut reader = zstd_reader(payload.get(at..)?).ok()?;
        reader.read_to_end(&mut plain).ok()?;
        let parts = columns(&plain)?;
        let literals = columns(parts.get(1)?)?;
        // Texts: split at 0, with the replacements put back; UUIDs in names do not occur here.
        let (mut text, mut random) = (literals.first()?.as_slice(), literals.get(1)?.as_slice());
        let mut texts = Vec::new();
        let mut open = Vec::new();
        while let Some((first, rest)) = text.split_first() {
            text = rest;
            match first {
                0 => texts.push(std::mem::take(&mut open)),
                2 => {
                    let digits = usize::from(*text.first()?);
                    text = text.get(1..)?;
                    for byte in random.get(..digits / 2)? {
                        open.extend(format!("{byte:02x}").bytes());
                    }
                    random = random.get(digits / 2..)?;
                }
                1 => {
                    let hex: String = random
                        .get(..16)?
                        .iter()
                        .map(|byte| format!("{byte:02x}"))
                        .collect();
                    for (place, digit) in hex.bytes().enumerate() {
                        if [8, 12, 16, 20].contains(&place) {
                            open.push(b'-');
                        }
                        open.push(digit);
                    }
                    random = random.get(16..)?;
                }
                5 => {
                    open.push(*text.first()?);
                    text = text.get(1..)?;
                }
                other => open.push(*other),
            }
        }
        texts.reverse();
        let mut bits = Vec::new();
        for byte in parts.get(9)? {
            for place in 0..4 {
                bits.push(byte / 4u8.pow(place) % 4);
            }
        }
        bits.reverse();
        let mut keys = Vec::new();
        for resource in list(parts.first()?)? {
            keys.extend(leb(resource / 3));
            for _ in 0..2 {
                let name = texts.pop()?;
                keys.extend(leb(name.len().try_into().ok()?));
                keys.extend(name);
            }
            match resource % 3 {
                0 => {
                    // Two bits, then 120: the version and the variant are left out.
                    let mut digits = format!("{:02b}", bits.pop()?);
                    for byte in low.drain(..15) {
                        digits.push_str(&format!("{byte:08b}"));
                    }
                    let whole = format!(
                        "{}0100{}10{}",
                        &digits[..48],
                        &digits[48..60],
                        &digits[60..]
                    );
                    keys.push(0);
                    keys.extend(u128::from_str_radix(&whole, 2).ok()?.to_le_bytes());
                }
                1 => {
                    keys.push(0);
                    keys.extend(low.drain(..16).rev());
                }
                _ => {
                    let uid = texts.pop()?;
                    keys.extend(leb(u128::try_from(uid.len()).ok()? + 1));
                    keys.extend(uid);
                }
            }
        }
        let mut distances = list(parts.get(6)?)?.into_iter();
        let (mut next, mut seen, mut numbers) = (first, Vec::new(), Vec::new());
        for step in list(parts.get(5)?)? {
            let object = match step {
                0 => {
                    next += 1;
                    next - 1
                }
                1 => match distances.next()? {
                    even if even % 2 == 0 => next - even / 2,
                    odd => next + odd.div_ceil(2),
                },
                ago => *seen.get(seen.len() - usize::try_from(ago - 1).ok()?)?,
            };
            seen.push(object);
            numbers.extend(leb(object));
        }
        let mut raw = Vec::new();
        for column in [
            &keys,
            parts.get(2)?,
            parts.get(3)?,
            parts.get(4)?,
            &numbers,
            parts.get(7)?,
            parts.get(8)?,
        ] {
            raw.extend(leb(column.len().try_into().ok()?));
            raw.extend(column);
        }
        Some(raw)
    }

    proptest! {
        #[test]
        fn indexes_come_back_and_the_oracle_agrees((raw, first) in indexes()) {
            let payload = payload_of(&raw, first, frame::LEVEL_SEALED).unwrap();
            let packed = frame::with_header(frame::Form::Index, &raw, &payload).unwrap();
            prop_assert_eq!(&unpack(&packed, raw.len()).unwrap(), &raw);
            prop_assert_eq!(&oracle(&packed).unwrap(), &raw);
            let packed = pack(&raw, first, frame::LEVEL_SEALED).unwrap();
            prop_assert_eq!(&unpack(&packed, raw.len()).unwrap(), &raw);
            prop_assert!(unpack(&packed, raw.len() - 1).is_err());
        }

        #[test]
        fn any_bytes_are_packed_and_any_frame_is_survived(bytes: Vec<u8>, first: u32) {
            let packed = pack(&bytes, first, frame::LEVEL_SEALED).unwrap();
            prop_assert_eq!(&unpack(&packed, bytes.len()).unwrap(), &bytes);
            let forged = frame::with_header(frame::Form::Index, &[0; 99], &bytes).unwrap();
            prop_assert!(unpack(&forged, 1 << 10).is_err());
        }

        #[test]
        fn changed_partsare_an_error_and_never_grow(
            (raw, first) in indexes(),
            place: prop::sample::Index,
            byte: u8,
        ) {
            let payload = payload_of(&raw, first, frame::LEVEL_SEALED).unwrap();
            let mut fields = FieldReader::new(&payload, "a test");
            fields.number().unwrap();
            let low = fields.sized(1 << 20).unwrap().to_vec();
            fields.number().unwrap();
            let mut columns = frame::inflate(1 << 20, fields.rest(), &[]).unwrap();
            let at = place.index(columns.len());
            let was = std::mem::replace(&mut columns[at], byte);
            let mut forged = Vec::new();
            varint::put(&mut forged, u128::from(first));
            varint::put_len(&mut forged, low.len());
            forged.extend(low);
            varint::put_len(&mut forged, columns.len());
            forged.extend(frame::compress(&columns, frame::LEVEL_QUICK, &[]).unwrap());
            let packed = frame::with_header(frame::Form::Index, &raw, &forged).unwrap();
            match unpack(&packed, raw.len()) {
                Ok(back) => prop_assert_eq!(back, raw),
                Err(_) => prop_assert!(was != byte),
            }
        }
    }

    #[test]
    fn a_random_uid_is_its_122_bits() {
        for bits in [0, 1, (1 << 122) - 1, 0x1234_5678_9abc_def0_1234_5678_9abc] {
            let uuid = random_uuid(bits);
            assert_eq!(random_bits(uuid), Some(bits));
            let text = crate::uid::uuid_text(uuid);
            assert_eq!(text.as_bytes()[14], b'4', "{text}");
            assert!(b"89ab".contains(&text.as_bytes()[19]), "{text}");
        }
        assert_eq!(random_bits(0), None);
    }

    #[test]
    fn names_and_numbers_take_fewer_bytes_than_before() {
        let objects: Vec<ObjectKey> = (0..200u32)
            .map(|nth| {
                let mut digest = frame::Digest::default();
                digest.take(&nth.to_le_bytes());
                let random = digest.value();
                ObjectKey {
                    resource: ResourceId(2),
                    namespace: "apps".to_owned(),
                    name: format!("web-{nth}.{:016x}", random >> 64),
                    uid: crate::uid::uuid_text(random_uuid(random >> 6)),
                }
            })
            .collect();
        let raw = index::encode(&objects, &[], |_| None);
        let usual = frame::pack(&raw, frame::LEVEL_SEALED, &[]).unwrap();
        let packed = pack(&raw, 0, frame::LEVEL_SEALED).unwrap();
        assert_eq!(frame::form_of(&packed), Some(frame::Form::Index));
        assert!(
            packed.len() * 10 < usual.len() * 9,
            "{} of {}",
            packed.len(),
            usual.len()
        );
    }
}
