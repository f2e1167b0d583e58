//! Reads the directory and the tail into memory: every record's head, packed by column, the objects' names, and
//! the notes. Bodies stay in the file.
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
use crate::file::column::{GROUP, PackedColumn};
use crate::file::reel::ReelObject;
use crate::file::segment::{BlockPlace, SegmentStart, TailRow};
use crate::file::{segment, tables};
use crate::id::{ConnectionId, Elapsed, ObjectId, RecordedAt, ResourceId, Seq, Stamp};
use crate::limits::{MAX_BLOCK_RAW, MAX_ITEMS, MAX_RECORD, len64};
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
    pub(crate) objects: Vec<ReelObject>,
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
                Some(object) => Some(object.key.resource),
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
        let lost = (0..start.object).skip(self.objects.len());
        self.objects.extend(lost.map(|number| ReelObject {
            id: ObjectId(number),
            key: ObjectKey {
                resource: LOST_RESOURCE,
                namespace: String::new(),
                name: String::new(),
                uid: String::new(),
            },
        }));
        let new = (start.object..).map(ObjectId).zip(objects);
        self.objects
            .extend(new.map(|(id, key)| ReelObject { id, key }));
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

/// What a record is, as far as the heads know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Note,
    Lost,
    Event(ObjectId),
}

/// Every record's head, by column: a record takes about a quarter of what its numbers would take.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// Wall times, in the order of their signs: see [`ordered`].
    walls: PackedColumn,
    /// How far the steady clock is ahead of the wall clock, wrapping around: that rarely changes.
    skews: PackedColumn,
    /// [`NOTE`], [`LOST`], or [`FIRST_OBJECT`] and an object's number.
    objects: PackedColumn,
    connections: PackedColumn,
    versions: PackedColumn,
    /// The type of an event and how it is known, as an index spells them.
    kinds: PackedColumn,
    odd_versions: BTreeMap<u64, String>,
    /// The records that are notes.
    notes: Vec<u64>,
    /// Where records were lost.
    pub(crate) lost: Vec<(u64, u64)>,
    events: u64,
    /// The earliest wall time among the events of each group of records.
    lows: Vec<i64>,
    /// The same of each [`RUN`] of records.
    run_lows: Vec<i64>,
    last: HeadNumbers,
}

/// The numbers of a record. One that has no such number takes it over from the record before it, so that it
/// does not widen its neighbours.
#[derive(Clone, Copy, Debug, Default)]
struct HeadNumbers {
    stamp: Stamp,
    connection: u32,
    version: u64,
    kind: u8,
}

/// How many records share one of the closer lows; a group has whole ones.
const RUN: usize = 64;

/// What stands in the place of an object's number for a note.
const NOTE: u64 = 0;
/// What stands in the place of an object's number for a record that damage took.
const LOST: u64 = 1;
/// What stands in the place of the first object's number.
const FIRST_OBJECT: u64 = 2;

/// The sign of a time.
const SIGN: u64 = 1 << 63;

/// Maps a time to a number, the earlier to the smaller.
const fn ordered(micros: i64) -> u64 {
    micros.cast_unsigned() ^ SIGN
}

