//! Writes the end of a gap: the events that wait while it is read back, their order, and the
//! verdict.
//!
//! Invariants:
//! * Events of the list that ends a gap wait, bounded in bytes over all resources. Without room
//!   they are written at once, and the gap is not read back.
//! * They are written in the order of their versions, the creation of each object first and its
//!   deletion last, and each event once.
//! * An event that waited gets the time at which it is written: times rise along the file, and
//!   readers search a moment by them.

use crate::backfill::{BackfillTask, BackfillVerdict, GapEndState};
use crate::known::KnownObject;
use crate::queue::{EventEntry, QueueEntry};
use crate::version::ResourceVersion;
use kubereel_format::{ConnectionId, EndCause, EventType, Evidence, Gap, Note, Stamp};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of events that may wait, over all resources: 16 MiB.
pub(crate) const WAITING_BYTES: usize = 16 * 1024 * 1024;

/// The events that wait.
#[derive(Debug, Default)]
pub(super) struct WaitingEvents {
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
    pub(super) fn hold(&mut self, event: EventEntry, room: &Arc<Semaphore>) -> Vec<QueueEntry> {
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
    pub(super) const fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Returns the waiting events, and releases their room.
    pub(super) fn into_events(self) -> Vec<EventEntry> {
        self.events
    }
}

/// Sets the time of events to the time at which they are written. Events of other resources were
/// written while these waited, and readers search a moment by rising times.
pub(super) fn restamped(events: Vec<EventEntry>, at: Stamp) -> impl Iterator<Item = QueueEntry> {
    events
        .into_iter()
        .map(move |event| QueueEntry::Event(EventEntry { stamp: at, ..event }))
}

/// Merges the events that were read back with those of the list, in the order of their versions,
/// the creation of each object first and its deletion last, each once. An event that was read back
/// is a creation only if it is among those `begun`.
pub(super) fn in_order(
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
pub(super) fn event_key(event: &EventEntry) -> (Box<str>, Box<str>, bool) {
    let is_deletion = event.kind == EventType::Deleted;
    (event.uid.clone(), event.version.clone(), is_deletion)
}

/// Converts what a stream knows of an object; fails if the object could not be found again by it.
pub(super) fn life(known: Option<&KnownObject>) -> Result<Option<GapEndState>, ()> {
    known
        .map(|known| GapEndState::of(known).ok_or(()))
        .transpose()
}

pub(super) fn disconnected(connection: ConnectionId, verdict: &BackfillVerdict) -> Note {
    Note::Disconnected {
        connection,
        cause: EndCause::Clean,
        last_rv: None,
        detail: verdict.detail.clone(),
    }
}

pub(super) fn judgement(
    gap: &Gap,
    verdict: BackfillVerdict,
    reconstructed: u64,
    requests: u32,
) -> Note {
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
