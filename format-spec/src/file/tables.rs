//! The tables of the database, and the rows about the whole file: the version of the format, and
//! whether the recording was finished. Keys are numbers or fixed words of the format; they contain
//! no names of the cluster.

use crate::codec::{CodecError, frame, record};
use crate::limits::{FORMAT, FormatVersion, MAX_RECORD};
use bincode::{Decode, Encode};
use redb::TableDefinition;

/// Properties of the whole file, by fixed words.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Segments not yet sealed, one a commit, by commit number.
pub(crate) const TAIL: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("tail");
/// Sealed bodies: one stream of bytes in extents, by extent number.
pub(crate) const EXTENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("ext");
/// The blocks' indexes: one stream of bytes in extents, by extent number.
pub(crate) const INDEXES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("idx");
/// The directory: one row for each sealed block, by block number.
pub(crate) const DIRECTORY: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("dir");

/// Checkpoints, by checkpoint number, from 1.
pub(crate) const CHECKPOINTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("cp");

/// Second copies of the description of each sealed block, one row each, by block number, while a
/// reel is recorded: rows that are never rewritten keep their place. Only salvage reads them.
pub(crate) const BLOCKS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("blk");

/// Parity of the extents and copies of the directory rows, in a finished file. Only salvage reads
/// them.
pub(crate) const PARITY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("par");

/// The key of the format's version in [`META`]. Its value has the same form in every version: the
/// word `kubereel`, then major and minor as two bytes each.
pub(crate) const FORMAT_KEY: &str = "format";
/// The key of the file's state in [`META`].
pub(crate) const STATE_KEY: &str = "state";
/// The key of the row with the writer of the file: a header of kind [`RowKind::Owner`] without
/// content.
///
/// [`RowKind::Owner`]: crate::file::row::RowKind::Owner
pub(crate) const OWNER_KEY: &str = "owner";
/// The first bytes of the value of [`FORMAT_KEY`].
pub(crate) const FORMAT_WORD: &[u8; 8] = b"kubereel";

/// The properties of the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FileState {
    /// Whether the last recorder ended in order and packed the file.
    pub(crate) finished: bool,
    /// The number of records, if finished.
    pub(crate) records: u64,
}

impl FileState {
    pub(crate) fn encode(self) -> Result<Vec<u8>, CodecError> {
        frame::pack(&record::encode(&self)?, frame::LEVEL_QUICK, &[])
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        record::decode(&frame::unpack(row, &[], MAX_RECORD)?)
    }
}

/// Returns the row that names the format.
pub(crate) fn format_row() -> Vec<u8> {
    let mut row = FORMAT_WORD.to_vec();
    row.extend_from_slice(&FORMAT.major.to_le_bytes());
    row.extend_from_slice(&FORMAT.minor.to_le_bytes());
    row
}

/// Reads the row that names the format.
pub(crate) fn format_of_row(row: &[u8]) -> Option<FormatVersion> {
    match row.strip_prefix(FORMAT_WORD)? {
        [a, b, c, d] => Some(FormatVersion {
            major: u16::from_le_bytes([*a, *b]),
            minor: u16::from_le_bytes([*c, *d]),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::append::Appender;
    use crate::file::reel::Reel;

    #[test]
    fn the_rows_come_back() {
        assert_eq!(format_of_row(&format_row()), Some(FORMAT));
        assert_eq!(format_of_row(b"kubereel"), None);
        let state = FileState {
            finished: true,
            records: 9,
        };
        assert_eq!(FileState::decode(&state.encode().unwrap()), Ok(state));
    }

    #[test]
    fn a_file_that_is_gone_on_with_says_the_present_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.reel");
        drop(Appender::create(&path).unwrap());
        let older = FormatVersion { major: 0, minor: 7 };
        let mut row = format_row();
        let (major, minor) = (row.len() - 4, row.len() - 2);
        row[major..minor].copy_from_slice(&older.major.to_le_bytes());
        row[minor..].copy_from_slice(&older.minor.to_le_bytes());
        let database = redb::Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction
            .open_table(META)
            .unwrap()
            .insert(FORMAT_KEY, row.as_slice())
            .unwrap();
        transaction.commit().unwrap();
        drop(database);
        assert_eq!(Reel::open(&path).unwrap().format(), older);
        drop(Appender::resume(&path).unwrap());
        assert_eq!(Reel::open(&path).unwrap().format(), FORMAT);
    }
}
