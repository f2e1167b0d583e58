//! Writes the end of a gap: the events that wait while it is read back, their order, and the
//! verdict.
//!
//! Invariants:
//! * Events of the list that ends a gap wait, bounded in bytes over all resources. Without room
//!   they are written at once, and the gap is not read back.
//! * They are written in the order of their versions, the creation of each object first and its
//!   deletion last, and each event once; then the gap, then the verdict, then the notes that
//!   followed the gap.
//! * An event that waited gets the time at which it is written: times rise along the file, and
//!   readers search a moment by them.

use crate::backfill::{
    BackfillEvent, BackfillResult, BackfillTask, BackfillVerdict, GapEndState, GapSuspect,
};
use crate::known::KnownObject;
use crate::number::len64;
use crate::queue::{EventEntry, QueueEntry};
use crate::version::ResourceVersion;
use crate::watch::connection_notes::connected;
use crate::watch::state::{GapDifference, GapReview, ReadBefore};
use kubereel_format::{
    ConnectionId, EndCause, EventType, Evidence, Gap, GapVerdict, ListMethod, Note, Stamp,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of events that may wait, over all resources: 16 MiB.
pub(crate) const WAITING_BYTES: usize = 16 * 1024 * 1024;

/// The events that wait.
#[derive(Debug, Default)]
struct WaitingEvents {
    events: Vec<EventEntry>,
    room: Option<OwnedSemaphorePermit>,
    /// There was no room: no event waits any more.
    is_given_up: bool,
}

impl WaitingEvents {
    /// Takes an event, or returns all events that must be written now.
    #[expect(
        clippy::expect_used,
        reason = "events are bounded before they come here"
    )]
    fn hold(&mut self, event: EventEntry, room: &Arc<Semaphore>) -> Vec<QueueEntry> {
        let mut entry = QueueEntry::Event(event);
        if !self.is_given_up {
            let bytes = u32::try_from(entry.bytes()).expect("a body is at most MAX_BODY long");
            match (Arc::clone(room).try_acquire_many_owned(bytes), entry) {
                (Ok(taken), QueueEntry::Event(event)) => {
                    match &mut self.room {
                        Some(room) => room.merge(taken),
                        None => self.room = Some(taken),
                    }
                    self.events.push(event);
                    return Vec::new();
                }
                (_, given_back) => entry = given_back,
            }
        }
        self.is_given_up = true;
        self.room = None;
        let waiting = std::mem::take(&mut self.events).into_iter();
        waiting
            .map(QueueEntry::Event)
            .chain(std::iter::once(entry))
            .collect()
    }

    /// Returns whether some events were written early for want of room.
    const fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Returns the waiting events, and releases their room.
    fn into_events(self) -> Vec<EventEntry> {
        self.events
    }
}

/// A gap that has ended and is not noted yet.
#[derive(Debug)]
pub(crate) struct OpenGap {
    gap: Gap,
    /// The names to read back, or the reason why the gap is not read back.
    task: Result<BackfillTask, &'static str>,
    /// The notes that follow the gap.
    notes: Vec<Note>,
}

/// The result of reading a gap back.
#[derive(Debug)]
pub(crate) struct ReadBack {
    /// The connection number of all its requests.
    pub(crate) connection: ConnectionId,
    /// When the first request was made.
    pub(crate) since: Stamp,
    /// The number of requests.
    pub(crate) requests: u32,
    /// The findings.
    pub(crate) found: BackfillResult,
}

impl OpenGap {
    /// Returns what to read back; `None` if the gap is not read back.
    pub(crate) fn task(&self) -> Option<&BackfillTask> {
        self.task.as_ref().ok()
    }
}

/// The gaps of one resource: each from its list until it is settled.
#[derive(Debug)]
pub(super) struct GapSettler {
    /// Bounds the events that wait, over all resources.
    room: Arc<Semaphore>,
    waiting: Option<WaitingEvents>,
    open: Option<OpenGap>,
    /// The name of an object was a secret.
    has_hidden_names: bool,
    /// Events that an earlier run had read back before it was killed.
    read_before: ReadBefore,
}

impl GapSettler {
    pub(super) const fn new(room: Arc<Semaphore>) -> Self {
        Self {
            room,
            waiting: None,
            open: None,
            has_hidden_names: false,
            read_before: ReadBefore::new(),
        }
    }

    /// Skips events that an earlier run had read back and written before it was killed.
    pub(super) fn leave_out(&mut self, read_before: ReadBefore) {
        self.read_before = read_before;
    }

    /// The name of an object is a secret.
    pub(super) const fn hide_name(&mut self) {
        self.has_hidden_names = true;
    }

    /// A list begins that ends a gap: its events wait.
    pub(super) fn hold_events(&mut self) {
        self.waiting.get_or_insert_default();
    }

