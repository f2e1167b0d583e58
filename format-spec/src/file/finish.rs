//! The end of a recording: a compact copy replaces the file after the copy is durable.
//!
//! Invariants: the file is complete and marked as finished before it is copied, and the copy is
//! durable before it is renamed. A kill at any point leaves one complete file.

use super::append::{Appender, open_database};
use super::backend::{Exclusive, FileIdentity, keep_access};
use crate::error::{AppendError, FinishError};
use crate::file::backend::{PanicFence, fenced};
use crate::file::parity;
use crate::file::row::content_of;
use crate::file::segment::BlockPlace;
use crate::file::tables;
use crate::limits::{EXTENT, len64};
use redb::{
    Database, ReadTransaction, ReadableDatabase as _, ReadableTable as _, WriteTransaction,
};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The result of finishing a reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishStats {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// The number of records in the reel.
    pub records: u64,
}

/// A recording that ended in order and is not packed yet: the file is complete and marked as
/// finished, but larger than necessary.
#[must_use = "the file is locked until it is packed or left as it is"]
pub struct Sealed {
    path: PathBuf,
    database: Option<PanicFence<Database>>,
    lock: Exclusive,
    records: u64,
}

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealed")
            .field("path", &self.path)
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

impl Appender {
    /// Ends the recording in order: seals the open segment, marks the file as finished, and
    /// replaces it by a compact copy.
    ///
    /// # Errors
    ///
    /// If the last records cannot be written, or the copy cannot. In the second case the file is
    /// complete and marked as finished, but larger.
    pub fn finish(self) -> Result<FinishStats, FinishError> {
        self.end()?.pack()
    }

    /// Ends the recording in order; the caller decides whether it is packed.
    ///
    /// # Errors
    ///
    /// If the last records cannot be written.
    pub fn end(self) -> Result<Sealed, AppendError> {
        self.end_as(true)
    }

    /// Seals the open segment. Only a recording that ended in order is marked as such.
    pub(crate) fn end_as(mut self, finished: bool) -> Result<Sealed, AppendError> {
        self.write_state(finished)?;
        let records = self.next_seq().0;
        let (path, database, lock) = self.into_parts();
        Ok(Sealed {
            path,
            database,
            lock,
            records,
        })
    }
}

impl Sealed {
    /// Returns the result without packing.
    pub fn stats(&self) -> FinishStats {
        FinishStats {
            file_bytes: self.lock.file_bytes(),
            records: self.records,
        }
    }

    /// Checks that the file was not deleted meanwhile.
    ///
    /// # Errors
    ///
    /// If it was.
    pub fn check_kept(&self) -> Result<(), FinishError> {
        if self.lock.is_deleted() {
            let path = self.path.clone();
            return Err(FinishError::Deleted { path });
        }
        Ok(())
    }

    /// Leaves the file unpacked.
    pub fn leave(self) -> FinishStats {
        self.stats()
    }

    /// Replaces the file by a compact copy.
    ///
    /// # Errors
    ///
    /// If the copy cannot be written. The file is unchanged then.
    pub fn pack(self) -> Result<FinishStats, FinishError> {
        let Self {
            path,
            database,
            lock,
            records,
        } = self;
        let moved = || FinishError::Moved { path: path.clone() };
        let facts = lock.facts().map_err(|_unknown| moved())?;
        let identity = FileIdentity::of(&facts);
        // The copy's name is that of the recorder whose file has this name now.
        if !identity.has_name(&path) {
            return Err(moved());
        }
        let copy = copy_path(&path);
        let failed = |cause: String| FinishError::Copy {
            path: copy.clone(),
            cause,
        };
        // A copy that a killed finish left behind belongs to no process.
        match std::fs::remove_file(&copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error.to_string()));
            }
            _ => {}
        }
        let outcome = match &database {
            Some(database) => pack(database, &copy, &facts),
            None => Err("the database is gone".to_owned()),
        }
        .map_err(failed)
        .and_then(|file_bytes| {
            let replaced = replace(&copy, &path, identity);
            match replaced.map_err(|error| failed(error.to_string()))? {
                Replacement::Done => Ok(FinishStats {
                    file_bytes,
                    records,
                }),
                Replacement::Moved => Err(moved()),
            }
        });
        drop(database);
        drop(lock);
        if outcome.is_err() {
            drop(std::fs::remove_file(&copy));
        }
        outcome
    }
}

