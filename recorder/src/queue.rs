//! What travels from a socket to the file, and the queue between them: first in, first out, bounded in bytes.
//!
//! Invariants:
//! * Nothing is dropped. When the queue is full, the task that reads the socket waits, and the server
//!   notices.
//! * Nothing enters unredacted: objects are redacted by the intake, the words of servers, the system and
//!   users in notes and documents here.

use crate::clock::Clock;
use kubereel_format::{
    BlobNote, ConnectionId, Elapsed, EventType, Evidence, Lifecycle, NewBody, NewEvent, Note,
    ResourceId, SessionEnd, Stamp,
};
use kubereel_redact::{Redactor, ResourceType};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What an entry takes of the queue beside its own bytes.
const OVERHEAD_BYTES: usize = 256;

/// Something for the file.
#[derive(Clone, Debug)]
pub(crate) enum QueueEntry {
    Event(EventEntry),
    Note {
        /// When it was made.
        stamp: Stamp,
        /// The text.
        note: Note,
    },
    /// A note with bytes of any size.
    Blob {
        /// When they were received.
        stamp: Stamp,
        /// What they are.
        note: BlobNote,
        bytes: Vec<u8>,
    },
}

/// An event that owns its parts.
#[derive(Clone, Debug)]
pub(crate) struct EventEntry {
    /// When it was received.
    pub(crate) stamp: Stamp,
    /// The request that brought it.
    pub(crate) connection: ConnectionId,
    /// What happened.
    pub(crate) kind: EventType,
    /// How it is known.
    pub(crate) evidence: Evidence,
    /// The object's resource.
    pub(crate) resource: ResourceId,
    /// The object's namespace.
    pub(crate) namespace: Box<str>,
    /// The object's name.
    pub(crate) name: Box<str>,
    /// The object's uid.
    pub(crate) uid: Box<str>,
    /// The resourceVersion as the server spelt it.
    pub(crate) version: Box<str>,
    /// The object; `None` for its last recorded bytes once more.
    pub(crate) body: Option<Box<[u8]>>,
}

impl EventEntry {
    /// Returns the form that is appended.
    pub(crate) fn event(&self) -> NewEvent<'_> {
        NewEvent {
            stamp: self.stamp,
            connection: self.connection,
            kind: self.kind,
            evidence: self.evidence,
            resource: self.resource,
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
            resource_version: &self.version,
            body: self.body.as_deref().map_or(NewBody::Last, NewBody::Bytes),
        }
    }
}

impl QueueEntry {
    /// Returns when it came.
    pub(crate) const fn stamp(&self) -> Stamp {
        match self {
            Self::Event(event) => event.stamp,
            Self::Note { stamp, .. } | Self::Blob { stamp, .. } => *stamp,
        }
    }

    /// Returns what it takes of the queue, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let own = match self {
            Self::Event(event) => {
                event.body.as_ref().map_or(0, |body| body.len())
                    + event.namespace.len()
                    + event.name.len()
                    + event.uid.len()
                    + event.version.len()
            }
            Self::Note { .. } => 0,
            Self::Blob { bytes, .. } => bytes.len(),
        };
        own.saturating_add(OVERHEAD_BYTES)
    }
}

/// How many bytes may lie between the sockets and the file, in all: 40 MiB.
///
/// The longest body fits beside others. At 64 MiB the first lists of a large cluster drove the
/// recorder to 250 MB, which an observer's pod may not have.
pub(crate) const QUEUE_BYTES: usize = 40 * 1024 * 1024;

/// An entry and the room that it takes until it is durable.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) entry: QueueEntry,
    /// When it came to wait for room.
    pub(crate) since: Elapsed,
    _room: Option<OwnedSemaphorePermit>,
}

/// What the taker found.
#[derive(Debug)]
pub(crate) enum QueueTake {
    /// Entries, in order.
    Some(VecDeque<Queued>),
    /// Nothing came in time.
    Nothing,
    /// Nothing is left, and nothing will come.
    Closed,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<Queued>,
    is_closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    line: Mutex<QueueState>,
    arrived: Condvar,
    room: Arc<Semaphore>,
    bytes: usize,
    clock: Clock,
    redactor: Redactor,
}

impl Queue {
    /// Makes an empty queue with room for `bytes` bytes.
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
    pub(crate) fn unqueued(&self, mut entry: QueueEntry, since: Elapsed) -> Queued {
        scrub(&mut entry, &self.redactor);
        Queued {
            entry,
            since,
            _room: None,
        }
    }

    /// An entry larger than the queue takes all of its room.
    #[expect(clippy::expect_used, reason = "the room is bounded by QUEUE_BYTES")]
    fn permits(&self, entry: &QueueEntry) -> u32 {
        u32::try_from(entry.bytes().min(self.bytes)).expect("a queue has less than 4 GiB of room")
    }