    /// Writes an event, or holds it back until the gap that its list ends is read back.
    pub(super) fn event(&mut self, event: EventEntry, entries: &mut Vec<QueueEntry>) {
        match &mut self.waiting {
            Some(waiting) => entries.extend(waiting.hold(event, &self.room)),
            None => entries.push(QueueEntry::Event(event)),
        }
    }

    /// Writes a note of a connection, or holds it back until the gap before it is written.
    pub(super) fn note(&mut self, stamp: Stamp, note: Note, entries: &mut Vec<QueueEntry>) {
        match &mut self.open {
            Some(gap) => gap.notes.push(note),
            None => entries.push(QueueEntry::Note { stamp, note }),
        }
    }

    /// Releases events that wait for a list which will not be completed.
    pub(super) fn release(&mut self, at: Stamp, entries: &mut Vec<QueueEntry>) {
        if let Some(waiting) = self.waiting.take() {
            entries.extend(restamped(waiting.into_events(), at));
        }
    }

    /// A gap has ended: it is written when it is settled.
    pub(super) fn gap(
        &mut self,
        gap: Gap,
        review: Option<GapReview>,
        at: Stamp,
        entries: &mut Vec<QueueEntry>,
    ) {
        let Some(review) = review else {
            self.release(at, entries);
            let note = Note::Gap(gap);
            return entries.push(QueueEntry::Note { stamp: at, note });
        };
        let task = self.task(&gap, review);
        self.open = Some(OpenGap {
            gap,
            task,
            notes: Vec::new(),
        });
    }

    /// Returns the gap to read back. The caller must call [`Self::settle`] afterwards.
    pub(super) const fn take_open(&mut self) -> Option<OpenGap> {
        self.open.take()
    }

    /// Writes a gap: the events that were read back and those of the list in the order of their
    /// versions, then the gap, then the verdict.
    ///
    /// `entry` makes an entry of an event that was read back; `None` if nothing of it may be stored.
    pub(super) fn settle(
        &mut self,
        open: OpenGap,
        read: Option<ReadBack>,
        entry: impl Fn(BackfillEvent, ConnectionId) -> Option<EventEntry>,
        at: Stamp,
        entries: &mut Vec<QueueEntry>,
    ) {
        let waiting = self
            .waiting
            .take()
            .map(WaitingEvents::into_events)
            .unwrap_or_default();
        let judged = match (open.task, read) {
            (Ok(work), Some(mut read)) => {
                let (connection, requests) = (read.connection, read.requests);
                let is_announced = requests > 0;
                if is_announced {
                    let from_rv = Some(work.from.to_string());
                    let method = ListMethod::Exact;
                    let note = connected(connection, open.gap.resource, from_rv, method);
                    let stamp = read.since;
                    entries.push(QueueEntry::Note { stamp, note });
                }
                let events = std::mem::take(&mut read.found.events);
                let mut written = Vec::new();
                for event in events {
                    let version = event.version;
                    match entry(event, connection) {
                        Some(entry) => written.push(entry),
                        None => read.found.withheld(version),
                    }
                }
                let verdict = read.found.verdict(&work);
                let begun = read.found.take_begun();
                let mut events = in_order(waiting, written, &work, &begun);
                let before = std::mem::take(&mut self.read_before);
                events.retain(|event| !before.contains(&event_key(event)));
                let is_found = |event: &&EventEntry| event.evidence == Evidence::Reconstructed;
                let reconstructed = events.iter().filter(is_found).count();
                let reconstructed = len64(reconstructed);
                entries.extend(restamped(events, at));
                if is_announced {
                    let note = disconnected(connection, &verdict);
                    entries.push(QueueEntry::Note { stamp: at, note });
                }
                judgement(&open.gap, verdict, reconstructed, requests)
            }
            (work, _) => {
                entries.extend(restamped(waiting, at));
                let why = work.err().unwrap_or("the recorder stopped");
                let verdict = BackfillVerdict {
                    word: GapVerdict::Partly,
                    missing_at_most: open.gap.missing_at_most,
                    detail: why.to_owned(),
                };
                judgement(&open.gap, verdict, 0, 0)
            }
        };
        let notes = [Note::Gap(open.gap), judged].into_iter();
        let notes = notes.chain(open.notes);
        entries.extend(notes.map(|note| QueueEntry::Note { stamp: at, note }));
    }

