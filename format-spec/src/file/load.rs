//! Reads the directory and the tail into memory: every record's head (33 bytes, by column), the objects'
//! names, and the notes. Bodies stay in the file.
//!
//! Invariants, because the file may be damaged or forged:
//! * Damage does not end the reading: what is lost is named, with the records that it took, and the rest is
//!   read.
//! * A block begins where the one before it ends, unless damage lies between them; the hole it may leave is
//!   bounded by the number of damaged places.
//! * Keys and counts of the database bound no loop and no allocation by themselves.
//! * Behind a damaged tail row nothing is read: later rows are encoded against it.

use crate::codec::bodies::{Bodies, BodyCounts};
use crate::codec::index::{Record, RecordContent, Rv};
use crate::codec::{frame, index, record};
use crate::error::Damage;
use crate::event::{EventHead, EventType, Evidence, ObjectKey};
use crate::file::backend::fenced;
use crate::file::checkpoint::Checkpoint;
use crate::file::segment::{BlockPlace, SegmentStart, TailRow};
use crate::file::{segment, tables};
use crate::id::{ConnectionId, Elapsed, ObjectId, RecordedAt, ResourceId, Seq, Stamp};
use crate::limits::{MAX_BLOCK_RAW, MAX_ITEMS, MAX_RECORD, len64, place32};
use crate::note::{Note, NoteEntry};
use redb::{ReadTransaction, ReadableTable as _, ReadableTableMetadata as _};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands for the resource of an object that damage took.
pub(crate) const LOST_RESOURCE: ResourceId = ResourceId(u32::MAX);

/// Where a block's bodies are.
#[derive(Clone, Debug)]
pub(crate) enum BlockSource {
    /// In the extents.
    Sealed(BlockPlace),
    /// In memory: they came with a tail row.
    Tail(Arc<Bodies>),
}

/// A block, sealed or not.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The number of a sealed block.
    pub(crate) number: u32,
    pub(crate) start: SegmentStart,
    pub(crate) records: u32,
    pub(crate) blobs: u32,
    pub(crate) source: BlockSource,
}

impl Block {
    pub(crate) fn end(&self) -> u64 {
        self.start.record.saturating_add(u64::from(self.records))
    }
}

/// Everything that is read at opening.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) heads: Heads,
    pub(crate) objects: Vec<ObjectKey>,
    pub(crate) notes: Vec<NoteEntry>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) damage: Vec<Damage>,
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) next_commit: u64,
    /// The number that the next sealed block would have.
    pub(crate) next_block: u32,
    pub(crate) rows: u64,
    pub(crate) index_bytes: u64,
    pub(crate) tail_bytes: u64,
}

impl Loaded {
    /// Reads the directory and the tail.
    pub(crate) fn read(transaction: &ReadTransaction) -> Self {
        let mut loaded = Self::default();
        loaded.read_directory(transaction);
        loaded.read_checkpoints(transaction);
        loaded.read_tail(transaction);
        loaded
    }

    fn hurt(&mut self, place: String, cause: String) {
        self.damage.push(Damage {
            place,
            cause,
            first: None,
            last: None,
        });
    }

    fn read_directory(&mut self, transaction: &ReadTransaction) {
        let opened = fenced(|| {
            let table = transaction.open_table(tables::DIRECTORY)?;
            let count = table.len()?;
            let last = table.last()?.map(|(key, _)| key.value());
            let indexes = transaction.open_table(tables::INDEXES)?;
            Ok::<_, redb::Error>((table, count, last, indexes))
        });
        let (table, count, last, indexes) = match opened {
            Ok(opened) => opened,
            Err(cause) => return self.hurt("the directory".to_owned(), cause),
        };
        // A hostile key must not make this loop long.
        let most = count.saturating_mul(2).saturating_add(1024);
        let end = last.map_or(0, |last| last.saturating_add(1));
        let end = u32::try_from(most).map_or(end, |most| end.min(most));
        self.next_block = end;
        for number in 0..end {
            self.rows = self.rows.saturating_add(1);
            let place = || format!("directory row {number}");
            let row = fenced(|| table.get(number));
            let row = match &row {
                Ok(Some(row)) => row.value(),
                Ok(None) => {
                    self.hurt(place(), "the row is missing".to_owned());
                    continue;
                }
                Err(cause) => {
                    self.hurt(place(), cause.clone());
                    continue;
                }
            };
            let taken = BlockPlace::decode(row)
                .map_err(|error| error.to_string())
                .and_then(|at| {
                    let packed = segment::read_frame(&indexes, at.index, || self.rows += 1)?;
                    self.index_bytes = self.index_bytes.saturating_add(len64(packed.len()));
                    let index = frame::unpack(&packed, &[], MAX_BLOCK_RAW + MAX_RECORD)
                        .map_err(|error| error.to_string())?;
                    let source = BlockSource::Sealed(at);
                    self.take(number, at.start, at.blobs, &index, source)
                });
            if let Err(cause) = taken {
                self.hurt(place(), cause);
            }
        }
    }

    /// Reads the checkpoints. Damage there loses nothing: all that they hold stands elsewhere too.
    fn read_checkpoints(&mut self, transaction: &ReadTransaction) {
        let table = match fenced(|| transaction.open_table(tables::CHECKPOINTS)) {
            Ok(table) => table,
            Err(cause) => return self.hurt("the checkpoints".to_owned(), cause),
        };
        for number in 1..u32::MAX {
            let row = fenced(|| table.get(number));
            let read = match &row {
                Ok(None) => return,
                Ok(Some(row)) => Checkpoint::decode(row.value()).map_err(|error| error.to_string()),
                Err(cause) => Err(cause.clone()),
            };
            self.rows = self.rows.saturating_add(1);
            let last = self.checkpoints.last().map_or(0, |last| last.seq);
            match read {
                Ok(at) if at.seq > last && at.parent_seq <= last => self.checkpoints.push(at),
                Ok(_) => {
                    return self.hurt(format!("checkpoint {number}"), "out of order".to_owned());
                }
                Err(cause) => return self.hurt(format!("checkpoint {number}"), cause),
            }
        }
    }

