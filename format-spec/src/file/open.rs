//! Opens a reel for reading: checks whether the file is a reel, whether this program can read it,
//! and whether it is whole. Also computes the digest of a whole file, under which results are
//! cached.
//!
//! Invariants:
//! * The file is not changed, and a damaged file is never reported as whole.
//! * The version of the format is checked before anything that depends on it.
//! * If the database's own check fails, or the file is no longer a database, rows are searched for
//!   in the raw bytes, and rows without a header are read from intact pages. A whole file is not
//!   searched.
//! * The end of a damaged recording is known only from its state row or from the database.

use crate::codec::frame::Digest;
use crate::error::{Damage, Loss, OpenError};
use crate::file::backend::{Overlay, PanicFence, fenced};
use crate::file::load::Loaded;
use crate::file::origin::FileOrigin;
use crate::file::row::{ROW_HEADER, ROW_MAGIC, RowHeader, RowKind};
use crate::file::rows::RowSource;
use crate::file::salvage::Salvage;
use crate::file::tables;
use crate::file::tables::FileState;
use crate::id::Seq;
use crate::limits::{FORMAT, FormatVersion, len64};
use redb::{Database, ReadableDatabase as _};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The page cache of the database while reading, in bytes. Decoded data is cached elsewhere, and
/// the system caches the bytes of the file: the same page is rarely read again.
const READ_PAGES: usize = 2 * 1024 * 1024;
/// The first bytes of a database file.
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// How far a file with other first bytes is searched for rows.
const FOREIGN_SEARCH: u64 = 8 * 1024 * 1024;

/// The bytes that identify a database. The rest of [`MAGIC`] shows whether a transfer changed line
/// ends.
const DATABASE: &[u8] = b"redb\x1a\x0a";

/// The number of bytes that [`is_reel_start`] needs.
pub const REEL_START_BYTES: usize = DATABASE.len();

/// Returns whether a file with these first bytes is a reel, sealed or not.
pub fn is_reel_start(start: &[u8]) -> bool {
    start.starts_with(&ROW_MAGIC) || start.starts_with(DATABASE)
}

/// The parts of an opened reel.
pub(crate) struct OpenedReel {
    pub(crate) rows: RowSource,
    pub(crate) format: FormatVersion,
    pub(crate) finished: bool,
    /// Whether it is a whole file of rows without a database.
    pub(crate) is_sealed: bool,
    pub(crate) file_bytes: u64,
    pub(crate) loaded: Loaded,
}

/// The location of a reel's bytes.
#[derive(Clone, Copy)]
pub(crate) enum ReelSource<'a> {
    /// In the file at a path.
    Path(&'a Path),
    /// In a private copy of the file at a path.
    Copy(&'a Arc<Mutex<File>>, &'a Path),
}

impl<'a> ReelSource<'a> {
    /// Returns the path for errors.
    pub(crate) const fn path(self) -> &'a Path {
        match self {
            Self::Path(path) | Self::Copy(_, path) => path,
        }
    }

    fn overlay(self) -> Result<Overlay, OpenError> {
        match self {
            Self::Path(path) => Overlay::open(path),
            Self::Copy(file, path) => Overlay::of_file(file, path),
        }
    }
}

/// Opens a file, and returns what the system knows of it.
pub(crate) fn open(source: ReelSource<'_>) -> Result<(OpenedReel, Metadata), OpenError> {
    let overlay = source.overlay()?;
    let facts = overlay.facts().clone();
    Ok((open_overlay(source, overlay)?, facts))
}

fn open_overlay(source: ReelSource<'_>, overlay: Overlay) -> Result<OpenedReel, OpenError> {
    let path = source.path();
    let failed = |source| OpenError::Io {
        path: path.to_owned(),
        source,
    };
    let start = overlay.bytes(0, 64).map_err(failed)?;
    if start.starts_with(&ROW_MAGIC) {
        return open_sealed(path);
    }
    if !start.starts_with(MAGIC) {
        let (found, is_known) = what_it_is(&start);
        let refusal = OpenError::NotAReel {
            path: path.to_owned(),
            found: found.clone(),
        };
        if start.is_empty() {
            return Err(refusal);
        }
        // A file of another known format is not searched to its end: a large image must
        // not cost a whole pass.
        let most = if is_known { FOREIGN_SEARCH } else { u64::MAX };
        let what = format!("the file does not begin as a reel: {found}");
        return salvage(source, most, None, what)
            .and_then(|opened| opened.map_err(|_none| refusal));
    }
    let file_bytes = overlay.file_len();
    let extent = DatabaseExtent::read(&start);
    let cause = match checked(overlay) {
        Ok((database, true)) => {
            let (rows, format) = read_database(database, path)?;
            let own = rows.owner().map(|owner| owner.file);
            let foreign = match extent.filter(|extent| extent.bytes < file_bytes) {
                None => 0,
                Some(extent) => extent
                    .count_foreign(&source.overlay()?, own)
                    .map_err(failed)?,
            };
            let damage = (foreign > 0).then(|| Damage {
                place: "the file".to_owned(),
                cause: format!("{foreign} bytes behind its end are not its own"),
                loss: Loss::Nothing,
            });
            return Ok(load(rows, format, file_bytes, damage));
        }
        Ok((database, false)) => {
            // The database keeps the overlay with its repairs; the search needs the unchanged
            // bytes.
            drop(database);
            "a page's checksum does not match".to_owned()
        }
        // The check stops at the first damaged page; rows of intact pages can still be read.
        Err(cause) => cause,
    };
    open_damaged(source, file_bytes, cause)
}

