//! The identity of a file's writer: its version, and the features that a reader must know. It is behind
//! the header of each row `owner`.
//!
//! Invariants:
//! * The form never changes, so that every reader can name the program that reads a file which it cannot read itself.
//! * A file of before has nothing there: it needs no feature, and does not name its writer.

use crate::codec::CodecError;
use crate::codec::varint::{self, FieldReader};
use crate::limits::MAX_NAME;

/// The version of this program: all crates of the workspace have one.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// How many features a file can name: a reader allocates no more.
const MAX_FEATURES: u64 = 256;

/// Bodies lie by object in the groups of a large sealed file.
const BODIES_BY_OBJECT: &str = "bodies by object";

/// The features that this program knows beyond what every file of its format has.
const KNOWN: [&str; 1] = [BODIES_BY_OBJECT];

/// Something that a reader must know to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredFeature {
    /// Its name, in words.
    pub(crate) name: String,
    /// The first version of the program that reads it.
    pub(crate) since: String,
}

/// Who wrote a file, and what that takes to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileOrigin {
    /// The version of the program; empty if the file does not name it.
    pub(crate) program: String,
    pub(crate) features: Vec<RequiredFeature>,
}

impl FileOrigin {
    /// Returns the identity of this program, for the files that it writes.
    pub(crate) fn of_this_program() -> Self {
        Self {
            program: PROGRAM.to_owned(),
            features: Vec::new(),
        }
    }

    /// Returns the identity of this program, for a sealed file whose bodies lie by object.
    pub(crate) fn with_bodies_by_object() -> Self {
        Self {
            features: vec![RequiredFeature {
                name: BODIES_BY_OBJECT.to_owned(),
                since: PROGRAM.to_owned(),
            }],
            ..Self::of_this_program()
        }
    }

    /// Returns the first feature that this program does not know.
    pub(crate) fn unknown_feature(&self) -> Option<&RequiredFeature> {
        let mut features = self.features.iter();
        features.find(|feature| !KNOWN.contains(&feature.name.as_str()))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_text(&mut out, &self.program);
        varint::put_len(&mut out, self.features.len());
        for feature in &self.features {
            put_text(&mut out, &feature.name);
            put_text(&mut out, &feature.since);
        }
        out
    }

    /// Reads it; what a later version of the program says behind it is left out.
    pub(crate) fn decode(content: &[u8]) -> Result<Self, CodecError> {
        if content.is_empty() {
            return Ok(Self::default());
        }
        let mut fields = FieldReader::new(content, "the owner of the file");
        let program = fields.text(MAX_NAME)?.to_owned();
        let count = fields.at_most(MAX_FEATURES)?;
        let mut features = Vec::new();
        for _ in 0..count {
            features.push(RequiredFeature {
                name: fields.text(MAX_NAME)?.to_owned(),
                since: fields.text(MAX_NAME)?.to_owned(),
            });
        }
        Ok(Self { program, features })
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    varint::put_len(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::OpenError;
    use crate::file::append::Appender;
    use crate::file::reel::Reel;
    use crate::file::row::{RowHeader, RowKind};
    use crate::file::tables;
    use crate::limits::{FORMAT, FormatVersion};
    use redb::{Database, ReadableDatabase as _};
    use std::path::Path;

    fn of_the_future() -> FileOrigin {
        FileOrigin {
            program: "9.1.0".to_owned(),
            features: vec![RequiredFeature {
                name: "bodies in another codec".to_owned(),
                since: "9.0.0".to_owned(),
            }],
        }
    }

    #[test]
    fn what_a_writer_says_of_itself_comes_back() {
        for origin in [
            FileOrigin::default(),
            FileOrigin::of_this_program(),
            FileOrigin::with_bodies_by_object(),
            of_the_future(),
        ] {
            let mut content = origin.encode();
            assert_eq!(FileOrigin::decode(&content), Ok(origin.clone()));
            content.extend_from_slice(b"said by a later version");
            assert_eq!(FileOrigin::decode(&content), Ok(origin));
        }
        assert_eq!(FileOrigin::decode(&[]), Ok(FileOrigin::default()));
        assert!(FileOrigin::decode(&[0, 0xff, 0xff, 0x7f]).is_err());
        assert_eq!(FileOrigin::of_this_program().unknown_feature(), None);
        assert_eq!(FileOrigin::with_bodies_by_object().unknown_feature(), None);
        let future = of_the_future();
        assert_eq!(future.unknown_feature(), future.features.first());
    }

    /// Forges the words of the writer, and the format if one is given, in the database of a reel.
    fn forge(path: &Path, origin: &FileOrigin, format: Option<FormatVersion>) {
        let database = Database::create(path).unwrap();
        let owner = {
            let read = database.begin_read().unwrap();
            let meta = read.open_table(tables::META).unwrap();
            let row = meta.get(tables::OWNER_KEY).unwrap().unwrap();
            RowHeader::read(row.value()).unwrap().owner
        };
        let write = database.begin_write().unwrap();
        {
            let mut meta = write.open_table(tables::META).unwrap();
            let row = owner.row(RowKind::Owner, 0, &origin.encode());
            meta.insert(tables::OWNER_KEY, row.as_slice()).unwrap();
            if let Some(format) = format {
                let mut row = tables::FORMAT_WORD.to_vec();
                row.extend_from_slice(&format.major.to_le_bytes());
                row.extend_from_slice(&format.minor.to_le_bytes());
                meta.insert(tables::FORMAT_KEY, row.as_slice()).unwrap();
            }
        }
        write.commit().unwrap();
    }

    fn refused(path: &Path) -> String {
        let refused = Reel::open(path).unwrap_err();
        let appending = Appender::resume(path).unwrap_err();
        assert_eq!(refused.to_string(), appending.to_string());
        assert!(matches!(
            refused,
            OpenError::UnknownFormat { .. } | OpenError::UnknownFeature { .. }
        ));
        refused.to_string()
    }

    #[test]
    fn a_reel_that_needs_an_unknown_feature_is_refused_with_the_version_that_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.reel");
        Appender::create(&path).unwrap().finish().unwrap();
        assert_eq!(Reel::open(&path).unwrap().damage(), []);
        forge(&path, &of_the_future(), None);
        let said = refused(&path);
        assert!(said.contains("bodies in another codec"), "{said}");
        assert!(said.contains("kubereel 9.0.0"), "{said}");
        // A damaged one is not read in part, either: the readable part might be wrong.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(bytes.len() - 1);
        std::fs::write(&path, &bytes).unwrap();
        let said = Reel::open(&path).unwrap_err().to_string();
        assert!(said.contains("kubereel 9.0.0"), "{said}");
    }

    #[test]
    fn a_reel_of_a_newer_format_names_the_program_that_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.reel");
        Appender::create(&path).unwrap().finish().unwrap();
        let newer = FormatVersion {
            major: FORMAT.major + 1,
            minor: 0,
        };
        let origin = FileOrigin {
            program: "9.1.0".to_owned(),
            features: Vec::new(),
        };
        forge(&path, &origin, Some(newer));
        let said = refused(&path);
        assert!(said.contains(&format!("format {newer} ")), "{said}");
        assert!(said.contains("kubereel 9.1.0"), "{said}");
        // One that does not name its writer.
        forge(&path, &FileOrigin::default(), Some(newer));
        let said = refused(&path);
        assert!(said.contains(&format!("format {newer} ")), "{said}");
        assert!(!said.contains("kubereel"), "{said}");
    }
}
