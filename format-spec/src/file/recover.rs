//! Writes what can be read of a damaged reel as a new whole one.
//!
//! Invariants:
//! * Everything keeps its order, its time and its evidence. A run of records that cannot be read becomes one note
//!   [`Note::Unreadable`] in its place, so that the new reel claims nothing about them.
//! * The new file has its name only when it is complete and durable; a file of that name is never replaced.
//! * A reel that was not finished does not become one that was.

use crate::error::{Loss, RecoverError};
use crate::event::{NewBody, NewEvent};
use crate::file::append::Appender;
use crate::file::body::key_of;
use crate::file::load::{LOST_RESOURCE, Slot};
use crate::file::reel::Reel;
use crate::file::scan::Event;
use crate::id::{BlobId, ResourceId, Seq, Stamp};
use crate::limits::COMMIT_RECORDS;
use crate::note::{BlobNote, Note, NoteEntry};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What was written, and what could not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoverStats {
    /// Events written.
    pub events: u64,
    /// Notes written, without those about losses.
    pub notes: u64,
    /// Events whose objects could not be read.
    pub lost_events: u64,
    /// Events or notes of which nothing could be read, as far as their number is known.
    pub lost_records: u64,
    /// The notes about losses.
    pub losses: u64,
    /// Whether more may have followed at the end, of which nothing is known.
    pub is_end_lost: bool,
    /// The new file's length, in bytes.
    pub file_bytes: u64,
}

/// Writes what can be read of a reel as a new one; `progress` receives the number of records that are done.
///
/// # Errors
///
/// If there is a file of that name, or it cannot be written. Nothing is left behind then.
pub fn recover(
    reel: &Reel,
    to: &Path,
    progress: impl FnMut(u64),
) -> Result<RecoverStats, RecoverError> {
    if to.symlink_metadata().is_ok() {
        return Err(RecoverError::Exists {
            path: to.to_owned(),
        });
    }
    let part = part_path(to);
    let outcome = write(reel, &part, progress).and_then(|stats| {
        publish(&part, to)?;
        Ok(stats)
    });
    // Gone already if all went well.
    drop(std::fs::remove_file(&part));
    outcome
}

fn part_path(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    to.with_file_name(name)
}

/// Gives the complete file its name, unless somebody else took it meanwhile.
fn publish(part: &Path, to: &Path) -> Result<(), RecoverError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => RecoverError::Exists {
            path: to.to_owned(),
        },
        _ => RecoverError::Name {
            path: to.to_owned(),
            source,
        },
    };
    match std::fs::hard_link(part, to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            // Not every file system has links.
            std::fs::rename(part, to).map_err(failed)
        }
        linked => linked.map_err(failed),
    }
}

fn write(
    reel: &Reel,
    part: &Path,
    mut progress: impl FnMut(u64),
) -> Result<RecoverStats, RecoverError> {
    let mut copy = RecoveredCopy {
        reel,
        appender: Appender::create(part)?,
        announced: BTreeSet::new(),
        lost: None,
        last: Stamp::default(),
        pending: 0,
        stats: RecoverStats::default(),
    };
    let mut events = reel.scan(Seq(0)).filter_map(Result::ok).peekable();
    let mut notes = reel.notes().iter().peekable();
    for seq in (0..reel.end().0).map(Seq) {
        match reel.loaded.heads.slot(seq) {
            Some(Slot::Event(_)) => copy.event(seq, events.next_if(|event| event.head.seq == seq))?,
            Some(Slot::Note) => copy.note(seq, notes.next_if(|note| note.seq == seq))?,
            Some(Slot::Lost) | None => copy.lose(seq, None),
        }
        progress(seq.0);
    }
    copy.end()
}

/// Records in a row that cannot be read.
struct LostRun {
    before: Stamp,
    last: Option<Stamp>,
    records: u64,
    resources: BTreeSet<ResourceId>,
    /// Whether anything may be among them.
    is_unknown: bool,
    cause: String,
}

struct RecoveredCopy<'a> {
    reel: &'a Reel,
    appender: Appender,
    announced: BTreeSet<ResourceId>,
    lost: Option<LostRun>,
    /// When the last record was received.
    last: Stamp,
    /// How many records are not committed.
    pending: u64,
    stats: RecoverStats,
}

