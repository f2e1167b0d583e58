//! Owns the reading of the directory and the tail into memory. Refuses to stop at damage: what is
//! lost is named, the rest is read.

use super::checkpoint::Checkpoint;
use super::directory::{self, Place};
use super::extents;
use super::guard::fenced;
use super::heads::Heads;
use super::segment::{Start, TailRow};
use crate::codec::bodies::{Bodies, BodyCounts};
use crate::codec::{frame, index, record};
use crate::error::Damage;
use crate::event::ObjectKey;
use crate::id::{ObjectId, ResourceId, Seq};
use crate::limits::{MAX_BLOCK_RAW, MAX_ITEMS, MAX_RECORD};
use crate::note::{Note, NoteEntry};
use crate::tables;
use redb::{ReadTransaction, ReadableTable as _, ReadableTableMetadata as _};
use std::sync::Arc;

/// What stands for the resource of an object that damage took.
pub(crate) const LOST_RESOURCE: ResourceId = ResourceId(u32::MAX);

/// Where a block's bodies are.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In the extents.
    Sealed(Place),
    /// In memory: they came with a tail row.
    Tail(Arc<Bodies>),
}

/// A block, sealed or not.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The number of a sealed block.
    pub(crate) number: u32,
    pub(crate) start: Start,
    pub(crate) records: u32,
    pub(crate) blobs: u32,
    pub(crate) source: Source,
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
        let most = u32::try_from(count.saturating_mul(2).saturating_add(1024)).unwrap_or(u32::MAX);
        let end = last.map_or(0, |last| last.saturating_add(1)).min(most);
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
            let taken = directory::decode(row)
                .map_err(|error| error.to_string())
                .and_then(|at| {
                    let packed = extents::read(&indexes, at.index, || self.rows += 1)?;
                    self.index_bytes = self.index_bytes.saturating_add(len64(&packed));
                    let index = frame::unpack(&packed, &[], MAX_BLOCK_RAW + MAX_RECORD)
                        .map_err(|error| error.to_string())?;
                    let source = Source::Sealed(at);
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
            self.tail_bytes = self.tail_bytes.saturating_add(len64(&row));
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
                    let blobs = u32::try_from(bodies.blob_count()).unwrap_or(u32::MAX);
                    let source = Source::Tail(Arc::new(bodies));
                    self.take(self.next_block, row.start, blobs, &row.index, source)
                });
            if let Err(cause) = taken {
                // What follows is told against it.
                return self.hurt(place, cause);
            }
        }
    }

    /// Takes one block's index in.
    fn take(
        &mut self,
        number: u32,
        start: Start,
        blobs: u32,
        index: &[u8],
        source: Source,
    ) -> Result<(), String> {
        let known = u64::try_from(self.objects.len()).unwrap_or(u64::MAX);
        if start.record < self.heads.len() || u64::from(start.object) < known {
            return Err("it begins before the block in front of it ends".to_owned());
        }
        // Damage in front leaves a hole; a hostile row must not make it large.
        let hole = start.record - self.heads.len();
        let most = 64 * 1024 * u64::try_from(self.damage.len()).unwrap_or(0);
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
        let events = records
            .iter()
            .filter(|record| matches!(record.content, index::Content::Event { .. }))
            .count();
        if let Source::Tail(bodies) = &source
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
        let missing = usize::try_from(start.object).unwrap_or(usize::MAX);
        self.objects.resize_with(missing, || ObjectKey {
            resource: LOST_RESOURCE,
            namespace: String::new(),
            name: String::new(),
            uid: String::new(),
        });
        self.objects.extend(objects);
        self.blocks.push(Block {
            number,
            start,
            records: u32::try_from(records.len()).unwrap_or(u32::MAX),
            blobs,
            source,
        });
        for record in records {
            self.take_record(record);
        }
        Ok(())
    }

    fn take_record(&mut self, record: index::Record) {
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

fn len64(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
