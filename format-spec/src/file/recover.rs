//! Writes the readable part of a damaged reel as a new whole one.
//!
//! Invariants:
//! * Every record keeps its order, time and evidence. A note [`Note::Unreadable`] comes before
//!   records that cannot be read, so that the new reel claims nothing about them. Losses that lie
//!   close together share one note ([`NEAR`]), unless the times of only some of them are known: the
//!   known times are no bounds of the others.
//! * The new file gets its name only when it is complete and durable; an existing file is never
//!   replaced.
//! * A reel that was not finished does not become finished.

use crate::error::RecoverError;
use crate::file::append::{Appender, Bounds};
use crate::file::backend::restrict_access;
use crate::file::finish::sync_folder;
use crate::file::load::Slot;
use crate::file::reel::Reel;
use crate::file::scan::Event;
use crate::file::unreadable::{self, LossCounts, NEAR, UnreadableRecords, text_of};
use crate::id::{ObjectId, ResourceId, Seq, Stamp};
use crate::limits::COMMIT_RECORDS;
use crate::note::{BlobNote, Note, NoteEntry};
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

/// The written and the lost records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoverStats {
    /// The number of written events.
    pub events: u64,
    /// The number of written notes, without those about losses.
    pub notes: u64,
    /// What could not be read.
    pub lost: LossCounts,
    /// The number of notes about losses.
    pub losses: u64,
    /// The new file's length, in bytes.
    pub file_bytes: u64,
}

/// Writes the readable part of a reel as a new one; `progress` receives the number of processed
/// records.
///
/// # Errors
///
/// If the file exists or cannot be written. Nothing is left behind then.
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
    let losses = Losses::find(reel);
    let outcome = write(reel, &part, Bounds::default(), losses, progress).and_then(|stats| {
        publish(&part, to).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => RecoverError::Exists {
                path: to.to_owned(),
            },
            _ => RecoverError::Name {
                path: to.to_owned(),
                source,
            },
        })?;
        Ok(stats)
    });
    // Renamed already if everything succeeded.
    drop(std::fs::remove_file(&part));
    outcome
}

/// Returns the path under which the new file is written until it is complete.
fn part_path(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    to.with_file_name(name)
}

/// How many digits are drawn for the name of a copy.
pub(crate) const PART_DIGITS: usize = 16;

/// Returns a path beside the file under which the new one is written until it is complete. It is drawn at random:
/// the remains of an interrupted program are not in the way, and two at once do not share it.
pub(crate) fn draw_part_path(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    let number = RandomState::new().hash_one(target);
    name.push(format!(".{number:0PART_DIGITS$x}.part"));
    target.with_file_name(name)
}

/// Gives the complete file its name, unless another program took the name meanwhile.
pub(crate) fn publish(part: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(part, to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            // Not every file system supports hard links.
            std::fs::rename(part, to)?;
        }
        linked => linked?,
    }
    sync_folder(to);
    Ok(())
}

/// Writes a reel without damage as a new one that keeps its bounds, at a path where no file is. What was written when it
/// fails stays. An event that cannot be read all the same is left out: the caller compares the digests.
pub(crate) fn rewrite(
    reel: &Reel,
    part: &Path,
    bounds: Bounds,
    progress: impl FnMut(u64),
) -> Result<RecoverStats, RecoverError> {
    write(reel, part, bounds, Losses::none(reel), progress)
}