impl RecoveredCopy<'_> {
    fn event(&mut self, seq: Seq, event: Option<Event>) -> Result<(), RecoverError> {
        let object = self.reel.object_of(seq);
        let key = object.and_then(|object| key_of(self.reel, object));
        let (Some(event), Some(key)) = (event, key) else {
            let resource = key.map(|key| key.resource);
            self.lose(seq, resource.filter(|resource| *resource != LOST_RESOURCE));
            return Ok(());
        };
        if !self.announced.contains(&key.resource) {
            // The note that says what it is was lost.
            self.lose(seq, None);
            return Ok(());
        }
        self.settle(event.head.stamp)?;
        self.appender.append_event(&NewEvent {
            stamp: event.head.stamp,
            connection: event.head.connection,
            kind: event.head.kind,
            evidence: event.head.evidence,
            resource: key.resource,
            namespace: &key.namespace,
            name: &key.name,
            uid: &key.uid,
            resource_version: &event.head.resource_version,
            body: NewBody::Bytes(&event.body),
        })?;
        self.stats.events = self.stats.events.saturating_add(1);
        self.took(event.head.stamp)
    }

    fn note(&mut self, seq: Seq, entry: Option<&NoteEntry>) -> Result<(), RecoverError> {
        let Some(entry) = entry else {
            self.lose(seq, None);
            return Ok(());
        };
        let stamp = entry.stamp;
        match &entry.note {
            Note::OddLine {
                connection,
                problem,
                len,
                blobs,
            } => {
                let note = BlobNote::OddLine {
                    connection: *connection,
                    problem: *problem,
                    len: *len,
                };
                self.text(seq, stamp, note, blobs)
            }
            Note::Document { kind, path, blobs } => {
                let note = BlobNote::Document {
                    kind: *kind,
                    path: path.clone(),
                };
                self.text(seq, stamp, note, blobs)
            }
            note => {
                if let Note::Resource(info) = note {
                    self.announced.insert(info.id);
                }
                self.settle(stamp)?;
                self.appender.append_note(stamp, note.clone())?;
                self.wrote_note(stamp)
            }
        }
    }

    /// Writes a note with bytes.
    fn text(
        &mut self,
        seq: Seq,
        stamp: Stamp,
        note: BlobNote,
        blobs: &[BlobId],
    ) -> Result<(), RecoverError> {
        let mut bytes = Vec::new();
        for blob in blobs {
            match self.reel.blob(*blob) {
                Ok(text) => bytes.extend_from_slice(&text),
                Err(_) => {
                    self.lose(seq, None);
                    return Ok(());
                }
            }
        }
        self.settle(stamp)?;
        self.appender.append_blob_note(stamp, note, &bytes)?;
        self.wrote_note(stamp)
    }

    fn wrote_note(&mut self, stamp: Stamp) -> Result<(), RecoverError> {
        self.stats.notes = self.stats.notes.saturating_add(1);
        self.took(stamp)
    }

    fn took(&mut self, stamp: Stamp) -> Result<(), RecoverError> {
        self.last = stamp;
        self.pending = self.pending.saturating_add(1);
        if self.pending >= COMMIT_RECORDS {
            self.appender.commit()?;
            self.pending = 0;
        }
        Ok(())
    }

    /// Takes note that a record cannot be read; `resource` is that of its event, if it is known.
    fn lose(&mut self, seq: Seq, resource: Option<ResourceId>) {
        let is_event = self.reel.object_of(seq).is_some();
        let last = self.reel.stamp(seq).filter(|_| is_event);
        if is_event {
            self.stats.lost_events = self.stats.lost_events.saturating_add(1);
        } else {
            self.stats.lost_records = self.stats.lost_records.saturating_add(1);
        }
        let before = self.last;
        let cause = || cause_of(self.reel, seq);
        let run = self.lost.get_or_insert_with(|| LostRun {
            before,
            last: None,
            records: 0,
            resources: BTreeSet::new(),
            is_unknown: false,
            cause: cause(),
        });
        run.records = run.records.saturating_add(1);
        run.is_unknown |= resource.is_none();
        run.resources.extend(resource);
        run.last = last.or(run.last);
    }

    /// Notes the losses before a record.
    fn settle(&mut self, next: Stamp) -> Result<(), RecoverError> {
        let Some(run) = self.lost.take() else {
            return Ok(());
        };
        let note = Note::Unreadable {
            from: run.before.wall,
            to: next.wall,
            records: Some(run.records),
            resources: match run.is_unknown {
                true => Vec::new(),
                false => run.resources.into_iter().collect(),
            },
            cause: run.cause,
        };
        self.lost_here(run.last.unwrap_or(run.before), note)
    }

    fn lost_here(&mut self, stamp: Stamp, note: Note) -> Result<(), RecoverError> {
        self.appender.append_note(stamp, note)?;
        self.stats.losses = self.stats.losses.saturating_add(1);
        Ok(())
    }

    fn end(mut self) -> Result<RecoverStats, RecoverError> {
        let last = self.last;
        self.settle(last)?;
        let open_end = self.reel.damage().iter().find(|damage| match damage.loss {
            Loss::Unknown => true,
            Loss::Records { last, .. } => last.is_none(),
            Loss::Nothing | Loss::Bodies { .. } => false,
        });
        if let Some(damage) = open_end {
            self.stats.is_end_lost = true;
            let note = Note::Unreadable {
                from: last.wall,
                to: last.wall,
                records: None,
                resources: Vec::new(),
                cause: format!("{}: {}", damage.place, damage.cause),
            };
            self.lost_here(last, note)?;
        }
        let finished = self.appender.end_as(self.reel.is_finished())?.pack()?;
        self.stats.file_bytes = finished.file_bytes;
        Ok(self.stats)
    }
}

/// Says why a record cannot be read.
fn cause_of(reel: &Reel, seq: Seq) -> String {
    let place = reel.damage().iter().find(|damage| {
        let (first, last) = (damage.loss.first(), damage.loss.last());
        first.is_some_and(|first| first <= seq) && last.is_none_or(|last| seq <= last)
    });
    match place {
        Some(damage) => format!("{}: {}", damage.place, damage.cause),
        None => match reel.body(seq) {
            Err(error) => error.to_string(),
            Ok(_) => "what describes it cannot be read".to_owned(),
        },
    }
}