/// Opens a file of rows without a database. It is whole if whole rows cover all its bytes and the
/// last row is there.
fn open_sealed(path: &Path) -> Result<OpenedReel, OpenError> {
    let overlay = Overlay::open(path)?;
    let file_bytes = overlay.file_len();
    let found = search_sealed(overlay).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    let Some(format) = found.format.filter(|_| !found.is_empty()) else {
        let cause = "none of its rows is whole".to_owned();
        return Err(damaged(path, "the file", cause));
    };
    if found.is_unbroken() {
        let rows = RowSource::of_sealed(found);
        check_readable(format, &rows.origin(), path)?;
        return Ok(load(rows, format, file_bytes, None));
    }
    let damage = Damage {
        place: "the file".to_owned(),
        cause: found.breakage(),
        loss: Loss::Nothing,
    };
    let rows = RowSource::of_damaged(None, found);
    check_readable(format, &rows.origin(), path)?;
    Ok(load(rows, format, file_bytes, Some(damage)))
}

/// Searches a file of rows without a database. Its first row names the recording, unless that row is of another one
/// that is not whole: a part of another file was put in front.
fn search_sealed(overlay: Overlay) -> io::Result<Salvage> {
    let start = overlay.bytes(0, len64(ROW_HEADER))?;
    let first = RowHeader::read(&start).map(|header| header.owner.file);
    let found = Salvage::search(overlay, u64::MAX, first)?;
    let has_end = found.numbers(RowKind::State).next().is_some();
    if has_end || found.foreign_bytes == 0 {
        return Ok(found);
    }
    found.search_again(u64::MAX, None)
}

/// Where a database says that it ends.
#[derive(Clone, Copy)]
struct DatabaseExtent {
    bytes: u64,
    /// Whether it was closed in order: then it ends there. That of a killed program may have grown.
    is_closed: bool,
}

impl DatabaseExtent {
    /// Reads it from the first bytes of the file: the number of pages of each region.
    fn read(start: &[u8]) -> Option<Self> {
        let number = |place: usize| {
            let four = start.get(place..)?.first_chunk()?;
            Some(u64::from(u32::from_le_bytes(*four)))
        };
        let flags = start.get(MAGIC.len())?;
        let (page, head, most) = (number(12)?, number(16)?, number(20)?);
        let (full, last) = (number(24)?, number(28)?);
        let last = if last == 0 { 0 } else { head + last };
        let pages = full.checked_mul(head + most)?.checked_add(last + 1)?;
        Some(Self {
            bytes: page.checked_mul(pages)?,
            is_closed: flags & RECOVERY_FLAG == 0,
        })
    }

    /// Returns how many bytes of the file behind the database are not of the recording `own`. A reel is not a part of
    /// another one, so that nobody removes it as a copy of the first.
    fn count_foreign(self, file: &Overlay, own: Option<u64>) -> io::Result<u64> {
        let len = file.file_len();
        let mut at = self.bytes;
        while at < len {
            let bytes = file.bytes(at, PAGES_READ)?;
            let mut pages = bytes.chunks(PAGE);
            // A grown file has zeros there, and pages; no page begins as a database does.
            let is_foreign = |page: &[u8]| {
                page.starts_with(DATABASE) || self.is_closed && page.iter().any(|byte| *byte != 0)
            };
            if let Some(before) = pages.position(is_foreign) {
                let start = at.saturating_add(len64(before.saturating_mul(PAGE)));
                return Ok(len.saturating_sub(start));
            }
            at = at.saturating_add(PAGES_READ);
        }
        Salvage::count_foreign(file, self.bytes, own)
    }
}

/// The flag of a database that was not closed in order.
const RECOVERY_FLAG: u8 = 2;
/// The least length of a page, and how many bytes of pages are read at once.
const PAGE: usize = 4096;
const PAGES_READ: u64 = 1 << 20;

