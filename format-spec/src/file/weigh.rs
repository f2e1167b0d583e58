//! The parts of the bytes of a reel's file: columns of bodies and indexes, rows, and the overhead
//! of the container. It is for benchmarks; nothing else reads a whole file for that.

use crate::codec::{frame, packed_index};
use crate::error::ReadError;
use crate::file::load::BlockSource;
use crate::file::reel::Reel;
use crate::limits::{MAX_BLOCK_RAW, MAX_RECORD, len64};

/// The parts of a reel's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReelWeight {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// Its parts, which add up to the file.
    pub parts: Vec<PartWeight>,
    /// Bytes of bodies in blocks that are the prefix of others.
    pub prefix_bytes: u64,
}

/// A part of a reel's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartWeight {
    /// Its name in `SPEC.md`.
    pub name: &'static str,
    /// Its bytes before compression.
    pub raw_bytes: u64,
    /// Its bytes in the file. Columns share a frame: each gets the part of the frame that its own
    /// compression alone would need.
    pub bytes: u64,
}

/// The columns of the bodies.
const BODIES: [&str; 4] = [
    "bodies: entries",
    "bodies: hunks",
    "bodies: text",
    "bodies: blobs",
];
/// The columns of an index.
const INDEX: [&str; 7] = [
    "index: objects",
    "index: kinds",
    "index: walls",
    "index: skews",
    "index: numbers",
    "index: versions",
    "index: notes",
];

impl Reel {
    /// Weighs the parts of the file. This reads all of it.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn weigh(&self) -> Result<ReelWeight, ReadError> {
        let mut bodies = ColumnSum::new(BODIES);
        let mut indexes = ColumnSum::new(INDEX);
        let mut prefix_bytes = 0;
        for block in &self.loaded.blocks {
            let BlockSource::Sealed(place) = &block.source else {
                continue;
            };
            let unreadable = |cause: String| ReadError::Storage {
                place: format!("block {}", block.number),
                cause,
            };
            let read = self.reader().bodies(self, block)?;
            bodies
                .add(read.raw(), place.bodies.len)
                .map_err(unreadable)?;
            let packed = self.reader().rows().index_frame(place.index, 0, || {});
            let packed = packed.map_err(unreadable)?;
            let raw = packed_index::unpack(&packed, MAX_BLOCK_RAW + MAX_RECORD);
            let raw = raw.map_err(|error| unreadable(error.to_string()))?;
            indexes.add(&raw, place.index.len).map_err(unreadable)?;
            if place.prefix == block.number {
                prefix_bytes += u64::from(place.bodies.len);
            }
        }
        let mut parts = bodies.parts();
        parts.extend(indexes.parts());
        let frames = self.loaded.checkpoints.iter().flat_map(|at| &at.parts);
        parts.push(plain(
            "checkpoints",
            frames.map(|part| u64::from(part.span.len)).sum(),
        ));
        let rows = self.reader().rows().weigh();
        let rows = rows.map_err(|cause| ReadError::Storage {
            place: "the rows".to_owned(),
            cause,
        })?;
        parts.extend(rows.into_iter().map(|(name, bytes)| plain(name, bytes)));
        let known: u64 = parts.iter().map(|part| part.bytes).sum();
        let file_bytes = self.sizes().file;
        parts.push(plain(
            "container: pages, headers, free space",
            file_bytes.saturating_sub(known),
        ));
        Ok(ReelWeight {
            file_bytes,
            parts,
            prefix_bytes,
        })
    }
}

fn plain(name: &'static str, bytes: u64) -> PartWeight {
    PartWeight {
        name,
        raw_bytes: bytes,
        bytes,
    }
}

/// The columns of one kind of frame, summed up.
struct ColumnSum<const N: usize> {
    names: [&'static str; N],
    raw: [u64; N],
    alone: [u64; N],
    frames: u64,
}

impl<const N: usize> ColumnSum<N> {
    fn new(names: [&'static str; N]) -> Self {
        Self {
            names,
            raw: [0; N],
            alone: [0; N],
            frames: 0,
        }
    }

    fn add(&mut self, raw: &[u8], frame_bytes: u32) -> Result<(), String> {
        let columns =
            frame::split_columns::<N>(raw, "a frame").map_err(|error| error.to_string())?;
        for ((column, raw), alone) in columns.iter().zip(&mut self.raw).zip(&mut self.alone) {
            *raw += len64(column.len());
            let packed = frame::pack(column, frame::LEVEL_KEPT, &[]);
            *alone += len64(packed.map_err(|error| error.to_string())?.len() - frame::HEADER);
        }
        self.frames += u64::from(frame_bytes);
        Ok(())
    }

    fn parts(&self) -> Vec<PartWeight> {
        let all = self.alone.iter().sum::<u64>().max(1);
        let columns = self.names.iter().zip(self.raw).zip(self.alone);
        columns
            .map(|((name, raw_bytes), alone)| PartWeight {
                name,
                raw_bytes,
                bytes: self.frames * alone / all,
            })
            .collect()
    }
}
