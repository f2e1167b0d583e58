//! Headers of rows. Each row identifies itself, so that it is found in the raw bytes of a file
//! whose database is damaged, or that has none.
//!
//! Rows of files before format 0.4 have no header: bytes without a valid header are the content of
//! such a row.

use crate::limits::{FORMAT, FormatVersion, len64, place32};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a header.
pub(crate) const ROW_MAGIC: [u8; 4] = [0xd7, b'K', b'R', 0x8b];
/// The length of a header, in bytes.
pub(crate) const ROW_HEADER: usize = 48;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKind {
    /// The writer of the file.
    Owner,
    /// An extent of the bodies.
    Bodies,
    /// An extent of the indexes.
    Index,
    /// A row of the directory.
    Directory,
    /// A checkpoint row.
    Checkpoint,
    /// A tail row.
    Tail,
    /// The state of the file.
    State,
    /// The parity of a group of extents.
    Parity,
    /// The members of that group.
    Members,
    /// The content of a directory row and the frame of the block's index.
    Block,
    /// The description of a stripe of a sealed file.
    Stripe,
    /// A recovery shard of a stripe.
    Shard,
}

impl RowKind {
    /// The kinds and their numbers in the file.
    pub(crate) const ALL: [(Self, u8); 12] = [
        (Self::Owner, 1),
        (Self::Bodies, 2),
        (Self::Index, 3),
        (Self::Directory, 4),
        (Self::Checkpoint, 5),
        (Self::Tail, 6),
        (Self::State, 7),
        (Self::Parity, 8),
        (Self::Members, 9),
        (Self::Block, 10),
        (Self::Stripe, 11),
        (Self::Shard, 12),
    ];

    fn number(self) -> u8 {
        let mut all = Self::ALL.iter();
        all.find(|(kind, _)| *kind == self)
            .map_or(0, |(_, number)| *number)
    }

    fn of_number(number: u8) -> Option<Self> {
        let mut all = Self::ALL.iter();
        let found = all.find(|(_, known)| *known == number);
        found.map(|(kind, _)| *kind)
    }
}

/// The owner of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowOwner {
    /// The recording: a random number of the file's creation.
    pub(crate) file: u64,
    /// How many times the file had been resumed when the row was written.
    pub(crate) writer: u32,
    /// The first block that this writer sealed, or will seal.
    pub(crate) first_block: u32,
}

impl RowOwner {
    /// Draws the owner of a new file.
    pub(crate) fn draw() -> Self {
        Self {
            file: RandomState::new().hash_one(ROW_MAGIC),
            writer: 0,
            first_block: 0,
        }
    }

    /// Returns the owner of a resumed file; `before` is the last owner, if the file had one.
    pub(crate) fn resume(before: Option<Self>, first_block: u32) -> Self {
        let before = before.unwrap_or_else(Self::draw);
        Self {
            file: before.file,
            writer: before.writer.saturating_add(1),
            first_block,
        }
    }

    /// Returns a row with its header.
    #[expect(clippy::expect_used, reason = "rows are far shorter than 4 GiB")]
    pub(crate) fn row(self, kind: RowKind, number: u64, content: &[u8]) -> Vec<u8> {
        let mut row = Vec::with_capacity(ROW_HEADER + content.len());
        row.extend_from_slice(&ROW_MAGIC);
        row.push(kind.number());
        row.push(0);
        row.push(u8::try_from(FORMAT.major).expect("the major version is small"));
        row.push(u8::try_from(FORMAT.minor).expect("the minor version is small"));
        row.extend_from_slice(&self.file.to_le_bytes());
        row.extend_from_slice(&number.to_le_bytes());
        row.extend_from_slice(&self.writer.to_le_bytes());
        row.extend_from_slice(&self.first_block.to_le_bytes());
        let len = u32::try_from(content.len()).expect("a row is bounded by MAX_BLOCK_RAW");
        row.extend_from_slice(&len.to_le_bytes());
        row.extend_from_slice(&xxh3_64(content).to_le_bytes());
        let check = check_of(&row);
        row.extend_from_slice(&check);
        row.extend_from_slice(content);
        row
    }
}

fn check_of(head: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(head).to_le_bytes();
    [a, b, c, d]
}

/// A decoded header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHeader {
    pub(crate) kind: RowKind,
    pub(crate) format: FormatVersion,
    pub(crate) owner: RowOwner,
    pub(crate) number: u64,
    /// The length of the content behind the header, in bytes.
    pub(crate) len: u32,
    sum: u64,
}

impl RowHeader {
    /// Decodes the header at the start of some bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let head = bytes.first_chunk::<ROW_HEADER>()?;
        let (fields, check) = head.split_last_chunk::<4>()?;
        if !fields.starts_with(&ROW_MAGIC) || check_of(fields) != *check {
            return None;
        }
        let mut rest = fields.get(ROW_MAGIC.len()..)?;
        let [kind, _reserved, major, minor] = take(&mut rest)?;
        let file = u64::from_le_bytes(take(&mut rest)?);
        let number = u64::from_le_bytes(take(&mut rest)?);
        let owner = RowOwner {
            file,
            writer: u32::from_le_bytes(take(&mut rest)?),
            first_block: u32::from_le_bytes(take(&mut rest)?),
        };
        Some(Self {
            kind: RowKind::of_number(kind)?,
            format: FormatVersion {
                major: u16::from(major),
                minor: u16::from(minor),
            },
            owner,
            number,
            len: u32::from_le_bytes(take(&mut rest)?),
            sum: u64::from_le_bytes(take(&mut rest)?),
        })
    }

    /// Returns whether the content is unchanged.
    pub(crate) fn fits(&self, content: &[u8]) -> bool {
        place32(self.len) == content.len() && xxh3_64(content) == self.sum
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*first)
}

/// Returns the content of a row: the bytes behind its header, or all of them if it has none.
pub(crate) fn content_of(row: &[u8]) -> &[u8] {
    match RowHeader::read(row) {
        Some(header)
            if u64::from(header.len) == len64(row.len()).saturating_sub(len64(ROW_HEADER)) =>
        {
            row.get(ROW_HEADER..).unwrap_or_default()
        }
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_any_changed_byte_of_it_is_noticed() {
        let owner = RowOwner {
            file: 7,
            writer: 3,
            first_block: 99,
        };
        for (kind, _) in RowKind::ALL {
            let mut row = owner.row(kind, 5, b"content");
            let header = RowHeader::read(&row).unwrap();
            assert_eq!(
                (header.kind, header.owner, header.number, header.format),
                (kind, owner, 5, FORMAT)
            );
            assert!(header.fits(b"content") && !header.fits(b"contenT"));
            assert_eq!(content_of(&row), b"content");
            for at in 0..ROW_HEADER {
                row[at] ^= 1;
                assert_eq!(RowHeader::read(&row), None, "byte {at}");
                assert_eq!(content_of(&row), row);
                row[at] ^= 1;
            }
        }
        let expected = b"a row of an older file";
        assert_eq!(content_of(b"a row of an older file"), expected);
    }
}