    fn read_tail(&mut self, transaction: &ReadTransaction) {
        let rows = fenced(|| {
            let table = transaction.open_table(tables::TAIL)?;
            let rows: Result<Vec<_>, redb::StorageError> = table
                .iter()?
                .map(|row| row.map(|(key, value)| (key.value(), value.value().to_vec())))
                .collect();
            Ok::<_, redb::Error>(rows?)
        });
        let rows = match rows {
            Ok(rows) => rows,
            Err(cause) => return self.hurt("the tail".to_owned(), cause),
        };
        let mut expected = rows.first().map_or(0, |(key, _)| *key);
        for (key, row) in rows {
            self.rows = self.rows.saturating_add(1);
            self.tail_bytes = self.tail_bytes.saturating_add(len64(row.len()));
            let place = format!("tail row {key}");
            if key != expected {
                self.hurt(place, format!("tail row {expected} is missing"));
                return;
            }
            expected = expected.saturating_add(1);
            self.next_commit = expected;
            let taken = TailRow::decode(&row)
                .map_err(|error| error.to_string())
                .and_then(|row| {
                    let bodies = Bodies::decode(row.bodies, BodyCounts::UNKNOWN)
                        .map_err(|error| error.to_string())?;
                    let blobs = u32::try_from(bodies.blob_count())
                        .map_err(|_too_many| "too many texts".to_owned())?;
                    let source = BlockSource::Tail(Arc::new(bodies));
                    self.take(self.next_block, row.start, blobs, &row.index, source)
                });
            if let Err(cause) = taken {
                // What follows is encoded against it.
                return self.hurt(place, cause);
            }
        }
    }

    /// Takes one block's index in.
    fn take(
        &mut self,
        number: u32,
        start: SegmentStart,
        blobs: u32,
        index: &[u8],
        source: BlockSource,
    ) -> Result<(), String> {
        let known = len64(self.objects.len());
        if start.record < self.heads.len() || u64::from(start.object) < known {
            return Err("it begins before the block in front of it ends".to_owned());
        }
        // Damage in front leaves a hole; a hostile row must not make it large.
        let hole = start.record - self.heads.len();
        let most = 64 * 1024 * len64(self.damage.len());
        if hole > most || u64::from(start.object) - known > most || start.record > MAX_ITEMS {
            return Err(format!("it begins at record {}", start.record));
        }
        let resource_of = |object: ObjectId| {
            let place = usize::try_from(object.0).ok()?;
            match self.objects.get(place) {
                Some(key) => Some(key.resource),
                None => (object.0 < start.object).then_some(LOST_RESOURCE),
            }
        };
        let (objects, records) =
            index::decode(index, start.object, resource_of).map_err(|error| error.to_string())?;
        let count = u32::try_from(records.len()).map_err(|_too_many| "too many records")?;
        let events = records
            .iter()
            .filter(|record| matches!(record.content, RecordContent::Event { .. }))
            .count();
        if let BlockSource::Tail(bodies) = &source
            && bodies.len() != events
        {
            return Err(format!("{} bodies for {events} events", bodies.len()));
        }
        if hole > 0 {
            let end = start.record;
            if let Some(damage) = self
                .damage
                .last_mut()
                .filter(|damage| damage.first.is_none())
            {
                damage.first = Some(Seq(self.heads.len()));
                damage.last = Some(Seq(end.saturating_sub(1)));
            }
            self.heads.lose_until(end);
        }
        self.objects
            .resize_with(place32(start.object), || ObjectKey {
                resource: LOST_RESOURCE,
                namespace: String::new(),
                name: String::new(),
                uid: String::new(),
            });
        self.objects.extend(objects);
        self.blocks.push(Block {
            number,
            start,
            records: count,
            blobs,
            source,
        });
        for record in records {
            self.take_record(record);
        }
        Ok(())
    }

    fn take_record(&mut self, record: Record) {
        let (seq, stamp) = (Seq(self.heads.len()), record.stamp);
        let Some(bytes) = self.heads.push(record) else {
            return;
        };
        match record::decode::<Note>(&bytes) {
            Ok(note) => self.notes.push(NoteEntry { seq, stamp, note }),
            Err(error) => self.damage.push(Damage {
                place: format!("note {seq}"),
                cause: error.to_string(),
                first: Some(seq),
                last: Some(seq),
            }),
        }
    }
}

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

/// Reads the number of an object from its place.
const fn is_event(object: u32) -> bool {
    object != NOTE && object != LOST
}

impl Heads {
    pub(crate) fn len(&self) -> u64 {
        len64(self.objects.len())
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
            RecordContent::Note(bytes) => {
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
            RecordContent::Event {
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

    /// Returns how many notes lie between two records, the first of them included.
    pub(crate) fn notes_between(&self, from: u64, to: u64) -> usize {
        let below = |end: u64| self.notes.partition_point(|note| *note < end);
        below(to).saturating_sub(below(from))
    }

    fn place(seq: Seq) -> usize {
        // A number that no place in memory has is beyond the last record.
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

    /// Returns the number of records up to and including the last event received at `at` or before,
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
        Seq(len64(events + notes))
    }

    /// Returns the objects' numbers, for indexing.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Slot> {
        self.objects.iter().map(|object| match *object {
            NOTE => Slot::Note,
            LOST => Slot::Lost,
            object => Slot::Event(ObjectId(object)),
        })
    }
}
