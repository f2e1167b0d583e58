//! The index of a segment: the names of its new objects, and of every record all but the body.
//!
//! Seven columns: new objects, kinds, wall times, clock skews, object numbers, resourceVersions and
//! connections, notes. Each is read with bounded lengths and must be used up exactly.

use super::CodecError;
use super::varint::{self, FieldReader};
use crate::codec::frame;
use crate::event::{EventType, Evidence, ObjectKey, ObjectKeyRef};
use crate::id::{ConnectionId, ObjectId, ResourceId, Stamp};
use crate::limits::{MAX_NAME, MAX_RECORD, place32};
use crate::uid::{UidRef, uuid_number};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A record, to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) stamp: Stamp,
    pub(crate) content: RecordContent,
}

/// What a record is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordContent {
    /// A note, encoded.
    Note(Vec<u8>),
    /// An event without its body.
    Event {
        kind: EventType,
        evidence: Evidence,
        object: ObjectId,
        connection: ConnectionId,
        version: Rv,
    },
}

/// A resourceVersion: nearly always a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rv {
    Number(u64),
    Text(String),
}

impl Rv {
    /// Keeps a spelling: as a number only if the number prints as it was spelt.
    pub(crate) fn new(spelling: &str) -> Self {
        match spelling.parse::<u64>() {
            Ok(number) if number.to_string() == spelling => Self::Number(number),
            _ => Self::Text(spelling.to_owned()),
        }
    }
}

/// The kind of a note.
pub(crate) const NOTE: u8 = 0;
const NEW_CONNECTION: u8 = 1 << 5;
const TEXT_VERSION: u8 = 1 << 6;

/// Spells an event's type and how it is known.
pub(crate) fn kind_byte(kind: EventType, evidence: Evidence) -> u8 {
    let kind = match kind {
        EventType::Added => 1,
        EventType::Modified => 2,
        EventType::Deleted => 3,
    };
    let evidence = match evidence {
        Evidence::Live => 0,
        Evidence::Initial => 1,
        Evidence::Listed => 2,
        Evidence::Polled => 3,
        Evidence::Inferred => 4,
        Evidence::Reconstructed => 5,
        Evidence::Imported => 6,
    };
    kind | evidence << 2
}

/// Reads what [`kind_byte`] spelt.
pub(crate) fn kind_of(byte: u8) -> Result<(EventType, Evidence), CodecError> {
    let meaningless = || CodecError::Meaningless {
        what: "a record's kind",
        found: u64::from(byte),
    };
    let kind = match byte & 3 {
        1 => EventType::Added,
        2 => EventType::Modified,
        3 => EventType::Deleted,
        _ => return Err(meaningless()),
    };
    let evidence = match byte >> 2 & 7 {
        0 => Evidence::Live,
        1 => Evidence::Initial,
        2 => Evidence::Listed,
        3 => Evidence::Polled,
        4 => Evidence::Inferred,
        5 => Evidence::Reconstructed,
        6 => Evidence::Imported,
        _ => return Err(meaningless()),
    };
    Ok((kind, evidence))
}

/// The record before, against which a record's columns are encoded.
#[derive(Default)]
struct Before {
    wall: i64,
    elapsed: u64,
    version: u64,
    connections: BTreeMap<ResourceId, ConnectionId>,
}

/// Returns the index of a segment. `resource_of` knows every object of the records.
pub(crate) fn encode(
    objects: &[ObjectKey],
    records: &[Record],
    resource_of: impl Fn(ObjectId) -> Option<ResourceId>,
) -> Vec<u8> {
    let [
        mut keys,
        mut kinds,
        mut walls,
        mut skews,
        mut numbers,
        mut versions,
        mut notes,
    ] = [const { Vec::new() }; 7];
    for key in objects {
        put_key(&mut keys, key);
    }
    let mut before = Before::default();
    for record in records {
        let wall = i128::from(record.stamp.wall.micros) - i128::from(before.wall);
        let elapsed = i128::from(record.stamp.elapsed.micros) - i128::from(before.elapsed);
        varint::put_signed(&mut walls, wall);
        varint::put_signed(&mut skews, elapsed - wall);
        before.wall = record.stamp.wall.micros;
        before.elapsed = record.stamp.elapsed.micros;
        match &record.content {
            RecordContent::Note(bytes) => {
                kinds.push(NOTE);
                put_sized(&mut notes, bytes);
            }
            RecordContent::Event {
                kind,
                evidence,
                object,
                connection,
                version,
            } => {
                let mut byte = kind_byte(*kind, *evidence);
                varint::put(&mut numbers, u128::from(object.0));
                let resource = resource_of(*object).unwrap_or_default();
                if before.connections.insert(resource, *connection) != Some(*connection) {
                    byte |= NEW_CONNECTION;
                    varint::put(&mut versions, u128::from(connection.0));
                }
                match version {
                    Rv::Number(number) => {
                        let step = i128::from(*number) - i128::from(before.version);
                        varint::put_signed(&mut versions, step);
                        before.version = *number;
                    }
                    Rv::Text(text) => {
                        byte |= TEXT_VERSION;
                        put_sized(&mut versions, text.as_bytes());
                    }
                }
                kinds.push(byte);
            }
        }
    }
    frame::join_columns([&keys, &kinds, &walls, &skews, &numbers, &versions, &notes])
}

