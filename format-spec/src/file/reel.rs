//! The reading end of a reel. Everything but the bodies is in memory after opening. Queries about
//! times and objects need no body, and lost records never answer one.

use super::body::BodyReader;
use super::load::{BlockSource, Loaded};
use super::open::ReelSource;
use super::scan::Scan;
use super::{checkpoint, open};
use crate::error::{Damage, Loss, OpenError, ReadError};
use crate::event::{EventHead, EventType, Evidence, ObjectKeyRef};
use crate::file::delta_chain;
use crate::file::gather::{self, GatheredBodies};
use crate::file::load::Slot;
use crate::file::names::ObjectNames;
use crate::file::unreadable::{LossCounts, UnreadableRecords};
use crate::id::{BlobId, BlockId, ConnectionId, ObjectId, RecordedAt, ResourceId, Seq, Stamp};
use crate::limits::{FormatVersion, place32};
use crate::note::{Note, NoteEntry};
use std::collections::HashSet;
use std::fs::Metadata;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reading end of a reel.
///
/// A file that a recorder has locked gives [`OpenError::InUse`]; the file of a killed recorder
/// opens unchanged.
pub struct Reel {
    path: PathBuf,
    format: FormatVersion,
    finished: bool,
    is_sealed: bool,
    file_bytes: u64,
    facts: Metadata,
    objects: ObjectNames,
    pub(crate) loaded: Loaded,
    pub(crate) versions: Versions,
    reader: BodyReader,
    blocks: Vec<BlockInfo>,
    left_out: HashSet<ResourceId>,
    described: HashSet<ResourceId>,
    unreadable: UnreadableRecords,
}

impl std::fmt::Debug for Reel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reel")
            .field("path", &self.path)
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

/// An object of the reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReelObject<'a> {
    /// Its number.
    pub id: ObjectId,
    /// Its identity.
    pub key: ObjectKeyRef<'a>,
}

/// A block of a reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// Its number; unsealed blocks share the next one.
    pub id: BlockId,
    /// Its first record.
    pub first: Seq,
    /// The number of its records.
    pub records: u32,
    /// Whether it was sealed.
    pub sealed: bool,
    /// The bytes of its bodies in the file; 0 if it was not sealed.
    pub body_bytes: u32,
}

/// The decoding work since opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Rows that were read from the database.
    pub rows: u64,
    /// Frames that were decompressed.
    pub frames: u64,
    /// Bodies that were decoded.
    pub bodies: u64,
}

/// The bytes of a reel's parts in its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSizes {
    /// Sealed bodies.
    pub bodies: u64,
    /// The directory: heads, names, notes.
    pub index: u64,
    /// Unsealed records.
    pub tail: u64,
}

/// The size of a reel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeBreakdown {
    /// The whole file.
    pub file: u64,
    /// Its parts; the rest belongs to the database.
    pub parts: PartSizes,
}

/// The versions of every object, by object.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    starts: Vec<usize>,
    seqs: Vec<Seq>,
}

impl Versions {
    fn new(loaded: &Loaded) -> Self {
        let place = |object: ObjectId| place32(object.0);
        let mut starts = vec![0usize; loaded.objects.len().saturating_add(1)];
        let events = || {
            (0u64..)
                .map(Seq)
                .zip(loaded.heads.slots())
                .filter_map(|(seq, slot)| match slot {
                    Slot::Event(object) => Some((seq, object)),
                    Slot::Note | Slot::Lost => None,
                })
        };
        for (_, object) in events() {
            if let Some(count) = starts.get_mut(place(object).saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        }
        let mut total = 0usize;
        for start in &mut starts {
            total = total.saturating_add(*start);
            *start = total;
        }
        let mut next = starts.clone();
        let mut seqs = vec![Seq(0); total];
        for (seq, object) in events() {
            if let Some(at) = next.get_mut(place(object))
                && let Some(slot) = seqs.get_mut(*at)
            {
                *slot = seq;
                *at = at.saturating_add(1);
            }
        }
        Self { starts, seqs }
    }

    /// Returns how many there are: the events of the reel.
    pub(crate) fn count(&self) -> usize {
        self.seqs.len()
    }

    pub(crate) fn of(&self, object: ObjectId) -> &[Seq] {
        let place = place32(object.0);
        let span = self
            .starts
            .get(place)
            .copied()
            .zip(self.starts.get(place.saturating_add(1)).copied());
        span.and_then(|(from, to)| self.seqs.get(from..to))
            .unwrap_or_default()
    }

    /// Returns the last version before `seq`.
    pub(crate) fn before(&self, object: ObjectId, seq: Seq) -> Option<Seq> {
        let all = self.of(object);
        let count = all.partition_point(|known| *known < seq);
        all.get(count.checked_sub(1)?).copied()
    }
}

impl Reel {
    /// Opens a reel and verifies all checksums except those of bodies, which are verified when they
    /// are read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a reel, is being recorded, or is of an unknown format.
    /// Damage is not an error as long as anything can be read: see [`Self::damage`]. If the
    /// database of a file is damaged, the whole file is searched for rows.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_source(ReelSource::Path(path))
    }