/// Maps a number back to the time that [`ordered`] made it of.
const fn time_of(number: u64) -> i64 {
    (number ^ SIGN).cast_signed()
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
        for _ in start..end {
            self.put(LOST, self.last);
        }
    }

    fn put(&mut self, object: u64, numbers: HeadNumbers) {
        let stamp = numbers.stamp;
        let wall = stamp.wall.micros;
        if self.objects.len().is_multiple_of(GROUP) {
            self.lows.push(i64::MAX);
        }
        if self.objects.len().is_multiple_of(RUN) {
            self.run_lows.push(i64::MAX);
        }
        if object >= FIRST_OBJECT {
            let lows = [self.lows.last_mut(), self.run_lows.last_mut()];
            for low in lows.into_iter().flatten() {
                *low = wall.min(*low);
            }
        }
        let skew = stamp.elapsed.micros.wrapping_sub(wall.cast_unsigned());
        self.walls.push(ordered(wall));
        self.skews.push(skew);
        self.objects.push(object);
        self.connections.push(u64::from(numbers.connection));
        self.versions.push(numbers.version);
        self.kinds.push(u64::from(numbers.kind));
        self.last = numbers;
    }

    /// Appends a record, and gives the note's bytes if it is one.
    pub(crate) fn push(&mut self, record: Record) -> Option<Vec<u8>> {
        let stamp = record.stamp;
        match record.content {
            RecordContent::Note(bytes) => {
                self.notes.push(self.len());
                let last = self.last;
                self.put(NOTE, HeadNumbers { stamp, ..last });
                Some(bytes)
            }
            RecordContent::Event {
                kind,
                evidence,
                object,
                connection,
                version,
            } => {
                let version = match version {
                    Rv::Number(number) => number,
                    Rv::Text(text) => {
                        self.odd_versions.insert(self.len(), text);
                        self.last.version
                    }
                };
                self.events = self.events.saturating_add(1);
                let numbers = HeadNumbers {
                    stamp,
                    connection: connection.0,
                    version,
                    kind: index::kind_byte(kind, evidence),
                };
                self.put(u64::from(object.0) + FIRST_OBJECT, numbers);
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

    fn slot_at(&self, place: usize) -> Option<Slot> {
        Some(match self.objects.get(place)? {
            NOTE => Slot::Note,
            LOST => Slot::Lost,
            object => Slot::Event(ObjectId(u32::try_from(object - FIRST_OBJECT).ok()?)),
        })
    }

    fn wall_at(&self, place: usize) -> Option<i64> {
        self.walls.get(place).map(time_of)
    }

    pub(crate) fn slot(&self, seq: Seq) -> Option<Slot> {
        self.slot_at(Self::place(seq))
    }

    pub(crate) fn object(&self, seq: Seq) -> Option<ObjectId> {
        match self.slot(seq)? {
            Slot::Event(object) => Some(object),
            Slot::Note | Slot::Lost => None,
        }
    }

    pub(crate) fn stamp(&self, seq: Seq) -> Option<Stamp> {
        let place = Self::place(seq);
        let wall = self.wall_at(place)?;
        let skew = self.skews.get(place)?;
        Some(Stamp {
            wall: RecordedAt::from_micros(wall),
            elapsed: Elapsed {
                micros: wall.cast_unsigned().wrapping_add(skew),
            },
        })
    }

    pub(crate) fn kind(&self, seq: Seq) -> Option<(EventType, Evidence)> {
        self.object(seq)?;
        self.kind_at(Self::place(seq))
    }

    fn kind_at(&self, place: usize) -> Option<(EventType, Evidence)> {
        let byte = u8::try_from(self.kinds.get(place)?).ok()?;
        index::kind_of(byte).ok()
    }

    pub(crate) fn connection(&self, seq: Seq) -> Option<ConnectionId> {
        self.object(seq)?;
        self.connection_at(Self::place(seq))
    }

    fn connection_at(&self, place: usize) -> Option<ConnectionId> {
        let number = self.connections.get(place)?;
        u32::try_from(number).ok().map(ConnectionId)
    }

    pub(crate) fn version(&self, seq: Seq) -> Option<u128> {
        self.object(seq)?;
        match self.odd_versions.get(&seq.0) {
            Some(text) => text.parse().ok(),
            None => self.versions.get(Self::place(seq)).map(u128::from),
        }
    }

    pub(crate) fn head(&self, seq: Seq) -> Option<EventHead> {
        let object = self.object(seq)?;
        let place = Self::place(seq);
        let (kind, evidence) = self.kind_at(place)?;
        let resource_version = match self.odd_versions.get(&seq.0) {
            Some(text) => text.clone(),
            None => self.versions.get(place)?.to_string(),
        };
        Some(EventHead {
            seq,
            stamp: self.stamp(seq)?,
            connection: self.connection_at(place)?,
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
        let is_by_then = |place: usize| self.wall_at(place).is_some_and(|wall| wall <= at.micros);
        let is_event = |place: usize| matches!(self.slot_at(place), Some(Slot::Event(_)));
        let reaches = |low: Option<&i64>| low.is_some_and(|low| *low <= at.micros);
        // Arrival times can step back, so that the search runs from the end, a group at a time.
        let groups = (0..self.lows.len()).rev();
        let runs = groups
            .filter(|group| reaches(self.lows.get(*group)))
            .flat_map(|group| (group * GROUP / RUN..(group + 1) * GROUP / RUN).rev());
        let last = runs
            .filter(|run| reaches(self.run_lows.get(*run)))
            .find_map(|run| {
                let places = run * RUN..self.objects.len().min((run + 1) * RUN);
                places
                    .rev()
                    .find(|place| is_by_then(*place) && is_event(*place))
            });
        let events = last.map_or(0, |last| last + 1);
        let notes = (events..self.objects.len())
            .take_while(|place| is_by_then(*place) && self.slot_at(*place) == Some(Slot::Note))
            .count();
        Seq(len64(events + notes))
    }

    /// Returns the objects' numbers, for indexing.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Slot> {
        (0..self.objects.len()).map_while(|place| self.slot_at(place))
    }
}
