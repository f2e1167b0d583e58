//! Owns the beginning of the writing end: a new reel, or one that is gone on with. Refuses what cannot
//! be read whole, and what another program writes.

use super::{Appender, Bounds, folder_of, open_database};
use crate::error::OpenError;
use crate::file::backend::Exclusive;
use crate::file::carry::Carried;
use crate::file::encoder::Encoder;
use crate::file::extents::Stream;
use crate::file::guard::fenced;
use crate::file::reel::Reel;
use crate::file::state;
use crate::id::ObjectId;
use crate::tables;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use std::path::Path;

impl Appender {
    /// Makes a new reel.
    ///
    /// # Errors
    ///
    /// If there is a file of that name already, or it cannot be written.
    pub fn create(path: &Path) -> Result<Self, OpenError> {
        Self::create_within(path, Bounds::default())
    }

    /// Makes a new reel that keeps its bounds.
    ///
    /// # Errors
    ///
    /// If there is a file of that name already, or it cannot be written.
    pub fn create_within(path: &Path, bounds: Bounds) -> Result<Self, OpenError> {
        let backend = Exclusive::create(path)?.bounded(bounds.file_bytes);
        let damaged = |cause: String| OpenError::Damaged {
            path: path.to_owned(),
            place: "a new file".to_owned(),
            cause,
        };
        let database = open_database(backend.clone()).map_err(damaged)?;
        fenced(|| -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            {
                let mut meta = transaction.open_table(tables::META)?;
                meta.insert(tables::FORMAT_KEY, state::format_row().as_slice())?;
                transaction.open_table(tables::TAIL)?;
                transaction.open_table(tables::EXTENTS)?;
                transaction.open_table(tables::INDEXES)?;
                transaction.open_table(tables::CHECKPOINTS)?;
                transaction.open_table(tables::DIRECTORY)?;
            }
            transaction.commit()?;
            Ok(())
        })
        .map_err(damaged)?;
        Ok(Self::over(path, backend, database, bounds))
    }

    /// Goes on with a reel, whether its recorder ended in order or was killed.
    ///
    /// # Errors
    ///
    /// If the file is no reel, cannot be written, is being written by another program, or holds
    /// damage: nothing is appended to what cannot be read.
    pub fn resume(path: &Path) -> Result<Self, OpenError> {
        Self::resume_within(path, Bounds::default())
    }

    /// Goes on with a reel that keeps its bounds: its file does not become longer than it may, or than
    /// it is if that is more.
    ///
    /// # Errors
    ///
    /// As [`Self::resume`], and if not even a new beginning fits.
    pub fn resume_within(path: &Path, bounds: Bounds) -> Result<Self, OpenError> {
        let reel = Reel::open(path)?;
        let damaged = |place: &str, cause: String| OpenError::Damaged {
            path: path.to_owned(),
            place: place.to_owned(),
            cause,
        };
        if let Some(damage) = reel.damage().first() {
            return Err(damaged(&damage.place, damage.cause.clone()));
        }
        let encoder = Encoder::new(folder_of(path), bounds.body_memory);
        let mut carried =
            Carried::read(&reel, encoder).map_err(|cause| damaged("a body", cause))?;
        drop(reel);
        let backend = Exclusive::open(path)?.bounded(bounds.file_bytes);
        let database =
            open_database(backend.clone()).map_err(|cause| damaged("the database", cause))?;
        fenced(|| stamp_format(&database)).map_err(|cause| damaged("the format", cause))?;
        let mut appender = Self::over(path, backend, database, bounds);
        appender
            .take_over(&mut carried)
            .map_err(|cause| damaged("the last blocks", cause))?;
        Ok(appender)
    }

    fn take_over(&mut self, carried: &mut Carried) -> Result<(), String> {
        for (number, key) in (0u32..).zip(&carried.objects) {
            let print = self.print(key);
            self.see(print, ObjectId(number), key.resource);
        }
        self.announced.extend(carried.resources.iter().copied());
        self.block = carried.blocks;
        self.next_commit = carried.next_commit;
        let Some(database) = &self.database else {
            return Err("the database is gone".to_owned());
        };
        self.bodies = fenced(|| resume_stream(database, tables::EXTENTS))?;
        self.indexes = fenced(|| resume_stream(database, tables::INDEXES))?;
        self.group.first = self.block;
        std::mem::swap(&mut self.segment, &mut carried.segment);
        self.checkpoints.left_out.extend(&carried.left_out);
        self.checkpoints.taken = std::mem::take(&mut carried.checkpoints);
        std::mem::swap(&mut self.encoder, &mut carried.encoder);
        if !self.segment.records.is_empty() {
            self.seal().map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Says that the file holds what this version of the format allows.
fn stamp_format(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    transaction
        .open_table(tables::META)?
        .insert(tables::FORMAT_KEY, state::format_row().as_slice())?;
    transaction.commit()?;
    Ok(())
}

/// Gives the writing end of a stream behind what the file holds of it.
fn resume_stream(
    database: &Database,
    table: TableDefinition<'_, u64, &'static [u8]>,
) -> Result<Stream, redb::Error> {
    let extents = database.begin_read()?.open_table(table)?;
    let Some((number, row)) = extents.last()? else {
        return Ok(Stream::default());
    };
    if row.value().len() >= crate::limits::EXTENT {
        return Ok(Stream::resume(number.value().saturating_add(1), Vec::new()));
    }
    Ok(Stream::resume(number.value(), row.value().to_vec()))
}
