//! The end of a recording: a compact copy replaces the file, after the copy is durable.

use super::append::{Appender, open_database};
use super::backend::Exclusive;
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
use std::path::{Path, PathBuf};

/// What a finished reel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishStats {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// How many records the reel holds.
    pub records: u64,
}

/// A recording that has ended in order and is not packed yet: the file stands complete and marked as
/// finished, only larger than it need be.
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
    /// Ends the recording in order: seals what is open, marks the file finished, and puts a compact
    /// copy in its place.
    ///
    /// # Errors
    ///
    /// If the last records cannot be written, or the copy cannot. In the second case the file stands
    /// complete and marked as finished, only larger.
    pub fn finish(self) -> Result<FinishStats, FinishError> {
        self.end()?.pack()
    }

    /// Ends the recording in order, and leaves it to the caller whether it is packed.
    ///
    /// # Errors
    ///
    /// If the last records cannot be written.
    pub fn end(self) -> Result<Sealed, AppendError> {
        self.end_as(true)
    }

    /// Seals what is open. The file is marked as one of a recording that ended in order only if it did.
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
    /// Returns what the file is as it stands.
    pub fn stats(&self) -> FinishStats {
        FinishStats {
            file_bytes: self.lock.file_bytes(),
            records: self.records,
        }
    }

    /// Leaves the file as it stands.
    pub fn leave(self) -> FinishStats {
        self.stats()
    }

    /// Puts a compact copy in the file's place.
    ///
    /// # Errors
    ///
    /// If the copy cannot be written. The file stands as it was.
    pub fn pack(self) -> Result<FinishStats, FinishError> {
        let Self {
            path,
            database,
            lock,
            records,
        } = self;
        let copy = copy_path(&path);
        let failed = |cause: String| FinishError::Copy {
            path: copy.clone(),
            cause,
        };
        // A copy that a killed finish left behind is nobody's.
        match std::fs::remove_file(&copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error.to_string()));
            }
            _ => {}
        }
        let outcome = match &database {
            Some(database) => pack(database, &copy),
            None => Err("the database is gone".to_owned()),
        }
        .and_then(|file_bytes| {
            std::fs::rename(&copy, &path).map_err(|error| error.to_string())?;
            sync_folder(&path);
            Ok(file_bytes)
        });
        drop(database);
        drop(lock);
        match outcome {
            Ok(file_bytes) => Ok(FinishStats {
                file_bytes,
                records,
            }),
            Err(cause) => {
                drop(std::fs::remove_file(&copy));
                Err(failed(cause))
            }
        }
    }
}

/// Returns the path of the copy: beside the file, so that renaming it is one step.
fn copy_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

/// Puts a complete and durable file in another's place.
pub(crate) fn replace(new: &Path, old: &Path) -> std::io::Result<()> {
    std::fs::rename(new, old)?;
    sync_folder(old);
    Ok(())
}

/// Makes the new name durable where the system offers it; elsewhere the rename alone must do.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = std::fs::File::open(folder.unwrap_or(Path::new("."))) {
        drop(folder.sync_all());
    }
}

/// Copies every row into a new file.
fn pack(from: &Database, copy: &Path) -> Result<u64, String> {
    let backend = Exclusive::create(copy).map_err(|error| error.to_string())?;
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
        // The database grows its file in steps; this gives back what it does not use.
        to.compact()?;
        Ok(())
    })?;
    drop(to);
    Ok(backend.file_bytes())
}

/// Copies the blocks: the directory's row of each behind the extents that hold it, so that what lies before a place
/// of the file can be read without what lies behind it.
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