/// Opens a file with a damaged database: by the headers of its rows, and with what the database
/// still returns.
fn open_damaged(
    source: ReelSource<'_>,
    file_bytes: u64,
    cause: String,
) -> Result<OpenedReel, OpenError> {
    let path = source.path();
    let overlay = source.overlay()?;
    let database = fenced(|| builder().create_with_backend(overlay)).map(PanicFence::of_reader);
    let (database, cause) = match database {
        Ok(database) => (read_database(database, path), cause),
        Err(cause) => {
            let refusal = match whole_bytes(&cause) {
                Some(whole_bytes) if file_bytes < whole_bytes => OpenError::CutOff {
                    path: path.to_owned(),
                    found_bytes: file_bytes,
                    whole_bytes,
                },
                _ => damaged(path, "the file's header", cause.clone()),
            };
            let words = match &refusal {
                OpenError::CutOff { whole_bytes, .. } => {
                    format!("cut off: {file_bytes} of {whole_bytes} bytes are there")
                }
                _ => cause,
            };
            (Err(refusal), words)
        }
    };
    let (database, refusal) = match database {
        Ok(database) => (Some(database), None),
        // Rows of an unknown format must not be interpreted, damaged or not.
        Err(refusal @ (OpenError::UnknownFormat { .. } | OpenError::UnknownFeature { .. })) => {
            return Err(refusal);
        }
        Err(refusal) => (None, Some(refusal)),
    };
    match salvage(source, u64::MAX, database, cause.clone())? {
        Ok(opened) => Ok(opened),
        Err(Some((rows, format))) => {
            // A file of an older format: a damaged page does not identify its content.
            let damage = Damage {
                place: "the database's pages".to_owned(),
                cause,
                loss: Loss::Unknown,
            };
            Ok(load(rows, format, file_bytes, Some(damage)))
        }
        Err(None) => Err(refusal.unwrap_or_else(|| damaged(path, "the file's root", cause))),
    }
}

fn damaged(path: &Path, place: &str, cause: String) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        place: place.to_owned(),
        cause,
    }
}

/// The rows of a database, and its format.
type NamedRows = (RowSource, FormatVersion);

/// Reads the format of a database.
fn read_database(database: PanicFence<Database>, path: &Path) -> Result<NamedRows, OpenError> {
    let transaction = fenced(|| database.begin_read())
        .map_err(|cause| damaged(path, "the file's root", cause))?;
    let rows = RowSource::of_database(database, &transaction);
    let format = read_format(&rows, path)?;
    check_readable(format, &rows.origin(), path)?;
    Ok((rows, format))
}

fn check_readable(found: FormatVersion, origin: &FileOrigin, path: &Path) -> Result<(), OpenError> {
    if !found.is_readable() {
        return Err(OpenError::UnknownFormat {
            path: path.to_owned(),
            found,
            known: FORMAT,
            writer: Some(origin.program.clone()).filter(|program| !program.is_empty()),
        });
    }
    match origin.unknown_feature() {
        None => Ok(()),
        Some(feature) => Err(OpenError::UnknownFeature {
            path: path.to_owned(),
            feature: feature.name.clone(),
            since: feature.since.clone(),
        }),
    }
}

/// Returns the rows that a search of the raw bytes finds; returns the database's own if there are
/// none.
fn salvage(
    source: ReelSource<'_>,
    most: u64,
    database: Option<NamedRows>,
    cause: String,
) -> Result<Result<OpenedReel, Option<NamedRows>>, OpenError> {
    let path = source.path();
    let overlay = source.overlay()?;
    let file_bytes = overlay.file_len();
    // The database names its recording, so that rows of other recordings in the same file are left
    // out.
    let owner = database.as_ref().and_then(|(rows, _)| rows.owner());
    let found = Salvage::search(overlay, most, owner.map(|owner| owner.file));
    let found = found.map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    let Some(format) = found.format.filter(|_| !found.is_empty()) else {
        return Ok(Err(database));
    };
    let cause = match found.foreign_bytes {
        0 => cause,
        bytes => format!("{cause}; {bytes} bytes of another reel's rows in it were left out"),
    };
    let place = "the file".to_owned();
    let loss = Loss::Nothing;
    let damage = Damage { place, cause, loss };
    let rows = RowSource::of_damaged(database.map(|(rows, _)| rows), found);
    check_readable(format, &rows.origin(), path)?;
    Ok(Ok(load(rows, format, file_bytes, Some(damage))))
}

/// Reads everything but the bodies.
fn load(
    rows: RowSource,
    format: FormatVersion,
    file_bytes: u64,
    damage: Option<Damage>,
) -> OpenedReel {
    let mut loaded = Loaded::read(&rows);
    let finished = read_state(&rows, &mut loaded);
    // The damage of the container explains the damage of blocks, so it comes first.
    loaded.damage.splice(0..0, damage);
    OpenedReel {
        is_sealed: rows.is_sealed(),
        rows,
        format,
        finished,
        file_bytes,
        loaded,
    }
}

