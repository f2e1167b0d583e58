//! The report of a scan: the findings with their places, and what could not be searched. It never
//! contains a secret.

use kubereel_format::{RecordedAt, Seq};
use std::path::PathBuf;
use thiserror::Error;

/// The number of findings that are listed.
pub(crate) const LISTED_MOST: usize = 1000;

/// A reel could not be searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The raw file cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// No key for the policy's marks can be drawn.
    #[error(transparent)]
    NoRandomness(#[from] kubereel_redact::NoRandomness),
}

/// The place of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingPlace {
    /// In the object of an event.
    Object {
        /// The event.
        seq: Seq,
        /// When it was recorded.
        at: RecordedAt,
        /// The object: resource, namespace, name.
        object: String,
    },
    /// In an object's names.
    Name {
        /// The object.
        object: String,
    },
    /// In a note.
    Note {
        /// Its place.
        seq: Seq,
        /// When it was written.
        at: RecordedAt,
    },
    /// In a document or a line that a note refers to.
    Kept {
        /// The note's place.
        seq: Seq,
        /// When it was written.
        at: RecordedAt,
    },
    /// In the raw file.
    File,
}

/// A secret or a canary in a reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanFinding {
    /// The rule of the policy, or the canary: `canary 1`.
    pub rule: String,
    /// The encoding: for the policy `hex` if it was found in hexadecimal; for a canary plain,
    /// base64, …; else empty.
    pub form: &'static str,
    /// The place.
    pub place: FindingPlace,
    /// The path in the object, if it has one.
    pub path: String,
    /// The offset in the object, the note or the file, in bytes.
    pub offset: u64,
    /// The length of the secret, in bytes.
    pub len: usize,
    /// Its first letters: at most four, and at most a fourth of it.
    pub begin: String,
}

/// A part of a reel that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadPart {
    /// The place and the cause.
    pub words: String,
    /// The number of unreadable events, notes or texts, as far as it is known.
    pub count: u64,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanReport {
    /// The findings, in the order of the reel; at most a thousand.
    pub found: Vec<ScanFinding>,
    /// The number of findings.
    pub total: u64,
    /// Strings that look random and have no known form, each once; at most a thousand. Most are not
    /// secrets, so they are counted separately.
    pub high_entropy: Vec<ScanFinding>,
    /// Their number.
    pub high_entropy_total: u64,
    /// What could not be read, each kind once: it may contain a secret.
    pub unread: Vec<UnreadPart>,
    /// The number of searched objects of events.
    pub objects: u64,
    /// The searched bytes of objects, names, notes and documents.
    pub decompressed_bytes: u64,
    /// The searched bytes of the file.
    pub file_bytes: u64,
    /// The number of canaries.
    pub canaries: u64,
}

impl ScanReport {
    /// Adds a finding.
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
