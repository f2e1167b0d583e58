//! Owns every record's head in memory: 33 bytes each, by column. Refuses bodies and notes.

use crate::codec::index::{Content, Record, Rv};
use crate::event::{EventHead, EventType, Evidence};
use crate::id::{ConnectionId, ObjectId, Seq};
use crate::time::{Elapsed, RecordedAt, Stamp};
use std::collections::BTreeMap;

/// What stands in the place of an object's number for a note.
const NOTE: u32 = u32::MAX;
/// What stands in the place of an object's number for a record that damage took.
const LOST: u32 = u32::MAX - 1;

/// What a record is, as far as the heads know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Note,
    Lost,
    Event(ObjectId),
}

/// Every record's head.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    walls: Vec<i64>,
    elapsed: Vec<u64>,
    objects: Vec<u32>,
    connections: Vec<u32>,
    versions: Vec<u64>,
    kinds: Vec<(EventType, Evidence)>,
    odd_versions: BTreeMap<u64, String>,
    /// The records that are notes.
    notes: Vec<u64>,
    /// Where records were lost.
    pub(crate) lost: Vec<(u64, u64)>,
    events: u64,
    /// The earliest wall time among the events of each group of records.
    lows: Vec<i64>,
}

/// How many records share one entry of the lows.
const GROUP: usize = 1024;

/// Tells the number of an object from what stands in its place.
const fn is_event(object: u32) -> bool {
    object != NOTE && object != LOST
}

impl Heads {
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.objects.len()).unwrap_or(u64::MAX)
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Marks records up to `end` as lost.
    pub(crate) fn lose_until(&mut self, end: u64) {
        let start = self.len();
        if start >= end {
            return;
        }
        self.lost.push((start, end));
        let wall = self.walls.last().copied().unwrap_or_default();
        let elapsed = self.elapsed.last().copied().unwrap_or_default();
        for _ in start..end {
            self.put(
                wall,
                elapsed,
                LOST,
                0,
                0,
                (EventType::Added, Evidence::Live),
            );
        }
    }

    fn put(
        &mut self,
        wall: i64,
        elapsed: u64,
        object: u32,
        connection: u32,
        version: u64,
        kind: (EventType, Evidence),
    ) {
        if self.walls.len().is_multiple_of(GROUP) {
            self.lows.push(i64::MAX);
        }
        if let Some(low) = self.lows.last_mut().filter(|_| is_event(object)) {
            *low = wall.min(*low);
        }
        self.walls.push(wall);
        self.elapsed.push(elapsed);
        self.objects.push(object);
        self.connections.push(connection);
        self.versions.push(version);
        self.kinds.push(kind);
    }

    /// Appends a record, and gives the note's bytes if it is one.
    pub(crate) fn push(&mut self, record: Record) -> Option<Vec<u8>> {
        let (wall, elapsed) = (record.stamp.wall.micros, record.stamp.elapsed.micros);
        match record.content {
            Content::Note(bytes) => {
                self.notes.push(self.len());
                self.put(
                    wall,
                    elapsed,
                    NOTE,
                    0,
                    0,
                    (EventType::Added, Evidence::Live),
                );
                Some(bytes)
            }
            Content::Event {
                kind,
                evidence,
                object,
                connection,
                version,
            } => {
                let number = match version {
                    Rv::Number(number) => number,
                    Rv::Text(text) => {
                        self.odd_versions.insert(self.len(), text);
                        0
                    }
                };
                self.events = self.events.saturating_add(1);
                self.put(
                    wall,
                    elapsed,
                    object.0,
                    connection.0,
                    number,
                    (kind, evidence),
                );
                None
            }
        }
    }

    /// Gives how many notes lie between two records, the first of them included.
    pub(crate) fn notes_between(&self, from: u64, to: u64) -> usize {
        let below = |end: u64| self.notes.partition_point(|note| *note < end);
        below(to).saturating_sub(below(from))
    }

    fn place(seq: Seq) -> usize {
        usize::try_from(seq.0).unwrap_or(usize::MAX)
    }

    pub(crate) fn slot(&self, seq: Seq) -> Option<Slot> {
        self.objects
            .get(Self::place(seq))
            .map(|object| match *object {
                NOTE => Slot::Note,
                LOST => Slot::Lost,
                object => Slot::Event(ObjectId(object)),
            })
    }

    pub(crate) fn object(&self, seq: Seq) -> Option<ObjectId> {
        match self.slot(seq)? {
            Slot::Event(object) => Some(object),
            Slot::Note | Slot::Lost => None,
        }
    }

    pub(crate) fn stamp(&self, seq: Seq) -> Option<Stamp> {
        let place = Self::place(seq);
        Some(Stamp {
            wall: RecordedAt::from_micros(*self.walls.get(place)?),
            elapsed: Elapsed {
                micros: *self.elapsed.get(place)?,
            },
        })
    }

    pub(crate) fn kind(&self, seq: Seq) -> Option<(EventType, Evidence)> {
        self.object(seq)?;
        self.kinds.get(Self::place(seq)).copied()
    }

    pub(crate) fn connection(&self, seq: Seq) -> Option<ConnectionId> {
        self.object(seq)?;
        self.connections
            .get(Self::place(seq))
            .map(|number| ConnectionId(*number))
    }

    pub(crate) fn version(&self, seq: Seq) -> Option<u128> {
        self.object(seq)?;
        match self.odd_versions.get(&seq.0) {
            Some(text) => text.parse().ok(),
            None => self
                .versions
                .get(Self::place(seq))
                .map(|number| u128::from(*number)),
        }
    }

    pub(crate) fn head(&self, seq: Seq) -> Option<EventHead> {
        let object = self.object(seq)?;
        let place = Self::place(seq);
        let (kind, evidence) = *self.kinds.get(place)?;
        let resource_version = match self.odd_versions.get(&seq.0) {
            Some(text) => text.clone(),
            None => self.versions.get(place)?.to_string(),
        };
        Some(EventHead {
            seq,
            stamp: self.stamp(seq)?,
            connection: ConnectionId(*self.connections.get(place)?),
            kind,
            evidence,
            object,
            resource_version,
        })
    }

    /// Gives the number of records up to and including the last event received at `at` or before,
    /// and the notes right behind it that are not later.
    ///
    /// A note may be written long after the time it tells of; events behind that time are not drawn
    /// before it by such a note.
    pub(crate) fn seq_after(&self, at: RecordedAt) -> Seq {
        // Arrival times can step back, so that the search runs from the end, a group at a time.
        let groups = self.walls.chunks(GROUP).zip(self.objects.chunks(GROUP));
        let last = groups
            .enumerate()
            .zip(&self.lows)
            .rev()
            .filter(|(_, low)| **low <= at.micros)
            .find_map(|((number, (walls, objects)), _)| {
                let place = walls
                    .iter()
                    .zip(objects)
                    .rposition(|(wall, object)| *wall <= at.micros && is_event(*object))?;
                Some(number * GROUP + place)
            });
        let events = last.map_or(0, |last| last + 1);
        let notes = self
            .walls
            .iter()
            .zip(&self.objects)
            .skip(events)
            .take_while(|(wall, object)| **wall <= at.micros && **object == NOTE)
            .count();
        Seq(u64::try_from(events + notes).unwrap_or(u64::MAX))
    }

    /// Gives the objects' numbers, for indexing.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Slot> {
        self.objects.iter().map(|object| match *object {
            NOTE => Slot::Note,
            LOST => Slot::Lost,
            object => Slot::Event(ObjectId(object)),
        })
    }
}