    /// Opens a reel whose bytes may be in a private copy.
    pub(crate) fn open_source(source: ReelSource<'_>) -> Result<Self, OpenError> {
        let (opened, facts) = open::open(source)?;
        let mut loaded = opened.loaded;
        let versions = Versions::new(&loaded);
        let mut objects = std::mem::take(&mut loaded.objects);
        objects.settle();
        let blocks = loaded
            .blocks
            .iter()
            // A block that is only a prefix is a part of the others.
            .filter(|block| block.records > 0)
            .map(|block| {
                let body_bytes = match &block.source {
                    BlockSource::Sealed(place) => Some(place.bodies.len),
                    BlockSource::Tail(_) => None,
                };
                BlockInfo {
                    id: BlockId(block.number),
                    first: Seq(block.start.record),
                    records: block.records,
                    sealed: body_bytes.is_some(),
                    body_bytes: body_bytes.unwrap_or(0),
                }
            })
            .collect();
        let mut reel = Self {
            path: source.path().to_owned(),
            format: opened.format,
            finished: opened.finished,
            is_sealed: opened.is_sealed,
            file_bytes: opened.file_bytes,
            facts,
            versions,
            reader: BodyReader::new(opened.rows),
            objects,
            left_out: loaded
                .notes
                .iter()
                .filter_map(|entry| checkpoint::left_out(&entry.note))
                .collect(),
            described: loaded
                .notes
                .iter()
                .filter_map(|entry| match &entry.note {
                    Note::Resource(info) => Some(info.id),
                    _ => None,
                })
                .collect(),
            unreadable: UnreadableRecords::default(),
            loaded,
            blocks,
        };
        let unreadable = reel.reader.unreadable_blocks(&reel);
        reel.loaded.damage.extend(unreadable);
        Ok(reel.with_losses_named())
    }

    /// Finds what cannot be read of a reel that has losses: damage reaches farther than its place.
    fn with_losses_named(mut self) -> Self {
        if let Some(first) = self.first_loss() {
            self.unreadable = UnreadableRecords::find(&self, first);
            let unnamed = self.unreadable.unnamed(&self);
            self.loaded.damage.extend(unnamed);
        }
        self
    }