/// The index of a segment as far as it is known without the segments before it, by column: a reel has millions of
/// records, and most readers need few of their numbers.
pub(crate) struct IndexColumns {
    bytes: Vec<u8>,
    keys: Range<usize>,
    /// The type and evidence of each record as in [`kind_byte`]; [`NOTE`] for a note.
    pub(crate) kinds: Vec<u8>,
    /// When each record was received.
    pub(crate) stamps: Vec<Stamp>,
    /// The object of each event.
    pub(crate) objects: Vec<ObjectId>,
    /// The resourceVersion of each event; one that is no number repeats the last that is.
    pub(crate) versions: Vec<u64>,
    /// The resourceVersions that are no numbers, with the places of their events.
    pub(crate) odd_versions: Vec<(usize, String)>,
    /// The events whose connection is not that of the resource's event before, by place.
    connections: Vec<(usize, ConnectionId)>,
    notes: Vec<Range<usize>>,
}

impl IndexColumns {
    /// Reads an index.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, CodecError> {
        let places: [_; 7] = frame::column_places(&bytes, "a segment's index")?;
        let [keys, .., Range { end, .. }] = places.clone();
        let [_, kinds, walls, skews, numbers, versions, notes] =
            places.map(|place| bytes.get(place).unwrap_or_default());
        let mut walls = FieldReader::new(walls, "a wall time");
        let mut skews = FieldReader::new(skews, "a clock skew");
        let mut numbers = FieldReader::new(numbers, "an object's number");
        let mut versions = FieldReader::new(versions, "a resourceVersion");
        let mut notes = FieldReader::new(notes, "a note");
        let mut before = Before::default();
        let mut columns = Self {
            bytes: Vec::new(),
            keys,
            kinds: Vec::with_capacity(kinds.len()),
            stamps: Vec::with_capacity(kinds.len()),
            objects: Vec::with_capacity(kinds.len()),
            versions: Vec::with_capacity(kinds.len()),
            odd_versions: Vec::new(),
            connections: Vec::new(),
            notes: Vec::new(),
        };
        for byte in kinds {
            let stamp = take_stamp(&mut walls, &mut skews, &mut before)?;
            columns.stamps.push(stamp);
            if *byte == NOTE {
                columns.kinds.push(NOTE);
                let len = notes.sized(MAX_RECORD)?.len();
                let behind = end - notes.rest().len();
                columns.notes.push(behind - len..behind);
            } else {
                columns.objects.push(ObjectId(numbers.number32()?));
                columns.take_version(*byte, &mut versions, &mut before)?;
            }
        }
        for column in [walls, skews, numbers, versions, notes] {
            column.end()?;
        }
        columns.bytes = bytes;
        Ok(columns)
    }

    fn take_version(
        &mut self,
        byte: u8,
        versions: &mut FieldReader<'_>,
        before: &mut Before,
    ) -> Result<(), CodecError> {
        let event = self.versions.len();
        let kind = byte & !(NEW_CONNECTION | TEXT_VERSION);
        // Checked here, so that later readers can rely on it.
        kind_of(kind)?;
        self.kinds.push(kind);
        if byte & NEW_CONNECTION != 0 {
            let connection = ConnectionId(versions.number32()?);
            self.connections.push((event, connection));
        }
        if byte & TEXT_VERSION == 0 {
            before.version = i128::from(before.version)
                .checked_add(versions.signed()?)
                .and_then(|sum| u64::try_from(sum).ok())
                .ok_or(CodecError::Meaningless {
                    what: "a resourceVersion's step from",
                    found: before.version,
                })?;
        } else {
            let text = versions.text(MAX_NAME)?.to_owned();
            self.odd_versions.push((event, text));
        }
        self.versions.push(before.version);
        Ok(())
    }

    /// Returns the number of its bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Reads the identities of the segment's new objects.
    pub(crate) fn new_objects(&self) -> Result<Vec<ObjectKeyRef<'_>>, CodecError> {
        let keys = self.bytes.get(self.keys.clone()).unwrap_or_default();
        let mut keys = FieldReader::new(keys, "an object's key");
        let mut objects = Vec::new();
        while !keys.is_empty() {
            objects.push(take_key(&mut keys)?);
        }
        Ok(objects)
    }

    /// Returns the encoded notes.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &[u8]> {
        let places = self.notes.iter().cloned();
        places.map(|place| self.bytes.get(place).unwrap_or_default())
    }

    /// Returns the connection of each event. `resource_of` knows the objects of this segment and of
    /// earlier ones.
    pub(crate) fn connections(
        &self,
        resource_of: impl Fn(ObjectId) -> Option<ResourceId>,
        is_lost: impl Fn(ResourceId) -> bool,
    ) -> Result<Vec<ConnectionId>, CodecError> {
        let mut known = LastConnections::default();
        let mut connections = Vec::with_capacity(self.objects.len());
        let mut new = self.connections.iter().peekable();
        for (event, object) in self.objects.iter().enumerate() {
            let resource = resource_of(*object);
            let new = new.next_if(|(place, _)| *place == event);
            let connection = resource.and_then(|resource| match new {
                Some((_, new)) => Some(known.insert(resource, *new)),
                None => known
                    .get(resource)
                    .or_else(|| is_lost(resource).then_some(ConnectionId(0))),
            });
            connections.push(connection.ok_or(CodecError::Meaningless {
                what: "an object's number",
                found: u64::from(object.0),
            })?);
        }
        Ok(connections)
    }
}