/// Returns the path of the copy: in the same folder, so that renaming is atomic.
fn copy_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

/// The outcome of replacing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Replacement {
    /// It has taken its place.
    Done,
    /// The path names another file by now, or none: nothing was replaced.
    Moved,
}

/// Renames a complete file to the name of the file that it was made of, which is still open. If that file was moved,
/// its name may be that of another one, which must not be lost.
pub(crate) fn replace(
    new: &Path,
    old: &Path,
    identity: FileIdentity,
) -> std::io::Result<Replacement> {
    if !identity.has_name(old) {
        return Ok(Replacement::Moved);
    }
    std::fs::rename(new, old)?;
    sync_folder(old);
    Ok(Replacement::Done)
}

/// Syncs the folder where the system supports it; elsewhere the rename alone must suffice.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = std::fs::File::open(folder.unwrap_or(Path::new("."))) {
        drop(folder.sync_all());
    }
}

/// Copies every row into a new file.
fn pack(from: &Database, copy: &Path, facts: &Metadata) -> Result<u64, String> {
    let backend = Exclusive::create(copy).map_err(|error| error.to_string())?;
    // Before anything is in it that others must not read.
    keep_access(copy, facts).map_err(|error| error.to_string())?;
    let mut to = open_database(backend.clone())?;
    fenced(|| -> Result<(), redb::Error> {
        let read = from.begin_read()?;
        let write = to.begin_write()?;
        {
            let mut table = write.open_table(tables::META)?;
            for row in read.open_table(tables::META)?.iter()? {
                let (key, value) = row?;
                table.insert(key.value(), value.value())?;
            }
            copy_blocks(&read, &write)?;
            let mut table = write.open_table(tables::CHECKPOINTS)?;
            for row in read.open_table(tables::CHECKPOINTS)?.iter()? {
                let (key, value) = row?;
                table.insert(key.value(), value.value())?;
            }
            write.open_table(tables::TAIL)?;
            parity::write(&read, &write)?;
        }
        write.commit()?;
        // The database grows its file in steps; this releases the unused part.
        to.compact()?;
        Ok(())
    })?;
    drop(to);
    Ok(backend.file_bytes())
}

/// Copies the blocks: the directory row of each behind its extents, so that everything before a cut
/// can be read without what follows it.
fn copy_blocks(read: &ReadTransaction, write: &WriteTransaction) -> Result<(), redb::Error> {
    let mut to_directory = write.open_table(tables::DIRECTORY)?;
    let mut streams = Vec::new();
    for stream in [tables::EXTENTS, tables::INDEXES] {
        let rows = read.open_table(stream)?.range(0..)?;
        streams.push((rows, write.open_table(stream)?));
    }
    let mut copied = [0, 0];
    for row in read.open_table(tables::DIRECTORY)?.iter()? {
        let (key, value) = row?;
        let place = BlockPlace::decode(content_of(value.value()));
        let spans = place.map(|place| [place.bodies, place.index]);
        for (((rows, to), done), span) in streams
            .iter_mut()
            .zip(&mut copied)
            .zip(spans.unwrap_or_default())
        {
            let end = span.offset.saturating_add(u64::from(span.len));
            while *done < end.div_ceil(len64(EXTENT))
                && let Some(row) = rows.next()
            {
                let (key, value) = row?;
                to.insert(key.value(), value.value())?;
                *done = key.value().saturating_add(1);
            }
        }
        to_directory.insert(key.value(), value.value())?;
    }
    for (rows, to) in &mut streams {
        for row in rows {
            let (key, value) = row?;
            to.insert(key.value(), value.value())?;
        }
    }
    Ok(())
}
