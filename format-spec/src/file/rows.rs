//! The rows of a reel that is read: from its database, or from the raw bytes of a file with a
//! damaged database.
//!
//! Invariants:
//! * A row is returned without its header. From the database of a damaged file, only rows without a
//!   header are taken: rows with one are found in the raw bytes too, where their checksum is
//!   compared.
//! * Numbers in the file do not bound loops: see [`RowSource::directory_end`].

use crate::codec::frame;
use crate::file::backend::{PanicFence, fenced};
use crate::file::origin::FileOrigin;
use crate::file::row::{RowHeader, RowKind, RowOwner, content_of};
use crate::file::salvage::{FoundRow, Salvage};
use crate::file::segment::{FrameSpan, rows_of};
use crate::file::tables;
use crate::limits::place32;
use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableTable as _, ReadableTableMetadata as _,
};

use std::collections::BTreeSet;

type Rows<K> = Result<ReadOnlyTable<K, &'static [u8]>, String>;

/// The rows of a reel.
pub(crate) struct RowSource {
    database: Option<OpenTables>,
    salvage: Option<Salvage>,
    /// Whether the file has no database and is whole.
    is_sealed: bool,
}

/// The tables of a database.
struct OpenTables {
    bodies: Rows<u64>,
    indexes: Rows<u64>,
    directory: Rows<u32>,
    checkpoints: Rows<u32>,
    tail: Rows<u64>,
    meta: Rows<&'static str>,
    /// Declared last, so that it outlives the tables.
    _database: PanicFence<Database>,
}

/// A row without its header.
#[derive(Clone, Debug)]
pub(crate) struct RowContent {
    pub(crate) content: Vec<u8>,
    /// Its writer, in a damaged file.
    pub(crate) writer: u32,
}

impl RowSource {
    /// Reads rows from a database.
    pub(crate) fn of_database(
        database: PanicFence<Database>,
        transaction: &ReadTransaction,
    ) -> Self {
        Self {
            database: Some(OpenTables {
                bodies: fenced(|| transaction.open_table(tables::EXTENTS)),
                indexes: fenced(|| transaction.open_table(tables::INDEXES)),
                directory: fenced(|| transaction.open_table(tables::DIRECTORY)),
                checkpoints: fenced(|| transaction.open_table(tables::CHECKPOINTS)),
                tail: fenced(|| transaction.open_table(tables::TAIL)),
                meta: fenced(|| transaction.open_table(tables::META)),
                _database: database,
            }),
            salvage: None,
            is_sealed: false,
        }
    }

    /// Reads rows that were found in the raw bytes, and rows without a header from the database.
    pub(crate) fn of_damaged(database: Option<Self>, salvage: Salvage) -> Self {
        Self {
            database: database.and_then(|source| source.database),
            salvage: Some(salvage),
            is_sealed: false,
        }
    }

    /// Reads rows of a whole file without a database.
    pub(crate) fn of_sealed(salvage: Salvage) -> Self {
        Self {
            database: None,
            salvage: Some(salvage),
            is_sealed: true,
        }
    }

    /// Returns whether rows come from the raw bytes of a damaged file.
    pub(crate) fn is_salvaged(&self) -> bool {
        self.salvage.is_some() && !self.is_sealed
    }

    /// Returns whether rows come from a whole file without a database.
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Returns the owner in the database.
    pub(crate) fn owner(&self) -> Option<RowOwner> {
        let row = self.meta(tables::OWNER_KEY).ok()??;
        RowHeader::read(&row).map(|header| header.owner)
    }

    /// Returns the identity of the last writer; nothing if that cannot be read.
    pub(crate) fn origin(&self) -> FileOrigin {
        let found = self.salvage.as_ref().and_then(|salvage| {
            let row = salvage.rows(RowKind::Owner, 0).first();
            salvage
                .read(*row.filter(|row| row.is_whole)?, 0, usize::MAX)
                .ok()
        });
        let content = found.or_else(|| {
            let row = self.meta(tables::OWNER_KEY).ok()??;
            Some(content_of(&row).to_vec())
        });
        content
            .and_then(|content| FileOrigin::decode(&content).ok())
            .unwrap_or_default()
    }

