//! The digest of a recording: equal for two reels exactly if they have the same records, however
//! those are packed.
//!
//! Records are hashed in groups, and the groups are the leaves of a tree (RFC 6962), so that a part
//! can be proved without the rest. The hashed bytes are those of section 11 of SPEC.md, not those
//! of the file: packing a reel anew does not change them.

use crate::codec::{record, varint};
use crate::error::{Loss, ReadError};
use crate::event::{EventType, Evidence};
use crate::file::{Event, Reel};
use crate::id::{Seq, Stamp};
use crate::note::{Note, NoteEntry};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Display, Formatter};

/// The records of one leaf.
const GROUP: u32 = 1024;

/// The SHA-256 of all records of a reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingDigest([u8; 32]);

impl Display for RecordingDigest {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Computes the digest while a reel's events are read in their order.
#[derive(Debug)]
pub struct DigestBuilder<'a> {
    reel: &'a Reel,
    notes: std::slice::Iter<'a, NoteEntry>,
    next: u64,
    tree: HashTree,
    failure: Option<ReadError>,
}

impl<'a> DigestBuilder<'a> {
    /// Begins with the first record of a reel.
    pub fn new(reel: &'a Reel) -> Self {
        Self {
            reel,
            notes: reel.notes().iter(),
            next: 0,
            tree: HashTree::default(),
            failure: None,
        }
    }

    /// Takes the next event, and the notes before it.
    pub fn take(&mut self, event: &Event) {
        self.take_notes(event.head.seq);
        let head = &event.head;
        let Some(key) = self.reel.key(head.object) else {
            return self.fail(head.seq, "its object is unknown");
        };
        let mut bytes = vec![kind_byte(head.kind), evidence_byte(head.evidence)];
        put_stamp(&mut bytes, head.stamp);
        bytes.extend_from_slice(&head.connection.0.to_le_bytes());
        bytes.extend_from_slice(&key.resource.0.to_le_bytes());
        let uid = key.uid.text();
        for text in [key.namespace, key.name, &uid, &head.resource_version] {
            put_sized(&mut bytes, text.as_bytes());
        }
        varint::put_len(&mut bytes, event.body.len());
        self.push(head.seq, &[&bytes, &event.body]);
    }

    /// Returns the digest after the last event.
    ///
    /// # Errors
    /// When records are missing or unreadable: then there is no digest of the recording.
    pub fn finish(mut self) -> Result<RecordingDigest, ReadError> {
        let end = self.reel.end();
        self.take_notes(end);
        // Damage may have taken the last records, and no other place names them.
        let mut damage = self.reel.damage().iter();
        let lossy = damage.find(|one| matches!(one.loss, Loss::Records { .. } | Loss::Unknown));
        if let Some(damage) = lossy {
            let cause = format!("{}: {}", damage.place, damage.cause);
            self.fail(Seq(self.next), &cause);
        } else if self.next != end.0 {
            self.fail(Seq(self.next), "it is missing");
        }
        match self.failure {
            Some(error) => Err(error),
            None => Ok(RecordingDigest(self.tree.root())),
        }
    }

    fn take_notes(&mut self, before: Seq) {
        while let Some(entry) = self.notes.as_slice().first() {
            if entry.seq >= before {
                return;
            }
            self.notes.next();
            if let Err(error) = self.take_note(entry) {
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Takes a note. Numbers of the blob log depend on the packing of the reel, so their texts are
    /// hashed instead.
    fn take_note(&mut self, entry: &NoteEntry) -> Result<(), ReadError> {
        let mut note = entry.note.clone();
        let blobs = match &mut note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => std::mem::take(blobs),
            _ => Vec::new(),
        };
        let mut text = Vec::new();
        for blob in blobs {
            text.extend_from_slice(&self.reel.blob(blob)?);
        }
        let encoded = record::encode(&note).map_err(|error| ReadError::Event {
            seq: entry.seq,
            cause: error.to_string(),
        })?;
        let mut bytes = vec![0];
        put_stamp(&mut bytes, entry.stamp);
        put_sized(&mut bytes, &encoded);
        put_sized(&mut bytes, &text);
        self.push(entry.seq, &[&bytes]);
        Ok(())
    }

    fn push(&mut self, seq: Seq, parts: &[&[u8]]) {
        if seq.0 != self.next {
            return self.fail(Seq(self.next), "it is missing");
        }
        self.next = self.next.saturating_add(1);
        self.tree.push(parts);
    }

    fn fail(&mut self, seq: Seq, cause: &str) {
        self.failure.get_or_insert_with(|| ReadError::Event {
            seq,
            cause: cause.to_owned(),
        });
    }
}

impl Reel {
    /// Reads all records and returns their digest; `progress` receives the number of processed
    /// records.
    ///
    /// # Errors
    /// When a record cannot be read.
    pub fn digest(&self, mut progress: impl FnMut(u64)) -> Result<RecordingDigest, ReadError> {
        let mut builder = DigestBuilder::new(self);
        for event in self.scan() {
            let event = event?;
            builder.take(&event);
            progress(event.head.seq.0);
        }
        builder.finish()
    }
}

fn put_stamp(out: &mut Vec<u8>, stamp: Stamp) {
    out.extend_from_slice(&stamp.wall.micros.to_le_bytes());
    out.extend_from_slice(&stamp.elapsed.micros.to_le_bytes());
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

const fn kind_byte(kind: EventType) -> u8 {
    match kind {
        EventType::Added => 1,
        EventType::Modified => 2,
        EventType::Deleted => 3,
    }
}

const fn evidence_byte(evidence: Evidence) -> u8 {
    match evidence {
        Evidence::Live => 0,
        Evidence::Initial => 1,
        Evidence::Listed => 2,
        Evidence::Polled => 3,
        Evidence::Inferred => 4,
        Evidence::Reconstructed => 5,
        Evidence::Imported => 6,
    }
}

/// A hash tree as in RFC 6962 that grows leaf by leaf.
#[derive(Debug, Default)]
struct HashTree {
    /// The open leaf, and the number of its records.
    leaf: Option<(Sha256, u32)>,
    /// The roots of complete subtrees from left to right, with their heights, which decrease.
    roots: Vec<(u32, [u8; 32])>,
}

impl HashTree {
    fn push(&mut self, parts: &[&[u8]]) {
        let (mut hash, count) = self
            .leaf
            .take()
            .unwrap_or_else(|| (Sha256::new_with_prefix([0]), 0));
        for part in parts {
            hash.update(part);
        }
        self.leaf = Some((hash, count.saturating_add(1)));
        if count.saturating_add(1) == GROUP {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((hash, _)) = self.leaf.take() else {
            return;
        };
        let mut root: (u32, [u8; 32]) = (0, hash.finalize().into());
        while let Some((height, left)) = self.roots.pop_if(|(height, _)| *height == root.0) {
            root = (height.saturating_add(1), joined(&left, &root.1));
        }
        self.roots.push(root);
    }

    fn root(mut self) -> [u8; 32] {
        self.close();
        let roots = self.roots.into_iter().map(|(_, root)| root).rev();
        roots
            .reduce(|right, left| joined(&left, &right))
            .unwrap_or_else(|| Sha256::digest([]).into())
    }
}

fn joined(left: &[u8], right: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix([1]);
    hash.update(left);
    hash.update(right);
    hash.finalize().into()
}
