//! Copies of a reel that another program is writing: one, or one after another as it grows.
//!
//! Invariants:
//! * The file is neither changed nor locked: its recorder is not affected.
//! * A copy is of one commit. The database writes pages that its last commit does not use, then its
//!   header: while the header is unchanged, no page of that commit changes. A pass over the whole
//!   file with the same header before and after it has therefore read that commit whole. If commits
//!   are faster than a pass, all checksums of the copy are checked instead.
//! * Each commit writes the header: while it is unchanged, there is nothing new.
//! * A copy is not changed while a reel that was opened from it is read.
//! * A reel that was being written is read from copies also after its writer has ended: a lock on
//!   the file would keep the next writer out.

use crate::error::OpenError;
use crate::file::backend::Overlay;
use crate::file::open::{self, ReelSource};
use crate::file::reel::Reel;
use crate::file::spill::unnamed;
use crate::limits::len64;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The length of the file's header.
const HEADER: usize = 4096;

/// How many bytes are compared and copied at once.
const PIECE: usize = 1 << 20;

/// The number of passes. Each but the first reads from the system's cache, and writes what changed.
const PASSES: u32 = 30;

/// The number of passes after which the checksums decide. They cost more than a pass.
const UNCHECKED: u32 = 4;

/// Returns whether another program is writing the reel, so that it cannot be opened.
pub fn is_in_use(path: &Path) -> bool {
    matches!(Overlay::open(path), Err(OpenError::InUse { .. }))
}

/// Copies a reel that is being recorded into a file that opens like the reel of a killed recorder.
///
/// # Errors
/// When a file cannot be read or written, and [`OpenError::InUse`] when the reel changes too fast.
pub fn copy_in_use(path: &Path, copy: &Path) -> Result<(), OpenError> {
    let mut from = File::open(path).map_err(io_error(path))?;
    let to = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(copy)
        .map_err(io_error(copy))?;
    copy_commit(&mut from, path, &Arc::new(Mutex::new(to)), copy)
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io { path, source }
}

/// Makes a file equal to one commit of another one.
fn copy_commit(
    from: &mut File,
    path: &Path,
    to: &Arc<Mutex<File>>,
    copy: &Path,
) -> Result<(), OpenError> {
    for pass in 0..PASSES {
        let before = header(from).map_err(io_error(path))?;
        copy_differences(from, &mut locked(to)).map_err(io_error(copy))?;
        if header(from).map_err(io_error(path))? == before {
            return Ok(());
        }
        let is_whole = || {
            let opened = open::open(ReelSource::Copy(to, path));
            opened.is_ok_and(|(opened, _)| opened.loaded.damage.is_empty())
        };
        if pass >= UNCHECKED && is_whole() {
            return Ok(());
        }
    }
    Err(OpenError::InUse {
        path: path.to_owned(),
    })
}

fn locked(file: &Mutex<File>) -> std::sync::MutexGuard<'_, File> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reel that another program is writing, opened again after each commit.
///
/// Its copies are files without a name, so none of them remains after this program ends. There is
/// one for each reel that is still read; only differences to an older copy are written.
#[derive(Debug)]
pub struct GrowingReel {
    path: PathBuf,
    folder: PathBuf,
    /// The header of the commit that was read last; empty before the first.
    header: Vec<u8>,
    copies: Vec<Arc<Mutex<File>>>,
    writer: WriterPresence,
}

/// The state of the writing program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriterPresence {
    /// Nothing yet.
    Unknown,
    /// It writes.
    There,
    /// It has ended, and its last state was read.
    Gone,
}

/// The state of a growing reel.
#[derive(Debug)]
pub enum ReelGrowth {
    /// No commit since the last reading.
    Unchanged,
    /// It is being written: a copy of the last commit.
    Grown(Reel),
    /// No program is writing it. It is finished unless its writer was killed; then another writer
    /// may resume it.
    Ended(Reel),
}

impl GrowingReel {
    /// Creates one that has read nothing. Copies lie in a folder with room for a copy of the reel.
    pub fn new(path: &Path, folder: &Path) -> Self {
        Self {
            path: path.to_owned(),
            folder: folder.to_owned(),
            header: Vec::new(),
            copies: Vec::new(),
            writer: WriterPresence::Unknown,
        }
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the next reading open the reel even without a new commit.
    pub fn forget(&mut self) {
        self.header.clear();
    }

    /// Opens the reel if there was a commit since the last time, or if its writer has ended.
    ///
    /// # Errors
    /// When the file, or a copy of it, cannot be read or written, is not a reel, or no longer
    /// exists.
    pub fn read(&mut self) -> Result<ReelGrowth, OpenError> {
        if self.writer == WriterPresence::Unknown {
            match Reel::open(&self.path) {
                Err(OpenError::InUse { .. }) => self.writer = WriterPresence::There,
                opened => return opened.map(ReelGrowth::Ended),
            }
        }
        if is_in_use(&self.path) {
            self.writer = WriterPresence::There;
            return self.read_copy();
        }
        if self.writer == WriterPresence::There {
            // The end of the recording is news even without a commit.
            self.forget();
        }
        Ok(match self.read_copy()? {
            ReelGrowth::Grown(reel) => {
                self.writer = WriterPresence::Gone;
                ReelGrowth::Ended(reel)
            }
            other => other,
        })
    }

    fn read_copy(&mut self) -> Result<ReelGrowth, OpenError> {
        let path = &self.path;
        let mut from = File::open(path).map_err(io_error(path))?;
        if header(&mut from).map_err(io_error(path))? == self.header {
            return Ok(ReelGrowth::Unchanged);
        }
        // A reel that was opened from a copy shares it as long as it is read.
        let free = self.copies.iter().find(|copy| Arc::strong_count(copy) == 1);
        let copy = if let Some(copy) = free {
            Arc::clone(copy)
        } else {
            let made = unnamed(&self.folder).map_err(io_error(&self.folder))?;
            let made = Arc::new(Mutex::new(made));
            self.copies.push(Arc::clone(&made));
            made
        };
        match copy_commit(&mut from, path, &copy, &self.folder) {
            // Commits are faster than passes: the next attempt may succeed.
            Err(OpenError::InUse { .. }) => return Ok(ReelGrowth::Unchanged),
            copied => copied?,
        }
        self.header = header(&mut locked(&copy)).map_err(io_error(&self.folder))?;
        Reel::open_source(ReelSource::Copy(&copy, path)).map(ReelGrowth::Grown)
    }
}

fn header(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = vec![0; HEADER];
    fill(file, &mut bytes)?;
    Ok(bytes)
}

/// Makes a file equal to another one.
fn copy_differences(from: &mut File, to: &mut File) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    let (mut piece, mut old) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    loop {
        let read = fill(from, &mut piece)?;
        let Some(new) = piece.get(..read).filter(|new| !new.is_empty()) else {
            break;
        };
        to.seek(SeekFrom::Start(at))?;
        let there = fill(to, &mut old)?;
        if old.get(..there) != Some(new) {
            to.seek(SeekFrom::Start(at))?;
            to.write_all(new)?;
        }
        at = at.saturating_add(len64(read));
    }
    to.set_len(at)
}

/// Reads until the buffer is full or the file has ended, and returns the length.
fn fill(file: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
