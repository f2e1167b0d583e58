//! A sealed file: the rows of a reel one behind another, without a database.
//!
//! Invariants:
//! * The file begins with the row `owner`, then `state`; the last row is `state` once more. Nothing lies between rows,
//!   so that a file with all of its bytes in whole rows, and that last row, is whole.
//! * The headers of rows are what a salvage searches for: a sealed file is opened by the same search, and damage takes
//!   what it takes of any other reel.

use crate::file::parity::ParityGroup;
use crate::file::row::{ROW_HEADER, RowKind, RowOwner};
use crate::limits::{PARITY_LEAST, SEALED_PARITY_GROUP, len64};
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// How many bytes are written at once.
const BUFFER: usize = 256 * 1024;

/// A sealed file that is being written.
pub(crate) struct RowFile {
    out: BufWriter<File>,
    owner: RowOwner,
    state: Vec<u8>,
    bytes: u64,
    /// The extents that were written, for their parity.
    extents: Vec<Extent>,
    /// The rows of the directory, to be written once more.
    directory: Vec<(u64, Vec<u8>)>,
}

#[derive(Clone, Copy)]
struct Extent {
    kind: RowKind,
    number: u64,
    /// Where its content begins.
    at: u64,
    len: usize,
}

impl RowFile {
    /// Begins a new file.
    pub(crate) fn create(path: &Path, state: Vec<u8>) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        let mut rows = Self {
            out: BufWriter::with_capacity(BUFFER, file),
            owner: RowOwner::draw(),
            state,
            bytes: 0,
            extents: Vec::new(),
            directory: Vec::new(),
        };
        rows.put(RowKind::Owner, 0, &[])?;
        let state = rows.state.clone();
        rows.put(RowKind::State, 0, &state)?;
        Ok(rows)
    }

    fn put(&mut self, kind: RowKind, number: u64, content: &[u8]) -> io::Result<()> {
        let row = self.owner.row(kind, number, content);
        self.out.write_all(&row)?;
        self.bytes = self.bytes.saturating_add(len64(row.len()));
        Ok(())
    }

    /// Writes a row.
    pub(crate) fn row(&mut self, kind: RowKind, number: u64, content: Vec<u8>) -> io::Result<()> {
        if matches!(kind, RowKind::Bodies | RowKind::Index) {
            self.extents.push(Extent {
                kind,
                number,
                at: self.bytes.saturating_add(len64(ROW_HEADER)),
                len: content.len(),
            });
        }
        self.put(kind, number, &content)?;
        if kind == RowKind::Directory {
            self.directory.push((number, content));
        }
        Ok(())
    }

    /// Writes what is there twice, makes the file durable, and gives its length.
    pub(crate) fn end(mut self) -> io::Result<u64> {
        self.out.flush()?;
        let extents = std::mem::take(&mut self.extents);
        // Neighbours are in different groups: rows are not aligned to pages, and what is damaged may be the end of one
        // and the beginning of the next.
        let groups = match extents.len() {
            few if len64(few) < PARITY_LEAST => 0,
            count => count.div_ceil(SEALED_PARITY_GROUP).max(2),
        };
        for group in 0..groups {
            let mut parity = ParityGroup::default();
            for extent in extents.iter().skip(group).step_by(groups) {
                let content = self.read(*extent)?;
                parity.add(extent.kind, extent.number, self.owner.writer, &content);
            }
            let (parity, members) = parity.rows();
            self.out.seek(SeekFrom::End(0))?;
            self.put(RowKind::Parity, len64(group), &parity)?;
            self.put(RowKind::Members, len64(group), &members)?;
        }
        for (number, content) in std::mem::take(&mut self.directory) {
            self.put(RowKind::Directory, number, &content)?;
        }
        let state = std::mem::take(&mut self.state);
        self.put(RowKind::State, 0, &state)?;
        let file = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(self.bytes)
    }

    fn read(&mut self, extent: Extent) -> io::Result<Vec<u8>> {
        self.out.seek(SeekFrom::Start(extent.at))?;
        let mut content = vec![0; extent.len];
        self.out.get_mut().read_exact(&mut content)?;
        Ok(content)
    }
}
