//! Reads the directory and the tail into memory: the head of every record, packed by column, the
//! names of objects, and the notes. Bodies stay in the file.
//!
//! Invariants, because the file may be damaged or forged:
//! * Damage does not end the reading: the lost records are named, and the rest is read.
//! * A block begins where the one before it ends, unless damage lies between them; the hole between
//!   is bounded by the number of damaged places.
//! * No key or count of the database bounds a loop or an allocation by itself.
//! * Nothing is read behind a damaged tail row, unless the rows come from the raw bytes: later rows
//!   are encoded against it, and each body that leads through the hole is refused.
//! * A tail row whose records are sealed is an old copy, and is left out.

use crate::codec::bodies::{Bodies, BodyCounts};
use crate::codec::index::IndexColumns;
use crate::codec::{index, record};
use crate::error::{Damage, Loss};
use crate::event::{EventHead, EventType, Evidence, ObjectKeyRef};
use crate::file::block_index;
use crate::file::checkpoint::Checkpoint;
use crate::file::column::{GROUP, PackedColumn};
use crate::file::names::ObjectNames;
use crate::file::rows::RowSource;
use crate::file::segment::{BlockPlace, SegmentStart, TailRow};
use crate::id::{ConnectionId, ObjectId, RecordedAt, ResourceId, Seq, Stamp};
use crate::limits::{MAX_ITEMS, len64, place32};
use crate::note::{Note, NoteEntry};
use crate::uid::UidRef;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The resource of an object that was lost by damage.
pub(crate) const LOST_RESOURCE: ResourceId = ResourceId(u32::MAX);

/// The place of a block's bodies.
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
    /// How many objects are new in it.
    pub(crate) objects: u32,
    pub(crate) source: BlockSource,
    /// The writer of its row, in a damaged file.
    pub(crate) writer: u32,
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
    pub(crate) objects: ObjectNames,
    pub(crate) notes: Vec<NoteEntry>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) damage: Vec<Damage>,
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) next_commit: u64,
    /// The number of the next sealed block.
    pub(crate) next_block: u32,
    pub(crate) rows: u64,
    pub(crate) index_bytes: u64,
    pub(crate) tail_bytes: u64,
    /// Damaged places whose loss the next readable block will bound.
    open_damage: Vec<(String, String)>,
    /// The longest hole that no damaged place explains.
    hole: u64,
}

/// How many records a hole in a salvaged file may have without a damaged place that explains it:
/// lost rows at the end of the directory leave no trace.
const SALVAGED_HOLE: u64 = 1 << 20;

impl Loaded {
    /// Returns the place of the last block whose start meets a condition that holds up to some block.
    pub(crate) fn block_with(&self, is_before: impl Fn(&SegmentStart) -> bool) -> Option<usize> {
        let count = self.blocks.partition_point(|block| is_before(&block.start));
        count.checked_sub(1)
    }

    /// Reads the directory and the tail.
    pub(crate) fn read(rows: &RowSource) -> Self {
        let mut loaded = Self::default();
        if rows.is_salvaged() {
            loaded.hole = SALVAGED_HOLE;
        }
        loaded.read_directory(rows);
        // After the directory, because a checkpoint is valid only if the records before it were
        // read.
        loaded.read_checkpoints(rows);
        loaded.read_tail(rows);
        let first = Seq(loaded.heads.len());
        loaded.settle(Loss::Records { first, last: None });
        loaded
    }

    /// Bounds the loss at the damaged places since the last readable block.
    fn settle(&mut self, loss: Loss) {
        let places = std::mem::take(&mut self.open_damage);
        let count = places.len();
        let mut places = places.into_iter();
        let Some((first, cause)) = places.next() else {
            return;
        };
        let place = match places.next_back() {
            None => first,
            Some((last, _)) => format!("{first} to {last} ({count} places)"),
        };
        self.damage.push(Damage { place, cause, loss });
    }

