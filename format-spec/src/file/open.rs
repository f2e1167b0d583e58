//! Opens a reel for reading: is it a reel, can this program read it, is it whole? Also gives the digest of a
//! whole file, under which results are cached.
//!
//! Invariants:
//! * The file is not changed, and a damaged file is never reported as whole.
//! * The format's version is checked before anything that it could have changed.
//! * If the database's own check fails, the rows behind good pages are read all the same.

use crate::codec::frame::Digest;
use crate::error::{Damage, OpenError};
use crate::file::backend::{Overlay, PanicFence, fenced};
use crate::file::load::Loaded;
use crate::file::tables;
use crate::file::tables::FileState;
use crate::limits::{FORMAT, FormatVersion};
use redb::{Database, ReadTransaction, ReadableDatabase as _};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// How many bytes of pages the database keeps while reading. What is decoded of them is kept elsewhere, and the
/// system keeps the file's own bytes: the same page is rarely asked for again.
const READ_PAGES: usize = 2 * 1024 * 1024;
/// What a database file begins with.
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// A reel's parts, opened.
pub(crate) struct OpenedReel {
    pub(crate) database: PanicFence<Database>,
    pub(crate) transaction: ReadTransaction,
    pub(crate) format: FormatVersion,
    pub(crate) finished: bool,
    pub(crate) file_bytes: u64,
    pub(crate) loaded: Loaded,
}

/// Opens a file.
pub(crate) fn open(path: &Path) -> Result<OpenedReel, OpenError> {
    let overlay = Overlay::open(path)?;
    let file_bytes = overlay.file_len();
    let start = overlay.start(64).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    if !start.starts_with(MAGIC) {
        return Err(OpenError::NotAReel {
            path: path.to_owned(),
            found: what_it_is(&start),
        });
    }
    let damaged = |place: &str, cause: String| OpenError::Damaged {
        path: path.to_owned(),
        place: place.to_owned(),
        cause,
    };
    let mut damage = Vec::new();
    let database = match checked(overlay) {
        Ok((database, true)) => database,
        Ok((database, false)) => {
            damage.push(broken("a page's checksum does not fit".to_owned()));
            database
        }
        Err(cause) => {
            // The check stops at the first bad page; the rows behind good ones can still be read.
            damage.push(broken(cause));
            let overlay = Overlay::open(path)?;
            fenced(|| builder().create_with_backend(overlay))
                .map(PanicFence::new)
                .map_err(|cause| match whole_bytes(&cause) {
                    Some(whole_bytes) if file_bytes < whole_bytes => OpenError::CutOff {
                        path: path.to_owned(),
                        found_bytes: file_bytes,
                        whole_bytes,
                    },
                    _ => damaged("the file's header", cause),
                })?
        }
    };
    let transaction =
        fenced(|| database.begin_read()).map_err(|cause| damaged("the file's root", cause))?;
    let format = read_format(&transaction, path)?;
    if !format.is_readable() {
        return Err(OpenError::UnknownFormat {
            path: path.to_owned(),
            found: format,
            known: FORMAT,
        });
    }
    let mut loaded = Loaded::read(&transaction);
    let finished = read_state(&transaction, &mut loaded, &mut damage);
    damage.append(&mut loaded.damage);
    loaded.damage = damage;
    Ok(OpenedReel {
        database,
        transaction,
        format,
        finished,
        file_bytes,
        loaded,
    })
}

/// Reads from the database's words how long the file should be, if it says that it is not.
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

/// Opens the database and has it check all its checksums: its reads never do.
fn checked(overlay: Overlay) -> Result<(PanicFence<Database>, bool), String> {
    let mut database = fenced(|| builder().create_with_backend(overlay)).map(PanicFence::new)?;
    let whole = fenced(|| database.check_integrity())?;
    Ok((database, whole))
}

fn broken(cause: String) -> Damage {
    Damage {
        place: "the database's pages".to_owned(),
        cause,
        first: None,
        last: None,
    }
}

fn read_format(transaction: &ReadTransaction, path: &Path) -> Result<FormatVersion, OpenError> {
    let row = fenced(|| {
        let meta = transaction.open_table(tables::META)?;
        let row = meta.get(tables::FORMAT_KEY)?;
        Ok::<_, redb::Error>(row.map(|row| row.value().to_vec()))
    });
    let foreign = |found: &str| OpenError::NotAReel {
        path: path.to_owned(),
        found: found.to_owned(),
    };
    match row {
        Ok(Some(row)) => {
            tables::format_of_row(&row).ok_or_else(|| foreign("a redb database of something else"))
        }
        Ok(None) => Err(foreign("a redb database of something else")),
        Err(cause) if cause.contains("does not exist") => {
            Err(foreign("a redb database of something else"))
        }
        Err(cause) => Err(OpenError::Damaged {
            path: path.to_owned(),
            place: "the row that names the format".to_owned(),
            cause,
        }),
    }
}

/// Returns whether the recording was finished, and whether all of it is there then.
fn read_state(
    transaction: &ReadTransaction,
    loaded: &mut Loaded,
    damage: &mut Vec<Damage>,
) -> bool {
    let mut hurt = |cause: String| {
        damage.push(Damage {
            place: "the row of the file's state".to_owned(),
            cause,
            first: None,
            last: None,
        });
        false
    };
    let row = fenced(|| {
        let meta = transaction.open_table(tables::META)?;
        let row = meta.get(tables::STATE_KEY)?;
        Ok::<_, redb::Error>(row.map(|row| row.value().to_vec()))
    });
    let state = match row {
        Ok(None) => return false,
        Ok(Some(row)) => FileState::decode(&row).map_err(|error| error.to_string()),
        Err(cause) => Err(cause),
    };
    match state {
        Err(cause) => hurt(cause),
        Ok(state) if state.finished && state.records != loaded.heads.len() => {
            let there = loaded.heads.len();
            hurt(format!(
                "{} records were finished, {there} are there",
                state.records
            ));
            true
        }
        Ok(state) => state.finished,
    }
}

/// Describes the beginning of a file.
fn what_it_is(start: &[u8]) -> String {
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
        return "the file is empty".to_owned();
    }
    if MAGIC.starts_with(start) {
        return format!("cut off after {} bytes", start.len());
    }
    known
        .iter()
        .find(|(magic, _)| start.starts_with(magic))
        .map_or_else(
            || "its first bytes are unknown".to_owned(),
            |(_, words)| (*words).to_owned(),
        )
}

/// How many bytes are read at once.
const PIECE: usize = 256 * 1024;

/// Returns the XXH3-128 of all bytes of a file: no change of it, not even damage, goes unnoticed.
///
/// It takes the same little memory for any length.
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