fn write(
    reel: &Reel,
    part: &Path,
    bounds: Bounds,
    losses: Losses,
    mut progress: impl FnMut(u64),
) -> Result<RecoverStats, RecoverError> {
    let appender = Appender::create_within(part, bounds)?;
    // Before anything is in it that others must not read.
    restrict_access(part, reel.facts()).map_err(|source| RecoverError::Name {
        path: part.to_owned(),
        source,
    })?;
    let mut copy = RecoveredCopy {
        reel,
        appender,
        pending: 0,
        stats: RecoverStats {
            lost: losses.counts,
            ..RecoverStats::default()
        },
    };
    let mut events = reel.scan().filter_map(Result::ok).peekable();
    let mut notes = reel.notes().iter();
    let mut runs = losses.runs.into_iter().peekable();
    for seq in (0..reel.end().0).map(Seq) {
        if let Some(run) = runs.next_if(|run| run.first == seq) {
            copy.lost(run.stamp(reel), run.note(reel))?;
        }
        let event = events.next_if(|event| event.head.seq == seq);
        match reel.loaded.heads.slot(seq) {
            Some(Slot::Event(object)) => copy.event(object, event, &losses.announced)?,
            Some(Slot::Note) => {
                if let Some(note) = notes.next() {
                    copy.note(note)?;
                }
            }
            Some(Slot::Lost) | None => {}
        }
        progress(seq.0);
    }
    copy.end()
}

/// Unreadable records.
#[derive(Default)]
struct Losses {
    runs: Vec<LostRun>,
    /// Their resources, as far as the reel states them.
    announced: BTreeSet<ResourceId>,
    counts: LossCounts,
}

/// Unreadable records that lie close together.
struct LostRun {
    first: Seq,
    last: Seq,
    records: u64,
    resources: BTreeSet<ResourceId>,
    /// Whether any resource may be among them.
    is_unknown: bool,
    /// Whether the times of the records can be read.
    is_dated: bool,
    cause: String,
}

impl Losses {
    /// Nothing is lost.
    fn none(reel: &Reel) -> Self {
        let announced = reel.notes().iter().filter_map(|entry| match &entry.note {
            Note::Resource(info) => Some(info.id),
            _ => None,
        });
        Self {
            announced: announced.collect(),
            ..Self::default()
        }
    }

    /// Finds all unreadable records: of a reel without a known loss, every body is decoded for that.
    fn find(reel: &Reel) -> Self {
        let mut losses = Self::none(reel);
        let found;
        let unreadable = if reel.has_losses() {
            reel.unreadable()
        } else {
            found = UnreadableRecords::find(reel, Seq(0));
            &found
        };
        losses.counts = unreadable.counts();
        for seq in (0..reel.end().0).map(Seq) {
            if unreadable.has_event(seq) {
                let key = reel.object_of(seq).and_then(|object| reel.key(object));
                let resource = key.map(|key| key.resource);
                let resource = resource.filter(|known| losses.announced.contains(known));
                losses.lose(reel, seq, resource);
            } else if unreadable.has_other(seq) {
                losses.lose(reel, seq, None);
            }
        }
        losses
    }

    /// Notes an unreadable record; `resource` is that of its event, if it is known.
    fn lose(&mut self, reel: &Reel, seq: Seq, resource: Option<ResourceId>) {
        let slot = reel.loaded.heads.slot(seq);
        let is_dated = matches!(slot, Some(Slot::Event(_) | Slot::Note));
        let joins = |run: &&mut LostRun| {
            run.is_dated == is_dated && seq.0.saturating_sub(run.last.0) <= NEAR
        };
        let run = match self.runs.last_mut().filter(joins) {
            Some(run) => run,
            None => self.runs.push_mut(LostRun {
                first: seq,
                last: seq,
                records: 0,
                resources: BTreeSet::new(),
                is_unknown: false,
                is_dated,
                cause: place_of(reel, seq),
            }),
        };
        run.last = seq;
        run.records = run.records.saturating_add(1);
        run.is_unknown |= resource.is_none();
        run.resources.extend(resource);
    }
}

impl LostRun {
    /// Returns the time of the note about it: that of the record before it.
    fn stamp(&self, reel: &Reel) -> Stamp {
        let before = self.first.0.checked_sub(1).map(Seq);
        let before = before.and_then(|seq| reel.stamp(seq));
        before
            .or_else(|| reel.stamp(self.first))
            .unwrap_or_default()
    }