    /// Notes that unreadable records follow.
    pub(crate) fn lose_end(&mut self, end: u64, place: &str, cause: String) {
        let first = Seq(self.heads.len());
        let last = (end > first.0).then(|| Seq(end.saturating_sub(1)));
        // `end` comes from the state row of a damaged file: a forged one must not allocate a head
        // for each record that it claims.
        if end.saturating_sub(first.0) <= SALVAGED_HOLE {
            self.heads.lose_until(end, None);
        }
        // The loss behind the last block ends here.
        let open_end = Loss::Records { first, last: None };
        self.damage.retain(|damage| damage.loss != open_end);
        self.damage.push(Damage {
            place: place.to_owned(),
            cause,
            loss: Loss::Records { first, last },
        });
    }

    fn hurt(&mut self, place: String, cause: String) {
        self.open_damage.push((place, cause));
    }

    /// Notes damage without a loss: the content exists elsewhere.
    fn hurt_copy(&mut self, place: String, cause: String) {
        let loss = Loss::Nothing;
        self.damage.push(Damage { place, cause, loss });
    }

    fn read_directory(&mut self, rows: &RowSource) {
        let end = match rows.directory_end() {
            Ok(end) => end,
            Err(cause) => return self.hurt("the directory".to_owned(), cause),
        };
        self.next_block = end;
        block_index::read_in_order(rows, end, |number, read| {
            self.rows = self.rows.saturating_add(read.rows);
            self.index_bytes = self.index_bytes.saturating_add(read.index_bytes);
            let taken = read.block.and_then(|block| {
                let source = BlockSource::Sealed(block.at);
                let (start, blobs) = (block.at.start, block.at.blobs);
                self.take((number, block.writer), start, blobs, &block.index, source)
            });
            // A bad row damages its own block only: the next row states where its block begins.
            if let Err(cause) = taken {
                self.hurt(format!("directory row {number}"), cause);
            }
        });
    }

    /// Reads the checkpoints. Damage to them loses nothing, because they are redundant.
    fn read_checkpoints(&mut self, rows: &RowSource) {
        // The first absent row ends the loop: checkpoints are numbered without holes.
        for number in 1..u32::MAX {
            let row = rows.checkpoint(number);
            let read = match row {
                Ok(None) => return,
                Ok(Some(row)) => {
                    Checkpoint::decode(&row.content).map_err(|error| error.to_string())
                }
                Err(cause) => Err(cause),
            };
            self.rows = self.rows.saturating_add(1);
            let last = self.checkpoints.last().map_or(0, |last| last.seq);
            let end = self.heads.len();
            match read {
                // A checkpoint behind the records that were read describes records that are lost:
                // its bodies must not appear as a state.
                Ok(at) if at.seq > last && at.parent_seq <= last && at.seq <= end => {
                    self.checkpoints.push(at);
                }
                Ok(_) => {
                    let cause = "out of order".to_owned();
                    return self.hurt_copy(format!("checkpoint {number}"), cause);
                }
                Err(cause) => return self.hurt_copy(format!("checkpoint {number}"), cause),
            }
        }
    }

    fn read_tail(&mut self, source: &RowSource) {
        let rows = match source.tail() {
            Ok(rows) => rows,
            Err(cause) => return self.hurt("the tail".to_owned(), cause),
        };
        let mut expected = rows.first().map_or(0, |(key, _)| *key);
        for (key, row) in rows {
            self.rows = self.rows.saturating_add(1);
            self.tail_bytes = self.tail_bytes.saturating_add(len64(row.content.len()));
            let place = format!("tail row {key}");
            // In an intact database, commits have consecutive keys. In salvaged rows any of them
            // may be lost, and `take` names the hole.
            if key != expected && !source.is_salvaged() {
                self.hurt(place, format!("tail row {expected} is missing"));
                return;
            }
            expected = key.saturating_add(1);
            self.next_commit = expected;
            let taken = TailRow::decode(&row.content)
                .map_err(|error| error.to_string())
                .and_then(|tail| self.take_tail(tail, row.writer, source.is_salvaged()));
            if let Err(cause) = taken {
                self.hurt(place, cause);
                if !source.is_salvaged() {
                    // Later rows are encoded against it.
                    return;
                }
            }
        }
    }