    /// Waits for room and puts an entry at the end. After [`Self::close`] it is gone at once:
    /// it would never be written.
    pub(crate) async fn push(&self, mut entry: QueueEntry) {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let permits = self.permits(&entry);
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

    /// Puts an entry at the end if there is room for it now, and returns whether there was.
    pub(crate) fn try_push(&self, mut entry: QueueEntry) -> bool {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let permits = self.permits(&entry);
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
    pub(crate) fn take(&self, patience: Duration) -> QueueTake {
        let line = self.lock();
        let waited = self
            .arrived
            .wait_timeout_while(line, patience, |line| {
                line.entries.is_empty() && !line.is_closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        let mut line = waited.0;
        if !line.entries.is_empty() {
            return QueueTake::Some(std::mem::take(&mut line.entries));
        }
        if line.is_closed {
            QueueTake::Closed
        } else {
            QueueTake::Nothing
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

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // The lock is held for moves only, which do not panic.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes secrets out of the words of a note, and of a document.
pub(crate) fn scrub(entry: &mut QueueEntry, redactor: &Redactor) {
    match entry {
        QueueEntry::Note { note, .. } => {
            if let Some(words) = words(note)
                && let Cow::Owned(scrubbed) = redactor.words(words)
            {
                *words = scrubbed;
            }
        }
        QueueEntry::Blob {
            note: BlobNote::Document { .. },
            bytes,
            ..
        } => {
            let document = redactor.object(&ResourceType::default(), bytes);
            if let Some(Cow::Owned(scrubbed)) = document {
                *bytes = scrubbed;
            }
        }
        // The intake has redacted them, as objects where they are such.
        QueueEntry::Event(_) | QueueEntry::Blob { .. } => {}
    }
}

/// Returns the words of a note that others chose.
fn words(note: &mut Note) -> Option<&mut String> {
    match note {
        Note::SessionEnded {
            end: SessionEnd::Failed(words),
            ..
        }
        | Note::Lifecycle(
            Lifecycle::KubeconfigUnusable { error: words, .. }
            | Lifecycle::Unreachable { error: words },
        )
        | Note::NotCovered { detail: words, .. }
        | Note::Disconnected { detail: words, .. }
        | Note::Anomaly { detail: words, .. }
        | Note::OutageBegan { error: words, .. }
        | Note::GapJudged { detail: words, .. }
        | Note::Label { value: words, .. }
        | Note::Sampled { labels: words, .. }
        | Note::Mark { text: words }
        | Note::Provenance { text: words } => Some(words),
        _ => None,
    }
}

/// Returns a redactor for tests.
#[cfg(test)]
pub(crate) fn redactor() -> Redactor {
    Redactor::new(kubereel_redact::Extra::default()).expect("random bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::{ConnectionId, DocumentKind, EndCause, Note, Stamp};

    fn mark(text: &str) -> QueueEntry {
        QueueEntry::Note {
            stamp: Stamp::default(),
            note: Note::Mark { text: text.into() },
        }
    }

    fn texts(taken: QueueTake) -> Vec<String> {
        match taken {
            QueueTake::Some(entries) => entries
                .into_iter()
                .map(|queued| match queued.entry {
                    QueueEntry::Note {
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
        assert!(matches!(queue.take(Duration::ZERO), QueueTake::Nothing));
        queue.push(mark("a")).await;
        assert!(queue.try_push(mark("b")));
        queue.close();
        queue.push(mark("too late")).await;
        assert!(!queue.try_push(mark("too late")));
        assert_eq!(texts(queue.take(Duration::ZERO)), ["a", "b"]);
        assert!(matches!(queue.take(Duration::ZERO), QueueTake::Closed));
    }

    #[test]
    fn words_of_others_hold_no_secrets() {
        let token = "sha256~canarycanarycanarycanary";
        let note = |note| QueueEntry::Note {
            stamp: Stamp::default(),
            note,
        };
        for mut entry in [
            note(Note::Disconnected {
                connection: ConnectionId(1),
                cause: EndCause::Unreachable,
                last_rv: None,
                detail: format!("who is {token}?"),
            }),
            note(Note::Lifecycle(Lifecycle::Unreachable {
                error: "proxy http://user:canary@proxy refuses".to_owned(),
            })),
            note(Note::Mark {
                text: token.to_owned(),
            }),
            QueueEntry::Blob {
                stamp: Stamp::default(),
                note: BlobNote::Document {
                    kind: DocumentKind::Version,
                    path: "/version".to_owned(),
                },
                bytes: format!(r#"{{"gitVersion":"v1","note":"{token}"}}"#).into_bytes(),
            },
        ] {
            scrub(&mut entry, &redactor());
            let text = match &entry {
                QueueEntry::Blob { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
                entry => format!("{entry:?}"),
            };
            assert!(!text.contains("canary"), "{text}");
            assert!(text.contains("redacted-by-kubereel-"), "{text}");
        }
    }
}
