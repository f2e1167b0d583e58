//! Owns the rows that speak of the whole file: the format's version, and whether it was finished.
//! Refuses to guess: a file without them is no reel.

use crate::codec::{CodecError, frame, record};
use crate::limits::MAX_RECORD;
use crate::tables::FORMAT_WORD;
use crate::version::{FORMAT, FormatVersion};
use bincode::{Decode, Encode};

/// What is said of the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct State {
    /// Whether the last recorder ended in order and packed the file.
    pub(crate) finished: bool,
    /// How many records there are, if finished.
    pub(crate) records: u64,
}

impl State {
    pub(crate) fn encode(self) -> Result<Vec<u8>, CodecError> {
        frame::pack(&record::encode(&self)?, frame::LEVEL_QUICK, &[])
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, CodecError> {
        record::decode(&frame::unpack(row, &[], MAX_RECORD)?)
    }
}

/// Gives the row that names the format.
pub(crate) fn format_row() -> Vec<u8> {
    let mut row = FORMAT_WORD.to_vec();
    row.extend_from_slice(&FORMAT.major.to_le_bytes());
    row.extend_from_slice(&FORMAT.minor.to_le_bytes());
    row
}

/// Reads the row that names the format.
pub(crate) fn read_format(row: &[u8]) -> Option<FormatVersion> {
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
    use crate::tables;

    #[test]
    fn the_rows_come_back() {
        assert_eq!(read_format(&format_row()), Some(FORMAT));
        assert_eq!(read_format(b"kubereel"), None);
        let state = State {
            finished: true,
            records: 9,
        };
        assert_eq!(State::decode(&state.encode().unwrap()), Ok(state));
    }

    #[test]
    fn a_file_that_is_gone_on_with_says_the_present_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.reel");
        drop(Appender::create(&path).unwrap());
        let older = FormatVersion {
            minor: FORMAT.minor - 1,
            ..FORMAT
        };
        let mut row = format_row();
        let minor = row.len() - 2;
        row[minor..].copy_from_slice(&older.minor.to_le_bytes());
        let database = redb::Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction
            .open_table(tables::META)
            .unwrap()
            .insert(tables::FORMAT_KEY, row.as_slice())
            .unwrap();
        transaction.commit().unwrap();
        drop(database);
        assert_eq!(Reel::open(&path).unwrap().format(), older);
        drop(Appender::resume(&path).unwrap());
        assert_eq!(Reel::open(&path).unwrap().format(), FORMAT);
    }
}
