//! Owns the queue between the sockets and the file: bounded in bytes, first in, first out. Refuses to
//! drop: when it is full, whoever reads a socket waits, and the server notices.

use crate::clock::Clock;
use crate::entry::Entry;
use crate::scrub::scrub;
use kubereel_format::Elapsed;
use kubereel_redact::Redactor;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many bytes may lie between the sockets and the file, in all: 40 MiB.
///
/// The longest body fits beside others. At 64 MiB the first lists of a large cluster drove the
/// recorder to 250 MB, which an observer's pod may not have.
pub(crate) const QUEUE_BYTES: usize = 40 * 1024 * 1024;

/// An entry and the room that it takes until it is durable.
#[derive(Debug)]
pub(crate) struct Queued {
    /// The entry.
    pub(crate) entry: Entry,
    /// When it came to wait for room.
    pub(crate) since: Elapsed,
    _room: Option<OwnedSemaphorePermit>,
}

/// What the taker found.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Entries, in order.
    Some(VecDeque<Queued>),
    /// Nothing came in time.
    Nothing,
    /// Nothing is left, and nothing will come.
    Closed,
}

#[derive(Debug, Default)]
struct Line {
    entries: VecDeque<Queued>,
    is_closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    line: Mutex<Line>,
    arrived: Condvar,
    room: Arc<Semaphore>,
    bytes: usize,
    clock: Clock,
    redactor: Redactor,
}

impl Queue {
    /// Makes an empty queue of so many bytes.
    pub(crate) fn new(bytes: usize, clock: Clock, redactor: Redactor) -> Self {
        Self {
            line: Mutex::default(),
            arrived: Condvar::new(),
            room: Arc::new(Semaphore::new(bytes)),
            bytes,
            clock,
            redactor,
        }
    }

    /// Makes an entry that never waits: what the writer itself has to say.
    pub(crate) fn unqueued(&self, mut entry: Entry, since: Elapsed) -> Queued {
        scrub(&mut entry, &self.redactor);
        Queued {
            entry,
            since,
            _room: None,
        }
    }

    /// Waits for room and puts an entry at the end. After [`Self::close`] it is gone at once:
    /// nobody would write it.
    pub(crate) async fn push(&self, mut entry: Entry) {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let bytes = entry.bytes().min(self.bytes);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(permits).await else {
            return;
        };
        self.lock().entries.push_back(Queued {
            entry,
            since,
            _room: Some(room),
        });
        self.arrived.notify_one();
    }

    /// Puts an entry at the end if there is room for it now, and tells whether there was.
    pub(crate) fn try_push(&self, mut entry: Entry) -> bool {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let bytes = entry.bytes().min(self.bytes);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(permits) else {
            return false;
        };
        self.lock().entries.push_back(Queued {
            entry,
            since,
            _room: Some(room),
        });
        self.arrived.notify_one();
        true
    }

    /// Takes everything, or waits for it at most so long.
    pub(crate) fn take(&self, patience: Duration) -> Taken {
        let line = self.lock();
        let waited = self
            .arrived
            .wait_timeout_while(line, patience, |line| {
                line.entries.is_empty() && !line.is_closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        let mut line = waited.0;
        if !line.entries.is_empty() {
            return Taken::Some(std::mem::take(&mut line.entries));
        }
        if line.is_closed {
            Taken::Closed
        } else {
            Taken::Nothing
        }
    }

    /// Lets nothing more in; what is in is still taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.room.close();
        self.arrived.notify_one();
    }

    /// Counts the bytes that are on their way to the file.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.room.available_permits())
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        // The lock is held for moves only, which do not panic.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::scrub::redactor;
    use kubereel_format::{Note, Stamp};

    fn mark(text: &str) -> Entry {
        Entry::Note {
            stamp: Stamp::default(),
            note: Note::Mark { text: text.into() },
        }
    }

    fn texts(taken: Taken) -> Vec<String> {
        match taken {
            Taken::Some(entries) => entries
                .into_iter()
                .map(|queued| match queued.entry {
                    Entry::Note {
                        note: Note::Mark { text },
                        ..
                    } => text,
                    other => panic!("{other:?}"),
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_full_queue_makes_the_reader_wait_and_keeps_the_order() {
        let one = mark("a").bytes();
        let queue = Arc::new(Queue::new(2 * one, Clock::start(), redactor()));
        queue.push(mark("a")).await;
        queue.push(mark("b")).await;
        assert_eq!(queue.held_bytes(), 2 * one);
        assert!(!queue.try_push(mark("not now")));
        let third = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.push(mark("c")).await }
        });
        tokio::task::yield_now().await;
        assert!(!third.is_finished());
        let taken = queue.take(Duration::ZERO);
        assert!(!third.is_finished(), "taken is not yet written");
        assert_eq!(texts(taken), ["a", "b"]);
        third.await.expect("it was let in");
        assert_eq!(texts(queue.take(Duration::ZERO)), ["c"]);
        assert_eq!(queue.held_bytes(), 0);
    }

    #[tokio::test]
    async fn an_entry_larger_than_the_queue_passes_alone() {
        let queue = Queue::new(8, Clock::start(), redactor());
        queue.push(mark("larger than the queue")).await;
        assert_eq!(texts(queue.take(Duration::ZERO)), ["larger than the queue"]);
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_first() {
        let queue = Queue::new(QUEUE_BYTES, Clock::start(), redactor());
        assert!(matches!(queue.take(Duration::ZERO), Taken::Nothing));
        queue.push(mark("a")).await;
        assert!(queue.try_push(mark("b")));
        queue.close();
        queue.push(mark("too late")).await;
        assert!(!queue.try_push(mark("too late")));
        assert_eq!(texts(queue.take(Duration::ZERO)), ["a", "b"]);
        assert!(matches!(queue.take(Duration::ZERO), Taken::Closed));
    }
}
