//! A copy of a reel that another program writes at the moment.
//!
//! Invariants:
//! * The file is neither changed nor locked: its recorder goes on.
//! * A copy that is given is of one commit. The database writes pages that its last commit does not use, then its
//!   header: while the header stays the same, no page of that commit changes. A pass over the whole file with the same
//!   header before and after it has therefore seen that commit whole. Where commits come faster than a pass, all
//!   checksums of the copy are checked instead.

use crate::error::OpenError;
use crate::file::backend::Overlay;
use crate::file::open;
use crate::limits::len64;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// How much of the file is its header.
const HEADER: usize = 4096;

/// How much is compared and copied at once.
const PIECE: usize = 1 << 20;

/// How many passes are made. Each but the first reads what the system has in memory, and writes what changed.
const PASSES: u32 = 30;

/// After how many passes the checksums decide. They cost more than a pass.
const UNCHECKED: u32 = 4;

/// Tells whether another program writes the reel at the moment, so that it cannot be opened.
pub fn is_in_use(path: &Path) -> bool {
    matches!(Overlay::open(path), Err(OpenError::InUse { .. }))
}

/// Copies a reel that is being recorded, into a file that opens as the reel of a killed recorder does.
///
/// # Errors
/// When a file cannot be read or written, and [`OpenError::InUse`] when the reel changes too fast.
pub fn copy_in_use(path: &Path, copy: &Path) -> Result<(), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::Io { path, source }
    };
    let mut from = File::open(path).map_err(failed(path))?;
    let mut to = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(copy)
        .map_err(failed(copy))?;
    for pass in 0..PASSES {
        let before = header(&mut from).map_err(failed(path))?;
        copy_differences(&mut from, &mut to).map_err(failed(copy))?;
        if header(&mut from).map_err(failed(path))? == before {
            return Ok(());
        }
        if pass >= UNCHECKED && open::open(copy).is_ok_and(|opened| opened.loaded.damage.is_empty())
        {
            return Ok(());
        }
    }
    Err(OpenError::InUse {
        path: path.to_owned(),
    })
}

fn header(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = vec![0; HEADER];
    fill(file, &mut bytes)?;
    Ok(bytes)
}

/// Makes a file like another one.
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

/// Reads until the piece is full or the file has ended, and gives how much it was.
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