    fn take_tail(&mut self, row: TailRow, writer: u32, is_salvaged: bool) -> Result<(), String> {
        if is_salvaged && row.start.record < self.heads.len() {
            // An old copy: its records are sealed.
            return Ok(());
        }
        let bodies =
            Bodies::decode(row.bodies, BodyCounts::UNKNOWN).map_err(|error| error.to_string())?;
        let blobs =
            u32::try_from(bodies.blob_count()).map_err(|_too_many| "too many texts".to_owned())?;
        let source = BlockSource::Tail(Arc::new(bodies));
        let index = IndexColumns::decode(row.index).map_err(|error| error.to_string())?;
        let block = (self.next_block, writer);
        self.take(block, row.start, blobs, &index, source)
    }

    /// Marks the records in front of a block that are missing, and names the damage; `next` is the time of its first
    /// record.
    fn close_hole(&mut self, end: u64, next: Option<Stamp>) {
        let first = self.heads.len();
        let loss = if first < end {
            Loss::Records {
                first: Seq(first),
                last: Some(Seq(end.saturating_sub(1))),
            }
        } else {
            Loss::Nothing
        };
        // Rows are missing without a damaged place that explains it, such as lost rows at the end
        // of the directory.
        if loss != Loss::Nothing && self.open_damage.is_empty() {
            self.hurt("the directory".to_owned(), "rows are missing".to_owned());
        }
        self.settle(loss);
        self.heads.lose_until(end, next);
    }

    /// Adds the index of one block.
    fn take(
        &mut self,
        (number, writer): (u32, u32),
        start: SegmentStart,
        blobs: u32,
        index: &IndexColumns,
        source: BlockSource,
    ) -> Result<(), String> {
        let known = len64(self.objects.len());
        // Overlapping blocks would number records twice: an event must not be read twice.
        if start.record < self.heads.len() || u64::from(start.object) < known {
            return Err("it begins before the block in front of it ends".to_owned());
        }
        // Damage before it leaves a hole; a hostile row must not make the hole large.
        let hole = start.record - self.heads.len();
        let places = len64(self.damage.len()).saturating_add(len64(self.open_damage.len()));
        let most = places.saturating_mul(64 * 1024).saturating_add(self.hole);
        if hole > most || u64::from(start.object) - known > most || start.record > MAX_ITEMS {
            return Err(format!("it begins at record {}", start.record));
        }
        let objects = index.new_objects().map_err(|error| error.to_string())?;
        let resource_of = |object: ObjectId| match object.0.checked_sub(start.object) {
            Some(new) => objects.get(place32(new)).map(|key| key.resource),
            None => Some(self.objects.resource(object).unwrap_or(LOST_RESOURCE)),
        };
        let connections = index.connections(resource_of, |resource| resource == LOST_RESOURCE);
        let connections = connections.map_err(|error| error.to_string())?;
        let count = u32::try_from(index.kinds.len()).map_err(|_too_many| "too many records")?;
        let new_objects =
            u32::try_from(objects.len()).map_err(|_too_many| "too many objects".to_owned())?;
        let events = connections.len();
        if let BlockSource::Tail(bodies) = &source
            // Checked here, so that later reads of a body can rely on one entry for each event.
            && bodies.len() != events
        {
            return Err(format!("{} bodies for {events} events", bodies.len()));
        }
        // The prefix of a group has no record whose time would bound that of the lost ones: the block behind it
        // closes the hole.
        if !index.kinds.is_empty() {
            self.close_hole(start.record, index.stamps.first().copied());
        }
        let unnamed = ObjectKeyRef {
            resource: LOST_RESOURCE,
            namespace: "",
            name: "",
            uid: UidRef::new(""),
        };
        // The names of these objects were in the lost block. Placeholders keep the numbers of later
        // objects right.
        for _ in (0..start.object).skip(self.objects.len()) {
            self.objects.push(unnamed);
        }
        for key in objects {
            self.objects.push(key);
        }
        self.blocks.push(Block {
            number,
            start,
            records: count,
            blobs,
            objects: new_objects,
            source,
            writer,
        });
        let first = self.heads.notes.len();
        self.heads.push_block(index, &connections);
        let places = self.heads.notes.iter().skip(first);
        for (seq, bytes) in places.map(|place| Seq(*place)).zip(index.notes()) {
            let stamp = self.heads.stamp(seq).unwrap_or_default();
            match record::decode::<Note>(bytes) {
                Ok(note) => self.notes.push(NoteEntry { seq, stamp, note }),
                Err(error) => self.damage.push(Damage {
                    place: format!("note {seq}"),
                    cause: error.to_string(),
                    loss: Loss::Records {
                        first: seq,
                        last: Some(seq),
                    },
                }),
            }
        }
        Ok(())
    }
}