/// The last connection of each resource, found without hashing for those that were found before.
#[derive(Default)]
struct LastConnections {
    all: HashMap<ResourceId, ConnectionId>,
    /// By the last bits of the number.
    near: [Option<(ResourceId, ConnectionId)>; NEAR],
}

const NEAR: usize = 32;

impl LastConnections {
    fn insert(&mut self, resource: ResourceId, connection: ConnectionId) -> ConnectionId {
        self.all.insert(resource, connection);
        self.keep_near(resource, connection)
    }

    fn keep_near(&mut self, resource: ResourceId, connection: ConnectionId) -> ConnectionId {
        if let Some(near) = self.near.get_mut(place32(resource.0) % NEAR) {
            *near = Some((resource, connection));
        }
        connection
    }

    fn get(&mut self, resource: ResourceId) -> Option<ConnectionId> {
        match self.near.get(place32(resource.0) % NEAR) {
            Some(Some((known, connection))) if *known == resource => Some(*connection),
            _ => {
                let connection = *self.all.get(&resource)?;
                Some(self.keep_near(resource, connection))
            }
        }
    }
}

fn take_stamp(
    walls: &mut FieldReader<'_>,
    skews: &mut FieldReader<'_>,
    before: &mut Before,
) -> Result<Stamp, CodecError> {
    let step = walls.signed()?;
    let skew = skews.signed()?;
    let wall = i128::from(before.wall)
        .checked_add(step)
        .and_then(|sum| i64::try_from(sum).ok());
    let elapsed = step
        .checked_add(skew)
        .and_then(|step| i128::from(before.elapsed).checked_add(step))
        .and_then(|sum| u64::try_from(sum).ok());
    let (Some(wall), Some(elapsed)) = (wall, elapsed) else {
        return Err(CodecError::Meaningless {
            what: "a time's step from",
            found: before.elapsed,
        });
    };
    before.wall = wall;
    before.elapsed = elapsed;
    Ok(Stamp::from_micros(wall, elapsed))
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_key(out: &mut Vec<u8>, key: &ObjectKey) {
    varint::put(out, u128::from(key.resource.0));
    put_sized(out, key.namespace.as_bytes());
    put_sized(out, key.name.as_bytes());
    // A uid in its usual spelling is 16 bytes after a 0; any other is a text whose length is given
    // one too high.
    if let Some(number) = uuid_number(&key.uid) {
        out.push(0);
        out.extend_from_slice(&number.to_le_bytes());
    } else {
        varint::put_len(out, key.uid.len().saturating_add(1));
        out.extend_from_slice(key.uid.as_bytes());
    }
}

fn take_key<'a>(keys: &mut FieldReader<'a>) -> Result<ObjectKeyRef<'a>, CodecError> {
    let resource = ResourceId(keys.number32()?);
    let namespace = keys.text(MAX_NAME)?;
    let name = keys.text(MAX_NAME)?;
    let uid = match keys.len_at_most(MAX_NAME.saturating_add(1))?.checked_sub(1) {
        None => UidRef::of_number(
            keys.bytes(16)?
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u128::from(*byte)),
        ),
        Some(len) => std::str::from_utf8(keys.bytes(len)?)
            .map(UidRef::new)
            .map_err(|_not_utf8| CodecError::NotUtf8 { what: "a uid" })?,
    };
    Ok(ObjectKeyRef {
        resource,
        namespace,
        name,
        uid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uid::uuid_text;
    use proptest::prelude::*;

    fn keys() -> impl Strategy<Value = ObjectKey> {
        let uid = prop_oneof![any::<u128>().prop_map(uuid_text), ".{0,40}"];
        (0u32..4, ".{0,8}", ".{0,20}", uid).prop_map(|(resource, namespace, name, uid)| ObjectKey {
            resource: ResourceId(resource),
            namespace,
            name,
            uid,
        })
    }

    fn records(objects: u32) -> impl Strategy<Value = Record> {
        let kind = prop_oneof![
            Just(EventType::Added),
            Just(EventType::Modified),
            Just(EventType::Deleted)
        ];
        let evidence = prop_oneof![
            Just(Evidence::Live),
            Just(Evidence::Inferred),
            Just(Evidence::Imported)
        ];
        let version = prop_oneof!["[0-9]{1,20}", ".{0,40}"].prop_map(|text| Rv::new(&text));
        let event = (kind, evidence, 0..objects, 0u32..5, version).prop_map(
            |(kind, evidence, object, connection, version)| RecordContent::Event {
                kind,
                evidence,
                object: ObjectId(object),
                connection: ConnectionId(connection),
                version,
            },
        );
        let content = prop_oneof![
            4 => event,
            1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(RecordContent::Note)
        ];
        (any::<i64>(), any::<u64>(), content).prop_map(|(wall, elapsed, content)| Record {
            stamp: Stamp::from_micros(wall, elapsed),
            content,
        })
    }

    fn records_of(
        index: &IndexColumns,
        resource_of: impl Fn(ObjectId) -> Option<ResourceId>,
    ) -> Result<Vec<Record>, CodecError> {
        let connections = index.connections(resource_of, |_| false)?;
        let (mut notes, mut events) = (index.notes(), 0..);
        let records = index.kinds.iter().zip(&index.stamps);
        let records = records.map(|(byte, stamp)| {
            let content = if *byte == NOTE {
                RecordContent::Note(notes.next().unwrap().to_vec())
            } else {
                let event = events.next().unwrap();
                let (kind, evidence) = kind_of(*byte).unwrap();
                let mut odd = index.odd_versions.iter();
                let odd = odd.find(|(place, _)| *place == event);
                RecordContent::Event {
                    kind,
                    evidence,
                    object: index.objects[event],
                    connection: connections[event],
                    version: match odd {
                        Some((_, text)) => Rv::Text(text.clone()),
                        None => Rv::Number(index.versions[event]),
                    },
                }
            };
            Record {
                stamp: *stamp,
                content,
            }
        });
        Ok(records.collect())
    }

    proptest! {
        #[test]
        fn an_index_comes_back(
            (objects, records) in prop::collection::vec(keys(), 1..9).prop_flat_map(|objects| {
                let count = u32::try_from(objects.len()).unwrap();
                (Just(objects), prop::collection::vec(records(count), 0..20))
            })
        ) {
            let of = |id: ObjectId| objects.get(usize::try_from(id.0).unwrap()).map(|key| key.resource);
            let views: Vec<_> = objects.iter().map(ObjectKey::view).collect();
            let index = IndexColumns::decode(encode(&objects, &records, of)).unwrap();
            prop_assert_eq!(index.new_objects().unwrap(), views);
            prop_assert_eq!(records_of(&index, of).unwrap(), records);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            if let Ok(index) = IndexColumns::decode(bytes) {
                let _objects = index.new_objects();
                let _records = records_of(&index, |_| Some(ResourceId(0)));
            }
        }
    }

    #[test]
    fn odd_spellings_stay_as_they_are() {
        for spelling in ["", "007", "+1", "18446744073709551616", "1e3"] {
            assert_eq!(Rv::new(spelling), Rv::Text(spelling.to_owned()));
        }
        assert_eq!(Rv::new("4865636482"), Rv::Number(4_865_636_482));
        for uid in ["", "ABCDEF00-0000-0000-0000-000000000000", "é"] {
            assert_eq!(uuid_number(uid), None);
        }
    }
}
