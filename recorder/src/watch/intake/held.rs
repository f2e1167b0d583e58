//! Owns the events of a list that ends a gap, while they wait for what is read back of it: they are
//! written behind that. Refuses to hold more than all resources together may: then they are written
//! at once, and the gap is not read back.

use crate::entry::{Entry, EventEntry};
use kubereel_format::Stamp;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many bytes of events may wait, of all resources together: 16 MiB.
pub(crate) const HELD_BYTES: usize = 16 * 1024 * 1024;

/// The events that wait.
#[derive(Debug, Default)]
pub(super) struct Held {
    events: Vec<EventEntry>,
    room: Option<OwnedSemaphorePermit>,
    /// There was no room: nothing waits any more.
    is_given_up: bool,
}

impl Held {
    /// Takes an event, or gives back all that are to be written now.
    pub(super) fn hold(&mut self, event: EventEntry, room: &Arc<Semaphore>) -> Vec<Entry> {
        let mut entry = Entry::Event(event);
        if !self.is_given_up {
            let bytes = u32::try_from(entry.bytes()).unwrap_or(u32::MAX);
            match (Arc::clone(room).try_acquire_many_owned(bytes), entry) {
                (Ok(taken), Entry::Event(event)) => {
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
            .map(Entry::Event)
            .chain(std::iter::once(entry))
            .collect()
    }

    /// Tells whether some were written already for want of room.
    pub(super) const fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Gives what waits, and lets go of the room.
    pub(super) fn into_events(self) -> Vec<EventEntry> {
        self.events
    }
}

/// Gives events the time at which they are written: whatever else came while they waited stands before
/// them, and a moment is found by the times of what stands there.
pub(super) fn restamped(events: Vec<EventEntry>, at: Stamp) -> impl Iterator<Item = Entry> {
    events
        .into_iter()
        .map(move |event| Entry::Event(EventEntry { stamp: at, ..event }))
}