/// The content of a record, according to the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Note,
    Lost,
    Event(ObjectId),
}

/// The heads of all records, by column: a record uses about a quarter of the bytes of its numbers.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// Wall times, mapped to numbers of the same order: see [`ordered`].
    walls: PackedColumn,
    /// The distance of the steady clock to the wall clock, wrapping: it rarely changes.
    skews: PackedColumn,
    /// [`NOTE`], [`LOST`], or [`FIRST_OBJECT`] plus the number of an object.
    objects: PackedColumn,
    connections: PackedColumn,
    versions: PackedColumn,
    /// The type and evidence of an event, encoded as in an index.
    kinds: PackedColumn,
    odd_versions: BTreeMap<u64, String>,
    /// The records that are notes.
    notes: Vec<u64>,
    /// Where records were lost.
    pub(crate) lost: Vec<(u64, u64)>,
    events: u64,
    /// The events of each group of records.
    groups: Vec<GroupEvents>,
    /// The earliest wall time of each [`RUN`] of records.
    run_lows: Vec<i64>,
    last: HeadNumbers,
}

/// The numbers of a record. A record without such a number repeats that of the record before it, so
/// that it does not widen the column.
#[derive(Clone, Copy, Debug, Default)]
struct HeadNumbers {
    stamp: Stamp,
    connection: u32,
    version: u64,
    kind: u8,
}

/// When the events of a group of records were received, and how many there are.
#[derive(Clone, Copy, Debug)]
struct GroupEvents {
    earliest: i64,
    latest: i64,
    count: u64,
}

impl GroupEvents {
    const NONE: Self = Self {
        earliest: i64::MAX,
        latest: i64::MIN,
        count: 0,
    };

    fn push(&mut self, wall: i64) {
        self.earliest = wall.min(self.earliest);
        self.latest = wall.max(self.latest);
        self.count += 1;
    }
}

/// How many records share one of the finer minima; a group has whole runs.
const RUN: usize = 64;

/// Marks a note in the column of object numbers.
const NOTE: u64 = 0;
/// Marks a lost record in the column of object numbers.
const LOST: u64 = 1;
/// The value of the first object's number.
const FIRST_OBJECT: u64 = 2;

/// The sign bit of a time.
const SIGN: u64 = 1 << 63;

/// Maps a time to a number of the same order.
const fn ordered(micros: i64) -> u64 {
    micros.cast_unsigned() ^ SIGN
}

