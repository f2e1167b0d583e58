//! The report of a scan: what was found and where, and what could not be searched. It never holds a secret.

use kubereel_format::{RecordedAt, Seq};
use std::path::PathBuf;
use thiserror::Error;

/// How many findings are listed.
pub(crate) const LISTED_MOST: usize = 1000;

/// A reel could not be searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The file cannot be read as it stands.
    #[error("cannot read: {source}: {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No key for the policy's marks can be drawn.
    #[error(transparent)]
    NoRandomness(#[from] kubereel_redact::NoRandomness),
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingPlace {
    /// In the object of an event.
    Object {
        /// The event.
        seq: Seq,
        /// When it was recorded.
        at: RecordedAt,
        /// Of which object: resource, namespace, name.
        object: String,
    },
    /// In an object's names.
    Name {
        /// Of which object.
        object: String,
    },
    /// In a note.
    Note {
        /// Its place.
        seq: Seq,
        /// When it was written.
        at: RecordedAt,
    },
    /// In a document or a line that a note keeps.
    Kept {
        /// The note's place.
        seq: Seq,
        /// When it was written.
        at: RecordedAt,
    },
    /// In the file as it stands.
    File,
}

/// A secret or a canary in a reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanFinding {
    /// By which rule of the policy, or as which canary: `canary 1`.
    pub rule: String,
    /// The form that the policy does not look into: `hex`; a canary's: plain, base64, …; else empty.
    pub form: &'static str,
    /// Where.
    pub place: FindingPlace,
    /// The path in the object, if it has one.
    pub path: String,
    /// At which byte of the object, the note or the file.
    pub offset: u64,
    /// How long the secret is, in bytes.
    pub len: usize,
    /// Its first letters: at most four, and at most a fourth of it.
    pub begin: String,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanReport {
    /// What was found, in the order of the reel; the first thousand.
    pub found: Vec<ScanFinding>,
    /// How many findings there are.
    pub total: u64,
    /// Strings that look random and have no known form, each once; the first thousand. Most are not
    /// secrets: they count apart.
    pub high_entropy: Vec<ScanFinding>,
    /// How many of them there are.
    pub high_entropy_total: u64,
    /// What could not be read, in words: a secret may be there.
    pub unread: Vec<String>,
    /// How many objects of events were searched.
    pub objects: u64,
    /// How many bytes of objects, names, notes and documents were searched.
    pub decompressed_bytes: u64,
    /// How many bytes of the file were searched.
    pub file_bytes: u64,
    /// How many canaries were sought.
    pub canaries: u64,
}

impl ScanReport {
    /// Adds a find.
    pub(crate) fn push(&mut self, found: ScanFinding) {
        self.total = self.total.saturating_add(1);
        if self.found.len() < LISTED_MOST {
            self.found.push(found);
        }
    }

    /// Adds a string that looks random.
    pub(crate) fn push_random(&mut self, found: ScanFinding) {
        self.high_entropy_total = self.high_entropy_total.saturating_add(1);
        if self.high_entropy.len() < LISTED_MOST {
            self.high_entropy.push(found);
        }
    }
}