    fn task(&self, gap: &Gap, review: GapReview) -> Result<BackfillTask, &'static str> {
        let names = match review {
            GapReview::Names(names) => names,
            GapReview::Impossible(why) => return Err(why),
        };
        if self
            .waiting
            .as_ref()
            .is_some_and(WaitingEvents::is_given_up)
        {
            return Err("the list differs by more bytes than can wait");
        }
        if self.has_hidden_names {
            return Err("objects whose names are secrets cannot be requested");
        }
        let number = |text: &str| ResourceVersion::parse(text)?.number();
        let from = gap.from_rv.as_deref().and_then(number);
        let (Some(from), Some(to)) = (from, number(&gap.to_rv)) else {
            return Err("its versions are not numbers");
        };
        let mut has_unclear = false;
        let mut suspects = Vec::new();
        for name in names {
            let (before, after) = (life(name.before.as_ref()), life(name.after.as_ref()));
            let GapDifference {
                namespace, name, ..
            } = name;
            has_unclear |= before.is_err() || after.is_err();
            suspects.push(GapSuspect {
                namespace: namespace.into(),
                name: name.into(),
                before: before.unwrap_or_default(),
                after: after.unwrap_or_default(),
            });
        }
        Ok(BackfillTask {
            from,
            to,
            suspects,
            has_unclear,
        })
    }
}

/// Sets the time of events to the time at which they are written. Events of other resources were
/// written while these waited, and readers search a moment by rising times.
fn restamped(events: Vec<EventEntry>, at: Stamp) -> impl Iterator<Item = QueueEntry> {
    events
        .into_iter()
        .map(move |event| QueueEntry::Event(EventEntry { stamp: at, ..event }))
}

/// Merges the events that were read back with those of the list, in the order of their versions,
/// the creation of each object first and its deletion last, each once. An event that was read back
/// is a creation only if it is among those `begun`.
fn in_order(
    waiting: Vec<EventEntry>,
    found: Vec<EventEntry>,
    work: &BackfillTask,
    begun: &BTreeSet<(String, u128)>,
) -> Vec<EventEntry> {
    let deleted: BTreeSet<Box<str>> = found
        .iter()
        .filter(|event| event.kind == EventType::Deleted)
        .map(|event| event.uid.clone())
        .collect();
    let listed: BTreeSet<(Box<str>, Box<str>)> = waiting
        .iter()
        .filter(|event| event.kind != EventType::Deleted)
        .map(|event| (event.uid.clone(), event.version.clone()))
        .collect();
    let waiting = waiting.into_iter().filter(|event| {
        // The deletion itself was read back: it must not be inferred as well.
        event.evidence != Evidence::Inferred || !deleted.contains(&event.uid)
    });
    let found = found.into_iter().filter(|event| {
        event.kind == EventType::Deleted
            || !listed.contains(&(event.uid.clone(), event.version.clone()))
    });
    let mut events: Vec<EventEntry> = found.chain(waiting).collect();
    let number =
        |event: &EventEntry| ResourceVersion::parse(&event.version).and_then(|one| one.number());
    events.sort_by_key(|event| (number(event), event.kind != EventType::Deleted));
    let befores = work.suspects.iter().filter_map(|one| one.before.as_ref());
    let mut seen: BTreeSet<Box<str>> = befores.map(|life| life.uid.as_str().into()).collect();
    for event in &mut events {
        if event.kind == EventType::Deleted {
            continue;
        }
        let is_first = seen.insert(event.uid.clone());
        let is_begin = event.evidence != Evidence::Reconstructed
            || number(event)
                .is_some_and(|version| begun.contains(&(event.uid.to_string(), version)));
        event.kind = if is_first && is_begin {
            EventType::Added
        } else {
            EventType::Modified
        };
    }
    events
}

/// Returns the key by which two records of one event are recognized.
fn event_key(event: &EventEntry) -> (Box<str>, Box<str>, bool) {
    let is_deletion = event.kind == EventType::Deleted;
    (event.uid.clone(), event.version.clone(), is_deletion)
}

/// Converts what a stream knows of an object; fails if the object could not be found again by it.
fn life(known: Option<&KnownObject>) -> Result<Option<GapEndState>, ()> {
    known
        .map(|known| GapEndState::of(known).ok_or(()))
        .transpose()
}

fn disconnected(connection: ConnectionId, verdict: &BackfillVerdict) -> Note {
    Note::Disconnected {
        connection,
        cause: EndCause::Clean,
        last_rv: None,
        detail: verdict.detail.clone(),
    }
}

fn judgement(gap: &Gap, verdict: BackfillVerdict, reconstructed: u64, requests: u32) -> Note {
    let own = gap.missing_at_most;
    tracing::debug!(
        to = gap.to_rv,
        reconstructed,
        requests,
        missing_at_most = verdict.missing_at_most,
        "gap {}: {}",
        verdict.word.as_str(),
        verdict.detail
    );
    Note::GapJudged {
        gap: gap.id,
        verdict: verdict.word,
        reconstructed,
        missing_at_most: match verdict.missing_at_most {
            Some(bound) => Some(own.map_or(bound, |own| own.min(bound))),
            None => own,
        },
        requests,
        detail: verdict.detail,
    }
}