/// The inverse of [`ordered`].
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

    /// Marks records up to `end` as lost; `next` is the time of the record behind them.
    pub(crate) fn lose_until(&mut self, end: u64, next: Option<Stamp>) {
        let start = self.len();
        if start >= end {
            return;
        }
        // Where no record is before them, the one behind them bounds their time.
        if let Some(next) = next.filter(|_| start == 0) {
            self.last.stamp = next;
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
            self.groups.push(GroupEvents::NONE);
        }
        if self.objects.len().is_multiple_of(RUN) {
            self.run_lows.push(i64::MAX);
        }
        if object >= FIRST_OBJECT {
            if let Some(group) = self.groups.last_mut() {
                group.push(wall);
            }
            if let Some(low) = self.run_lows.last_mut() {
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

    /// Appends the records of a block; each event has a connection.
    fn push_block(&mut self, index: &IndexColumns, connections: &[ConnectionId]) {
        let first = self.events;
        let mut events = index.objects.iter().zip(connections).zip(&index.versions);
        let mut odd = index.odd_versions.iter().peekable();
        for (kind, stamp) in index.kinds.iter().zip(&index.stamps) {
            let event = (*kind != index::NOTE).then(|| events.next()).flatten();
            let Some(((object, connection), version)) = event else {
                self.notes.push(self.len());
                let stamp = *stamp;
                self.put(NOTE, HeadNumbers { stamp, ..self.last });
                continue;
            };
            let place = self.events - first;
            if let Some((_, text)) = odd.next_if(|(odd, _)| len64(*odd) == place) {
                self.odd_versions.insert(self.len(), text.clone());
            }
            self.events = self.events.saturating_add(1);
            let numbers = HeadNumbers {
                stamp: *stamp,
                connection: connection.0,
                version: *version,
                kind: *kind,
            };
            self.put(u64::from(object.0) + FIRST_OBJECT, numbers);
        }
    }

    /// Returns the number of notes between two records, the first of them included.
    pub(crate) fn notes_between(&self, from: u64, to: u64) -> usize {
        let below = |end: u64| self.notes.partition_point(|note| *note < end);
        below(to).saturating_sub(below(from))
    }

    fn place(seq: Seq) -> usize {
        // A number that memory cannot index is beyond the last record.
        usize::try_from(seq.0).unwrap_or(usize::MAX)
    }

    fn slot_at(&self, place: usize) -> Option<Slot> {
        self.objects.get(place).map(slot_of)
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
        Some(Stamp::from_micros(
            wall,
            wall.cast_unsigned().wrapping_add(skew),
        ))
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
    /// A note may be written long after the time that it describes; such a note must not move
    /// events behind its time.
    pub(crate) fn seq_after(&self, at: RecordedAt) -> Seq {
        let is_by_then = |place: usize| self.wall_at(place).is_some_and(|wall| wall <= at.micros);
        let is_event = |place: usize| matches!(self.slot_at(place), Some(Slot::Event(_)));
        let reaches = |low: Option<&i64>| low.is_some_and(|low| *low <= at.micros);
        // Arrival times can step back, so the search runs from the end, a group at a time.
        let groups = self.groups.iter().enumerate().rev();
        let runs = groups
            .filter(|(_, events)| reaches(Some(&events.earliest)))
            .flat_map(|(group, _)| (group * GROUP / RUN..(group + 1) * GROUP / RUN).rev());
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

    /// Returns the earliest and the latest time of an event.
    pub(crate) fn event_span(&self) -> Option<(RecordedAt, RecordedAt)> {
        let groups = || self.groups.iter().filter(|events| events.count > 0);
        let earliest = groups().map(|events| events.earliest).min()?;
        let latest = groups().map(|events| events.latest).max()?;
        Some((
            RecordedAt::from_micros(earliest),
            RecordedAt::from_micros(latest),
        ))
    }

    /// Counts the events that were received in a time, in slices of it; those behind the last slice are left out.
    ///
    /// Of a group of records in one slice no time is read, nor of one outside of them.
    pub(crate) fn count_events(&self, within: Range<i64>, slice_micros: u64, counts: &mut [u64]) {
        let slice_of = |wall: i64| {
            let into = wall.wrapping_sub(within.start).cast_unsigned();
            usize::try_from(into / slice_micros.max(1)).ok()
        };
        for (group, events) in self.groups.iter().enumerate() {
            if events.count == 0 || events.latest < within.start || events.earliest >= within.end {
                continue;
            }
            let mut add = |slice: Option<usize>, events: u64| {
                if let Some(count) = slice.and_then(|slice| counts.get_mut(slice)) {
                    *count = count.saturating_add(events);
                }
            };
            let is_inside = events.earliest >= within.start && events.latest < within.end;
            let first = slice_of(events.earliest);
            if is_inside && first == slice_of(events.latest) {
                add(first, events.count);
                continue;
            }
            let walls = self.walls.group(group).map(time_of);
            for (object, wall) in self.objects.group(group).zip(walls) {
                if object >= FIRST_OBJECT && within.contains(&wall) {
                    add(slice_of(wall), 1);
                }
            }
        }
    }

    /// Returns the content of all records in order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.objects.iter().map(slot_of)
    }
}

/// Reads a number of the column of objects.
#[expect(
    clippy::expect_used,
    reason = "only a number of 32 bits is added to the first object's"
)]
fn slot_of(number: u64) -> Slot {
    match number {
        NOTE => Slot::Note,
        LOST => Slot::Lost,
        object => {
            let object = u32::try_from(object - FIRST_OBJECT);
            Slot::Event(ObjectId(object.expect("an object's number")))
        }
    }
}