    /// Adds the damage of the file that the reel was taken from, such as a compressed one with a failed checksum.
    ///
    /// If the reel itself is whole up to its end, or tells its losses, nothing is lost by that. The reel of a killed
    /// recorder does not tell where it ends: any record may be lost.
    #[must_use]
    pub fn taken_from_damaged(mut self, cause: String) -> Self {
        let tells_losses = self.finished || self.is_sealed || !self.loaded.damage.is_empty();
        self.loaded.damage.push(Damage {
            place: "the file that has the reel".to_owned(),
            cause,
            loss: if tells_losses {
                Loss::Nothing
            } else {
                Loss::Unknown
            },
        });
        if tells_losses {
            self
        } else {
            self.with_losses_named()
        }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the system knew of the file when it was opened.
    pub(crate) fn facts(&self) -> &Metadata {
        &self.facts
    }

    /// Returns the file's format.
    pub fn format(&self) -> FormatVersion {
        self.format
    }

    /// Returns whether the file is a whole sealed one, without a database. It cannot be appended
    /// to.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Returns whether the last recorder ended in order.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Returns the number of records, events and notes.
    pub fn end(&self) -> Seq {
        Seq(self.loaded.heads.len())
    }

    /// Returns the number of events.
    pub fn event_count(&self) -> u64 {
        self.loaded.heads.events()
    }

    /// Returns all notes in their order.
    pub fn notes(&self) -> &[NoteEntry] {
        &self.loaded.notes
    }

    /// Returns the damage that was found at opening; empty for a whole file.
    pub fn damage(&self) -> &[Damage] {
        &self.loaded.damage
    }

    /// Returns whether damage lost anything: not if all of the content exists elsewhere.
    pub fn has_losses(&self) -> bool {
        self.first_loss().is_some()
    }

    /// Returns the first record that may be lost.
    fn first_loss(&self) -> Option<Seq> {
        let damage = self.loaded.damage.iter();
        let lossy = damage.filter(|damage| damage.loss != Loss::Nothing);
        lossy
            .map(|damage| damage.loss.first().unwrap_or_default())
            .min()
    }

    /// Returns the records that cannot be read, as far as opening the reel showed it.
    pub(crate) fn unreadable(&self) -> &UnreadableRecords {
        &self.unreadable
    }

    /// Returns how much cannot be read, as far as opening the reel showed it.
    pub fn losses(&self) -> LossCounts {
        self.unreadable.counts()
    }

    /// Returns whether opening the reel showed that an event's object cannot be read.
    pub fn is_unreadable(&self, seq: Seq) -> bool {
        self.unreadable.has_event(seq)
    }

    /// Returns how many records a damaged place lost, if that is known.
    pub fn lost_in(&self, loss: Loss) -> Option<u64> {
        let (first, last) = match loss {
            Loss::Nothing => return Some(0),
            loss => loss.first().zip(loss.last())?,
        };
        let records = (first.0..=last.0).filter(|seq| match loss {
            Loss::Bodies { .. } => self.is_unreadable(Seq(*seq)),
            _ => true,
        });
        Some(records.fold(0, |count, _| count + 1))
    }

    /// Returns whether a note describes the resource of an object.
    pub(crate) fn is_described(&self, object: ObjectId) -> bool {
        let key = self.key(object);
        key.is_some_and(|key| self.described.contains(&key.resource))
    }

    /// Returns the objects by their numbers.
    pub fn objects(&self) -> impl Iterator<Item = ReelObject<'_>> {
        // A reel has fewer objects than 32 bits count.
        (0..u32::MAX).map(ObjectId).map_while(|id| {
            let key = self.objects.get(id)?;
            Some(ReelObject { id, key })
        })
    }