/// Returns the expected length of the file from the database's message, if the message contains
/// one.
fn whole_bytes(cause: &str) -> Option<u64> {
    let (_, rest) = cause.split_once("layout_len=")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(READ_PAGES);
    builder
}

/// Opens the database and verifies all its checksums: its reads do not check them.
fn checked(overlay: Overlay) -> Result<(PanicFence<Database>, bool), String> {
    let mut database =
        fenced(|| builder().create_with_backend(overlay)).map(PanicFence::of_reader)?;
    let whole = fenced(|| database.check_integrity())?;
    Ok((database, whole))
}

fn read_format(rows: &RowSource, path: &Path) -> Result<FormatVersion, OpenError> {
    let foreign = || OpenError::NotAReel {
        path: path.to_owned(),
        found: "a redb database of something else".to_owned(),
    };
    match rows.meta(tables::FORMAT_KEY) {
        Ok(Some(row)) => tables::format_of_row(&row).ok_or_else(foreign),
        Ok(None) => Err(foreign()),
        Err(cause) if cause.contains("does not exist") => Err(foreign()),
        Err(cause) => Err(damaged(path, "the row that names the format", cause)),
    }
}

/// Returns whether the recording was finished, and notes missing records of a finished one.
fn read_state(rows: &RowSource, loaded: &mut Loaded) -> bool {
    let state = match rows.state() {
        Ok(None) => Ok(None),
        Ok(Some(row)) => FileState::decode(&row)
            .map(Some)
            .map_err(|error| error.to_string()),
        Err(cause) => Err(cause),
    };
    let there = loaded.heads.len();
    let place = "the row of the file's state";
    match state {
        // Only a sealed file names the end of a recording that was not finished.
        Ok(Some(state)) if state.records > there => {
            let lost = state.records;
            loaded.lose_end(
                lost,
                "the last blocks",
                format!("{there} of {lost} records are there"),
            );
            state.finished
        }
        Ok(Some(state)) if state.records < there => {
            loaded.damage.push(Damage {
                place: place.to_owned(),
                cause: format!("{} records were finished, {there} are there", state.records),
                loss: Loss::Unknown,
            });
            state.finished
        }
        Ok(Some(state)) => state.finished,
        Ok(None) => {
            if rows.is_salvaged() && !rows.names_end(loaded.next_block, loaded.next_commit) {
                let cause = "the end of the recording is not there or not marked";
                loaded.lose_end(there, "the end of the file", cause.to_owned());
            }
            false
        }
        Err(cause) => {
            loaded.damage.push(Damage {
                place: place.to_owned(),
                cause,
                loss: Loss::Records {
                    first: Seq(there),
                    last: None,
                },
            });
            false
        }
    }
}

/// Describes the first bytes of a file, and returns whether they are of a known form.
fn what_it_is(start: &[u8]) -> (String, bool) {
    let known: [(&[u8], &str); 10] = [
        (b"PK", "starts with \"PK\": a zip archive"),
        (b"\x1f\x8b", "a gzip file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"\xfd7zXZ", "an xz file"),
        (b"BZh", "a bzip2 file"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\x7fELF", "a program"),
        (b"{", "starts with \"{\": JSON"),
        (b"[", "starts with \"[\": JSON"),
        (b"<", "starts with \"<\": HTML or XML"),
    ];
    if start.is_empty() {
        return ("the file is empty".to_owned(), true);
    }
    if MAGIC.starts_with(start) {
        return (format!("cut off after {} bytes", start.len()), true);
    }
    let mut known = known.iter();
    match known.find(|(magic, _)| start.starts_with(magic)) {
        Some((_, words)) => ((*words).to_owned(), true),
        None => ("its first bytes are unknown".to_owned(), false),
    }
}

/// How many bytes are read at once.
const PIECE: usize = 256 * 1024;

/// Returns the XXH3-128 of all bytes of a file. It detects every accidental change.
///
/// It uses constant memory for any length.
///
/// # Errors
/// When the file cannot be read.
pub fn file_digest(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    let mut digest = Digest::default();
    loop {
        let read = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(digest.value());
        }
        digest.take(piece.get(..read).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.reel");
        let mut bytes = vec![7_u8; PIECE * 2 + 3];
        let digest = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("room");
            file_digest(&path).expect("it is there")
        };
        let whole = digest(&bytes);
        let mut at_once = Digest::default();
        at_once.take(&bytes);
        assert_eq!(whole, at_once.value());
        bytes[PIECE + 1] ^= 1;
        assert_ne!(digest(&bytes), whole);
        bytes[PIECE + 1] ^= 1;
        assert_ne!(digest(&bytes[1..]), whole);
        assert_eq!(digest(&bytes), whole);
        assert!(file_digest(&folder.path().join("none")).is_err());
    }
}
