//! A sealed file: the rows of a reel one after another, without a database.
//!
//! Invariants:
//! * The file begins with the rows `owner` and `state`; the last row is `state` once more. Nothing
//!   lies between rows, so a file whose bytes are all in whole rows, with that last row, is whole.
//! * All rows but those of stripes and shards and the last one lie in stripes, one after another.
//!   The recovery shards of a stripe follow it directly, so that a cut does not take those of
//!   earlier stripes.
//! * Salvage searches for the headers of rows: a sealed file is opened by the same search, and
//!   damage has the same effect as in any other reel.

use crate::codec::stripe::{Stripe, shard_row};
use crate::file::origin::FileOrigin;
use crate::file::row::{RowKind, RowOwner};
use crate::limits::{LEAST_STRIPE, STRIPE_BYTES, len64};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// How many bytes are written at once.
const BUFFER: usize = 256 * 1024;

/// A sealed file that is being written.
pub(crate) struct RowFile {
    out: BufWriter<File>,
    owner: RowOwner,
    state: Vec<u8>,
    bytes: u64,
    /// The bytes since the last stripe.
    stripe: Vec<u8>,
    stripes: u64,
    /// The rows of the directory, which are written once more at the end.
    directory: Vec<(u64, Vec<u8>)>,
}

impl RowFile {
    /// Creates a file.
    pub(crate) fn create(
        path: &Path,
        permissions: Permissions,
        state: Vec<u8>,
        origin: &FileOrigin,
    ) -> io::Result<Self> {
        let file = File::options().write(true).create_new(true).open(path)?;
        file.set_permissions(permissions)?;
        let mut rows = Self {
            out: BufWriter::with_capacity(BUFFER, file),
            owner: RowOwner::draw(),
            state,
            bytes: 0,
            stripe: Vec::new(),
            stripes: 0,
            directory: Vec::new(),
        };
        rows.put(RowKind::Owner, 0, &origin.encode())?;
        let state = rows.state.clone();
        rows.put(RowKind::State, 0, &state)?;
        Ok(rows)
    }

    fn put(&mut self, kind: RowKind, number: u64, content: &[u8]) -> io::Result<()> {
        let row = self.owner.row(kind, number, content);
        self.out.write_all(&row)?;
        self.bytes = self.bytes.saturating_add(len64(row.len()));
        if !matches!(kind, RowKind::Stripe | RowKind::Shard) {
            self.stripe.extend_from_slice(&row);
        }
        Ok(())
    }

    /// Writes a row.
    pub(crate) fn row(&mut self, kind: RowKind, number: u64, content: Vec<u8>) -> io::Result<()> {
        self.put(kind, number, &content)?;
        if kind == RowKind::Directory {
            self.directory.push((number, content));
        }
        if self.stripe.len() >= STRIPE_BYTES {
            self.end_stripe()?;
        }
        Ok(())
    }

    /// Writes the recovery shards for the bytes since the last stripe.
    fn end_stripe(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.stripe);
        if self.stripes == 0 && bytes.len() < LEAST_STRIPE {
            return Ok(());
        }
        let start = self.bytes.saturating_sub(len64(bytes.len()));
        let Some((stripe, shards)) = Stripe::protect(&bytes).map_err(io::Error::other)? else {
            return Ok(());
        };
        let number = self.stripes;
        self.stripes = number.saturating_add(1);
        // Before and behind the shards: without the description they are useless.
        self.put(RowKind::Stripe, number, &stripe.encode(self.bytes - start))?;
        for (place, shard) in shards.iter().enumerate() {
            self.put(RowKind::Shard, shard_row(number, place), shard)?;
        }
        self.put(RowKind::Stripe, number, &stripe.encode(self.bytes - start))
    }

    /// Writes the second copies, syncs the file, and returns its length.
    pub(crate) fn end(mut self) -> io::Result<u64> {
        for (number, content) in std::mem::take(&mut self.directory) {
            self.put(RowKind::Directory, number, &content)?;
        }
        self.end_stripe()?;
        let state = std::mem::take(&mut self.state);
        self.put(RowKind::State, 0, &state)?;
        let file = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(self.bytes)
    }
}