    /// Returns the number of objects.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Returns the identity of an object.
    pub fn key(&self, object: ObjectId) -> Option<ObjectKeyRef<'_>> {
        self.objects.get(object)
    }

    /// Returns the events of an object in their order.
    pub fn versions(&self, object: ObjectId) -> &[Seq] {
        self.versions.of(object)
    }

    /// Returns an event without its body; `None` for notes.
    pub fn head(&self, seq: Seq) -> Option<EventHead> {
        self.loaded.heads.head(seq)
    }

    /// Returns when a record was received.
    pub fn stamp(&self, seq: Seq) -> Option<Stamp> {
        self.loaded.heads.stamp(seq)
    }

    /// Returns the object of an event; `None` for notes.
    pub fn object_of(&self, seq: Seq) -> Option<ObjectId> {
        self.loaded.heads.object(seq)
    }

    /// Returns the type of an event; `None` for notes.
    pub fn kind_of(&self, seq: Seq) -> Option<EventType> {
        self.loaded.heads.kind(seq).map(|(kind, _)| kind)
    }

    /// Returns the evidence of an event; `None` for notes.
    pub fn evidence_of(&self, seq: Seq) -> Option<Evidence> {
        self.loaded.heads.kind(seq).map(|(_, evidence)| evidence)
    }

    /// Returns the connection of an event; `None` for notes.
    pub fn connection_of(&self, seq: Seq) -> Option<ConnectionId> {
        self.loaded.heads.connection(seq)
    }

    /// Returns the resourceVersion of an event, if it is a number.
    pub fn rv_of(&self, seq: Seq) -> Option<u128> {
        self.loaded.heads.version(seq)
    }

    /// Returns the number of records up to and including the last event that was received at `at` or
    /// before, and the notes right behind it that are not later.
    pub fn seq_after(&self, at: RecordedAt) -> Seq {
        self.loaded.heads.seq_after(at)
    }

    /// Returns the earliest and the latest time of an event; after a clock stepped back, these are not those of the
    /// first and the last.
    pub fn event_span(&self) -> Option<(RecordedAt, RecordedAt)> {
        self.loaded.heads.event_span()
    }

    /// Adds the events that were received within a time to the counts of its slices, of `slice_micros` each. Events
    /// behind the last slice are not counted.
    ///
    /// This reads far fewer times than there are events: the shorter the time, the fewer.
    pub fn count_events(&self, within: Range<RecordedAt>, slice_micros: u64, counts: &mut [u64]) {
        let within = within.start.micros..within.end.micros;
        self.loaded.heads.count_events(within, slice_micros, counts);
    }

    /// Returns the body of an event, as the server sent it.
    ///
    /// # Errors
    ///
    /// If there is no such event, or if damage lost a part that it needs.
    pub fn body(&self, seq: Seq) -> Result<Arc<[u8]>, ReadError> {
        delta_chain::body_of(self, &self.reader, seq, None)
    }

    /// Like [`Self::body`], for one of many objects of the state at `at`: of the object's last
    /// version before `at`. Checkpoints make this cheaper for many objects.
    ///
    /// # Errors
    ///
    /// As for [`Self::body`].
    pub fn body_at(&self, seq: Seq, at: Seq) -> Result<Arc<[u8]>, ReadError> {
        delta_chain::body_of(self, &self.reader, seq, Some(at))
    }

    /// Prepares the bodies of many events: each block behind them is decoded once. With `at`, each event is its
    /// object's last version before that, as for [`Self::body_at`].
    ///
    /// `reached` receives how many of the events were met, in rising order.
    pub fn gather(
        &self,
        events: &[Seq],
        at: Option<Seq>,
        reached: &mut dyn FnMut(u64),
    ) -> GatheredBodies<'_> {
        gather::gather(self, events, at, reached)
    }

    /// Limits the decoded data to `bytes` bytes, and half as many that are being dropped; 48 MiB by
    /// default. With less, later queries about the same places take longer. Returns the limit before.
    pub fn bound_cache(&self, bytes: usize) -> usize {
        self.reader.bound(bytes)
    }

    /// Returns the resources that checkpoints leave out.
    pub(crate) fn left_out(&self) -> &HashSet<ResourceId> {
        &self.left_out
    }

    /// Returns a text of the blob log.
    ///
    /// # Errors
    ///
    /// If there is no such text, or if damage lost it.
    pub fn blob(&self, id: BlobId) -> Result<Arc<[u8]>, ReadError> {
        self.reader.blob(self, id)
    }

    pub(crate) fn reader(&self) -> &BodyReader {
        &self.reader
    }

    /// Reads all events in their order, with their bodies.
    pub fn scan(&self) -> Scan<'_> {
        Scan::new(self, Seq(0)..self.end(), None)
    }

    /// Reads the events of some objects between two records, in their order. Blocks without one of
    /// them are not decoded.
    pub fn scan_objects(&self, records: Range<Seq>, objects: HashSet<ObjectId>) -> Scan<'_> {
        Scan::new(self, records, Some(objects))
    }

    /// Returns the decoding work since opening.
    pub fn counts(&self) -> ReadCounts {
        self.reader.counts()
    }

    /// Returns the blocks in their order.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.blocks
    }

    /// Returns the location of the file's bytes.
    pub fn sizes(&self) -> SizeBreakdown {
        SizeBreakdown {
            file: self.file_bytes,
            parts: PartSizes {
                bodies: self
                    .loaded
                    .blocks
                    .iter()
                    .map(|block| match &block.source {
                        BlockSource::Sealed(place) => u64::from(place.bodies.len),
                        BlockSource::Tail(_) => 0,
                    })
                    .sum(),
                index: self.loaded.index_bytes,
                tail: self.loaded.tail_bytes,
            },
        }
    }
}