    fn note(self, reel: &Reel) -> Note {
        // Records without times are bounded by the records around them.
        let (from, behind) = match reel.stamp(self.first) {
            Some(first) if self.is_dated => (first.wall, self.last.0),
            _ => (self.stamp(reel).wall, self.last.0.saturating_add(1)),
        };
        let known = (self.first.0..=behind).map(Seq);
        let stamps = known.filter_map(|seq| reel.stamp(seq));
        let to = stamps.map(|stamp| stamp.wall).max();
        Note::Unreadable {
            from,
            to: to.map_or(from, |to| to.max(from)),
            records: Some(self.records),
            resources: if self.is_unknown {
                Vec::new()
            } else {
                self.resources.into_iter().collect()
            },
            cause: self.cause,
        }
    }
}

struct RecoveredCopy<'a> {
    reel: &'a Reel,
    appender: Appender,
    /// The number of records between two commits.
    pending: u64,
    stats: RecoverStats,
}

impl RecoveredCopy<'_> {
    fn event(
        &mut self,
        object: ObjectId,
        event: Option<Event>,
        announced: &BTreeSet<ResourceId>,
    ) -> Result<(), RecoverError> {
        let key = self
            .reel
            .key(object)
            .filter(|key| announced.contains(&key.resource));
        let (Some(event), Some(key)) = (event, key) else {
            return Ok(());
        };
        let uid = key.uid.text();
        self.appender.append_event(&event.copy(key, &uid))?;
        self.stats.events = self.stats.events.saturating_add(1);
        self.took()
    }

    fn note(&mut self, entry: &NoteEntry) -> Result<(), RecoverError> {
        let Ok(text) = text_of(self.reel, &entry.note) else {
            return Ok(());
        };
        let stamp = entry.stamp;
        match &entry.note {
            Note::OddLine {
                connection,
                problem,
                len,
                ..
            } => {
                let note = BlobNote::OddLine {
                    connection: *connection,
                    problem: *problem,
                    len: *len,
                };
                self.appender.append_blob_note(stamp, note, &text)?;
            }
            Note::Document { kind, path, .. } => {
                let note = BlobNote::Document {
                    kind: *kind,
                    path: path.clone(),
                };
                self.appender.append_blob_note(stamp, note, &text)?;
            }
            note => drop(self.appender.append_note(stamp, note.clone())?),
        }
        self.stats.notes = self.stats.notes.saturating_add(1);
        self.took()
    }

    fn took(&mut self) -> Result<(), RecoverError> {
        self.pending = self.pending.saturating_add(1);
        if self.pending >= COMMIT_RECORDS {
            self.appender.commit()?;
            self.pending = 0;
        }
        Ok(())
    }

    /// Notes a loss.
    fn lost(&mut self, stamp: Stamp, note: Note) -> Result<(), RecoverError> {
        self.appender.append_note(stamp, note)?;
        self.stats.losses = self.stats.losses.saturating_add(1);
        Ok(())
    }

    fn end(mut self) -> Result<RecoverStats, RecoverError> {
        let mut damage = self.reel.damage().iter();
        if let Some(damage) = damage.find(|damage| damage.loss.is_open()) {
            let last = self.reel.end().0.checked_sub(1).map(Seq);
            let last = last
                .and_then(|seq| self.reel.stamp(seq))
                .unwrap_or_default();
            let note = Note::Unreadable {
                from: last.wall,
                to: last.wall,
                records: None,
                resources: Vec::new(),
                cause: format!("{}: {}", damage.place, damage.cause),
            };
            self.lost(last, note)?;
        }
        let finished = self.appender.end_as(self.reel.is_finished())?.pack()?;
        self.stats.file_bytes = finished.file_bytes;
        Ok(self.stats)
    }
}

/// Describes where a record cannot be read, and why.
fn place_of(reel: &Reel, seq: Seq) -> String {
    let place = reel.damage().iter().find(|damage| {
        let (first, last) = (damage.loss.first(), damage.loss.last());
        first.is_some_and(|first| first <= seq) && last.is_none_or(|last| seq <= last)
    });
    match place {
        Some(damage) => format!("{}: {}", damage.place, damage.cause),
        None => unreadable::cause_of(reel, seq),
    }
}