    /// Returns a raw row of the meta table.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(tables) = &self.database else {
            return Ok(None);
        };
        let table = tables.meta.as_ref().map_err(Clone::clone)?;
        fenced(|| Ok::<_, redb::Error>(table.get(key)?.map(|row| row.value().to_vec())))
    }

    /// Returns the state row.
    pub(crate) fn state(&self) -> Result<Option<Vec<u8>>, String> {
        let state = |row: &[u8]| content_of(row).to_vec();
        match &self.salvage {
            None => Ok(self.meta(tables::STATE_KEY)?.as_deref().map(state)),
            Some(salvage) => {
                let best = salvage.rows(RowKind::State, 0).first();
                // A reel that was resumed is no longer finished.
                let best = best.filter(|row| row.writer >= salvage.last_writer());
                if let Some(row) = best {
                    return salvage.read(*row, 0, usize::MAX).map(Some);
                }
                let row = self.meta(tables::STATE_KEY).ok().flatten();
                let row = row.filter(|row| RowHeader::read(row).is_none());
                Ok(row.as_deref().map(state))
            }
        }
    }

    /// Returns a number behind the last row of the directory. A hostile number does not make a loop
    /// long.
    pub(crate) fn directory_end(&self) -> Result<u32, String> {
        let of_database = self.database.as_ref().map(|tables| {
            let table = tables.directory.as_ref().map_err(Clone::clone)?;
            fenced(|| {
                let count = table.len()?;
                let last = table.last()?.map(|(key, _)| key.value());
                // The last key alone could be any number; the count of rows bounds it.
                let most = count.saturating_mul(2).saturating_add(1024);
                let end = last.map_or(0, |last| last.saturating_add(1));
                Ok::<_, redb::Error>(u32::try_from(most).map_or(end, |most| end.min(most)))
            })
        });
        let Some(salvage) = &self.salvage else {
            return of_database.unwrap_or(Ok(0));
        };
        let mut end = of_database.and_then(Result::ok).unwrap_or(0);
        let mut count = 0u32;
        let numbers: BTreeSet<u64> = salvage
            .numbers(RowKind::Directory)
            .chain(salvage.numbers(RowKind::Block))
            .collect();
        for number in numbers {
            count = count.saturating_add(1);
            // Damage loses rows in places, not by the million.
            let most = count.saturating_mul(2).saturating_add(1 << 16);
            if let Ok(number) = u32::try_from(number)
                && number < most.max(end)
            {
                end = end.max(number.saturating_add(1));
            }
        }
        Ok(end)
    }

    /// Returns whether the database names the same last rows as were read, so that no row follows
    /// them.
    pub(crate) fn names_end(&self, next_block: u32, next_commit: u64) -> bool {
        let Some(tables) = &self.database else {
            return false;
        };
        let (Ok(directory), Ok(tail)) = (&tables.directory, &tables.tail) else {
            return false;
        };
        let last = fenced(|| {
            let block = directory.last()?.map(|(key, _)| key.value());
            Ok::<_, redb::Error>((block, tail.last()?.map(|(key, _)| key.value())))
        });
        last.is_ok_and(|(block, commit)| {
            block.map_or(0, |block| block.saturating_add(1)) == next_block
                && commit.is_none_or(|commit| commit.saturating_add(1) == next_commit)
        })
    }

    /// Returns a row of the directory.
    pub(crate) fn directory(&self, number: u32) -> Result<Option<RowContent>, String> {
        let row = self.row(RowKind::Directory, number, |tables| &tables.directory);
        match row {
            // While a reel is recorded, each block has a second copy of its directory row.
            Ok(None) | Err(_) if self.is_salvaged() => {
                Ok(self.block_copy(number).map(|(row, _)| row))
            }
            row => row,
        }
    }

    /// Returns the copy of a block's directory row, and the frame of its index, of a damaged file.
    pub(crate) fn block_copy(&self, number: u32) -> Option<(RowContent, Vec<u8>)> {
        let salvage = self.salvage.as_ref()?;
        let found = salvage.rows(RowKind::Block, u64::from(number)).first()?;
        let content = salvage.read(*found, 0, usize::MAX).ok()?;
        let [directory, index] = frame::split_columns(&content, "a block's copy").ok()?;
        let row = RowContent {
            content: directory.to_vec(),
            writer: found.writer,
        };
        Some((row, index.to_vec()))
    }

    /// Returns the row of a checkpoint. In a damaged file that was resumed, checkpoint rows may
    /// describe records that are not in it, and are left out.
    pub(crate) fn checkpoint(&self, number: u32) -> Result<Option<RowContent>, String> {
        match &self.salvage {
            Some(salvage) if !salvage.has_one_writer() => Ok(None),
            _ => self.row(RowKind::Checkpoint, number, |tables| &tables.checkpoints),
        }
    }

    fn row(
        &self,
        kind: RowKind,
        number: u32,
        table: impl Fn(&OpenTables) -> &Rows<u32>,
    ) -> Result<Option<RowContent>, String> {
        if let Some(salvage) = &self.salvage
            && let Some(found) = salvage.rows(kind, u64::from(number)).first()
        {
            return Ok(Some(RowContent {
                content: salvage.read(*found, 0, usize::MAX)?,
                writer: found.writer,
            }));
        }
        let Some(tables) = &self.database else {
            return Ok(None);
        };
        let table = table(tables).as_ref().map_err(Clone::clone)?;
        let row = fenced(|| {
            Ok::<_, redb::Error>(table.get(number)?.map(|row| self.of_value(row.value())))
        })?;
        Ok(row.flatten())
    }

    /// Returns a row of the database, unless it must come from the raw bytes.
    fn of_value(&self, row: &[u8]) -> Option<RowContent> {
        // The database of a damaged file may return a page with changed bytes. Rows with a header
        // are found in the raw bytes, where their checksum is compared.
        if self.is_salvaged() && RowHeader::read(row).is_some() {
            return None;
        }
        Some(RowContent {
            content: content_of(row).to_vec(),
            writer: 0,
        })
    }

    /// Returns the tail rows by number.
    pub(crate) fn tail(&self) -> Result<Vec<(u64, RowContent)>, String> {
        let mut rows = Vec::new();
        if let Some(tables) = &self.database {
            let read = fenced(|| {
                let Ok(table) = tables.tail.as_ref() else {
                    return Ok(Vec::new());
                };
                let rows = table.iter()?.map(|row| {
                    let (key, value) = row?;
                    Ok((key.value(), self.of_value(value.value())))
                });
                rows.collect::<Result<Vec<_>, redb::StorageError>>()
            });
            match read {
                Ok(read) => rows.extend(
                    read.into_iter()
                        .filter_map(|(number, row)| Some((number, row?))),
                ),
                Err(_) if self.is_salvaged() => {}
                Err(cause) => return Err(cause),
            }
            if let (Err(cause), false) = (&tables.tail, self.is_salvaged()) {
                return Err(cause.clone());
            }
        }
        if let Some(salvage) = &self.salvage {
            for number in salvage.numbers(RowKind::Tail) {
                let Some(found) = salvage.rows(RowKind::Tail, number).first() else {
                    continue;
                };
                let row = RowContent {
                    content: salvage.read(*found, 0, usize::MAX)?,
                    writer: found.writer,
                };
                rows.push((number, row));
            }
            rows.sort_by_key(|(number, _)| *number);
        }
        Ok(rows)
    }

    /// Returns a frame of the bodies.
    pub(crate) fn bodies_frame(
        &self,
        span: FrameSpan,
        writer: u32,
        count_row: impl FnMut(),
    ) -> Result<Vec<u8>, String> {
        self.frame(
            (RowKind::Bodies, |tables| &tables.bodies),
            span,
            writer,
            count_row,
        )
    }

    /// Returns a frame of the indexes.
    pub(crate) fn index_frame(
        &self,
        span: FrameSpan,
        writer: u32,
        count_row: impl FnMut(),
    ) -> Result<Vec<u8>, String> {
        self.frame(
            (RowKind::Index, |tables| &tables.indexes),
            span,
            writer,
            count_row,
        )
    }

    /// Returns a frame of a stream: `writer` wrote its place, so an extent of an earlier writer
    /// does not contain it.
    fn frame(
        &self,
        (kind, table): (RowKind, fn(&OpenTables) -> &Rows<u64>),
        span: FrameSpan,
        writer: u32,
        mut count_row: impl FnMut(),
    ) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for (row, from, to) in rows_of(span) {
            count_row();
            let salvaged = self.salvage.as_ref().map(|salvage| {
                let holds = |found: &&FoundRow| found.writer >= writer && place32(found.len) >= to;
                let mut rows = salvage.rows(kind, row).iter();
                rows.find(holds)
                    .map(|found| salvage.read(*found, from, to))
                    .transpose()
            });
            let taken = match salvaged.transpose()?.flatten() {
                Some(taken) => Some(taken),
                None => self.extent(table, row, from, to)?,
            };
            let mut taken = taken
                .filter(|taken| taken.len() == to.saturating_sub(from))
                .ok_or_else(|| format!("extent {row} is missing or short"))?;
            bytes.append(&mut taken);
        }
        Ok(bytes)
    }

    /// Returns whether all rows of a frame of the bodies are whole in a damaged file.
    pub(crate) fn is_whole(&self, span: FrameSpan, writer: u32) -> bool {
        let Some(salvage) = &self.salvage else {
            return true;
        };
        rows_of(span).all(|(row, _, to)| {
            let mut rows = salvage.rows(RowKind::Bodies, row).iter();
            rows.any(|found| found.is_whole && found.writer >= writer && place32(found.len) >= to)
        })
    }

    fn extent(
        &self,
        table: impl Fn(&OpenTables) -> &Rows<u64>,
        row: u64,
        from: usize,
        to: usize,
    ) -> Result<Option<Vec<u8>>, String> {
        let Some(tables) = &self.database else {
            return Ok(None);
        };
        let table = table(tables).as_ref().map_err(Clone::clone)?;
        fenced(|| {
            let Some(value) = table.get(row)? else {
                return Ok(None);
            };
            if self.is_salvaged() && RowHeader::read(value.value()).is_some() {
                return Ok(None);
            }
            let part = content_of(value.value()).get(from..to);
            Ok::<_, redb::Error>(part.map(<[u8]>::to_vec))
        })
    }
}
