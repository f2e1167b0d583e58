//! The queue between the sockets and the file: first in, first out, bounded in bytes.
//!
//! Invariants:
//! * No entry is dropped. When the queue is full, the task that reads the socket waits; the server
//!   then ends the watch without skipping events, and the recorder resumes.
//! * Nothing enters unredacted: the intake redacts objects; texts of servers, the system and users
//!   in notes and documents are redacted here.
//! * An entry keeps its room until it is durable, so that the bound covers the writer's batch too.

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

/// The room that an entry takes besides its own bytes.
const OVERHEAD_BYTES: usize = 256;

/// An entry for the file.
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

/// An event with owned parts.
#[derive(Clone, Debug)]
pub(crate) struct EventEntry {
    /// When it was received.
    pub(crate) stamp: Stamp,
    /// The connection.
    pub(crate) connection: ConnectionId,
    /// The change.
    pub(crate) kind: EventType,
    /// The evidence.
    pub(crate) evidence: Evidence,
    /// The object's resource.
    pub(crate) resource: ResourceId,
    /// The object's namespace.
    pub(crate) namespace: Box<str>,
    /// The object's name.
    pub(crate) name: Box<str>,
    /// The object's uid.
    pub(crate) uid: Box<str>,
    /// The resourceVersion in the server's spelling.
    pub(crate) version: Box<str>,
    /// The object; `None` repeats its last recorded bytes.
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
    /// Returns its time.
    pub(crate) const fn stamp(&self) -> Stamp {
        match self {
            Self::Event(event) => event.stamp,
            Self::Note { stamp, .. } | Self::Blob { stamp, .. } => *stamp,
        }
    }

    /// Limits its time to that of the end of the recording.
    fn limit(&mut self, end: Stamp) {
        let stamp = match self {
            Self::Event(event) => &mut event.stamp,
            Self::Note { stamp, .. } | Self::Blob { stamp, .. } => stamp,
        };
        if stamp.elapsed > end.elapsed {
            *stamp = end;
        }
    }

    /// Returns its size in the queue, in bytes.
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

/// The bytes between the sockets and the file: 40 MiB.
///
/// The longest body fits beside other entries. With 64 MiB the first lists of a large cluster took
/// the recorder to 250 MB, more than an observer's pod may use.
pub(crate) const QUEUE_BYTES: usize = 40 * 1024 * 1024;

/// An entry, and the room that it takes until it is durable.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) entry: QueueEntry,
    /// When it began to wait for room.
    pub(crate) since: Elapsed,
    _room: Option<OwnedSemaphorePermit>,
}

/// The result of taking entries.
#[derive(Debug)]
pub(crate) enum QueueTake {
    /// Entries, in order.
    Some(VecDeque<Queued>),
    /// Nothing arrived in time.
    Nothing,
    /// The queue is empty and closed.
    Closed,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<Queued>,
    is_closed: bool,
    /// When the recording ends, once that is known.
    end: Option<Stamp>,
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
    /// Creates an empty queue with room for `bytes` bytes.
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

    /// Redacts a text as an entry with it.
    pub(crate) fn redacted(&self, words: &str) -> String {
        self.redactor.words(words).into_owned()
    }

    /// Makes an entry without room, for notes of the writer itself: the writer must not wait for
    /// its own queue.
    pub(crate) fn unqueued(&self, mut entry: QueueEntry, since: Elapsed) -> Queued {
        scrub(&mut entry, &self.redactor);
        let end = self.lock().end;
        if let Some(end) = end {
            entry.limit(end);
        }
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

    /// Waits for room and appends an entry. After [`Self::close`] the entry is dropped at once: it
    /// would never be written.
    pub(crate) async fn push(&self, mut entry: QueueEntry) {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let permits = self.permits(&entry);
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(permits).await else {
            return;
        };
        self.append(entry, since, room);
    }

    /// Appends an entry if there is room now, and returns whether there was.
    pub(crate) fn try_push(&self, mut entry: QueueEntry) -> bool {
        scrub(&mut entry, &self.redactor);
        let since = self.clock.elapsed();
        let permits = self.permits(&entry);
        let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(permits) else {
            return false;
        };
        self.append(entry, since, room);
        true
    }

    fn append(&self, mut entry: QueueEntry, since: Elapsed, room: OwnedSemaphorePermit) {
        let mut line = self.lock();
        if let Some(end) = line.end {
            entry.limit(end);
        }
        line.entries.push_back(Queued {
            entry,
            since,
            _room: Some(room),
        });
        drop(line);
        self.arrived.notify_one();
    }

    /// The recording ends at this time: entries that come later get it.
    ///
    /// No stream is read any more from then on, but on a busy machine it takes a while until the
    /// last one notes its end. A recording that ended with that note would claim that nothing
    /// changed meanwhile.
    pub(crate) fn end_at(&self, end: Stamp) {
        self.lock().end = Some(end);
    }

    /// Takes all entries, or waits for one for at most `patience`.
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

    /// Closes the queue; entries in it are still taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.room.close();
        self.arrived.notify_one();
    }

    /// Returns the bytes in transit to the file.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.room.available_permits())
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // The lock is only taken for moves, which do not panic.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Redacts the texts of a note or a document.
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
        // The intake has redacted them as objects.
        QueueEntry::Event(_) | QueueEntry::Blob { .. } => {}
    }
}

/// Returns the texts of a note that come from outside of the program.
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
    use kubereel_format::{
        ConnectionId, DocumentKind, EndCause, Note, REDACTED, REDACTED_BASE64, RecordedAt, Stamp,
    };

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
    async fn nothing_is_later_than_the_end_of_the_recording() {
        let queue = Queue::new(1024, Clock::start(), redactor());
        let stamp = |micros: u64| Stamp {
            wall: RecordedAt::from_micros(i64::try_from(micros).expect("small") + 7),
            elapsed: Elapsed { micros },
        };
        let note = |micros| QueueEntry::Note {
            stamp: stamp(micros),
            note: Note::Mark { text: "x".into() },
        };
        queue.end_at(stamp(50));
        queue.push(note(40)).await;
        assert!(queue.try_push(note(60)));
        let own = queue.unqueued(note(70), Elapsed { micros: 70 });
        assert_eq!(own.entry.stamp(), stamp(50));
        let QueueTake::Some(taken) = queue.take(Duration::ZERO) else {
            panic!("two entries");
        };
        let stamps: Vec<Stamp> = taken.iter().map(|queued| queued.entry.stamp()).collect();
        assert_eq!(stamps, [stamp(40), stamp(50)]);
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
    fn a_text_for_the_log_is_redacted_as_in_the_reel() {
        let queue = Queue::new(1024, Clock::start(), redactor());
        let text = queue.redacted("token: abcDEF123456secret");
        assert!(text.starts_with("token: redacted-by-"), "{text}");
    }

    #[test]
    fn a_redacted_value_begins_as_readers_expect() {
        let secret = ResourceType::new("", "secrets");
        let body = br#"{"kind":"Secret","data":{"a":"aHVudGVyMg=="},"stringData":{"b":"hunter2"}}"#;
        let body = redactor().object(&secret, body).expect("an object");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        for (pointer, begin) in [("/data/a", REDACTED_BASE64), ("/stringData/b", REDACTED)] {
            let value = body.pointer(pointer).and_then(serde_json::Value::as_str);
            assert!(
                value.is_some_and(|value| value.starts_with(begin)),
                "{body}"
            );
        }
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
