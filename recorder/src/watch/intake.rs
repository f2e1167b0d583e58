//! Turns a line or an item into entries for the file: parses it, asks the state machine, and bounds
//! and redacts what is stored.
//!
//! Invariants:
//! * Bytes come in, entries go out; this module has no socket and no queue.
//! * No byte of an object leaves unredacted. Bytes that cannot be parsed are dropped if the kind
//!   has secrets.
//! * A connection is announced before its first entry, or when it stays open; a successor only
//!   after it delivered something.
//! * A failure that repeats is noted once.
//! * Events of the list that ends a gap wait, bounded in bytes, until the gap is read back. Then
//!   the intake writes them in the order of their versions, then the gap, then the verdict. Without
//!   room it writes them at once, and the gap is not read back.

use crate::backfill::{BackfillEvent, BackfillResult, BackfillTask, BackfillVerdict, GapSuspect};
use crate::discover::{api_service, definition};
use crate::health::Health;
use crate::known::KnownObject;
use crate::number::len64;
use crate::queue::{EventEntry, QueueEntry};
use crate::resource::{ResourceRole, WatchTarget, not_covered};
use crate::version::ResourceVersion;
use crate::watch::context::{DiscoverySighting, RecordNumbers};
use crate::watch::gap::{
    WaitingEvents, disconnected, event_key, in_order, judgement, life, restamped,
};
use crate::watch::state::{
    GapDifference, GapReview, ListPage, ReadBefore, ServerRefusal, WatchOutput, WatchState,
};
use crate::wire::{self, LineKind, ObjectHead};
use kubereel_format::{
    BlobNote, ConnectionId, Elapsed, EndCause, EventType, Evidence, Gap, GapVerdict, ListMethod,
    MAX_BODY, MAX_NAME, NotCoveredReason, Note, OddLineProblem, ResourceId, ResourceInfo, Stamp,
};
use kubereel_redact::Redactor;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How many bytes of a cut line are kept: the server sends the whole line again.
const TRUNCATED_BYTES: usize = 4 * 1024;

/// What a line means for its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineFlow {
    /// The connection continues.
    On,
    /// The connection must end: the stream after this line cannot be trusted.
    Unreadable,
    /// The server ended it with a status.
    Refused {
        /// The status code; 0 if the server sent none.
        code: u16,
        /// The message of the server.
        message: String,
    },
}

/// A message for the supervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntakeWishes {
    /// One server had the history that another server had lost.
    pub(crate) has_found_history: bool,
    /// Read discovery again, and check that the cluster is the same.
    pub(crate) wants_discovery: bool,
}

#[derive(Debug)]
struct IntakeConnection {
    id: ConnectionId,
    /// The note of the connection, until the connection has delivered something.
    unannounced: Option<(Stamp, Note)>,
    last_version: Option<String>,
}

impl IntakeConnection {
    fn disconnected(self, cause: EndCause, detail: &str) -> Note {
        Note::Disconnected {
            connection: self.id,
            cause,
            last_rv: self.last_version,
            detail: detail.to_owned(),
        }
    }
}

/// The intake of one resource.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The resource.
    pub(crate) target: WatchTarget,
    /// The state machine.
    pub(crate) stream: WatchState,
    redactor: Redactor,
    numbers: Arc<RecordNumbers>,
    /// Bounds the events that wait until a gap is settled.
    room: Arc<Semaphore>,
    /// Reports whether a failure is the consequence of an outage.
    health: Arc<Health>,
    waiting: Option<WaitingEvents>,
    open_gap: Option<OpenGap>,
    /// The name of an object was a secret.
    has_hidden_names: bool,
    /// Events that an earlier run had read back before it was killed.
    read_before: ReadBefore,
    is_announced: bool,
    open: Option<IntakeConnection>,
    /// The successor of the current connection.
    successor: Option<IntakeConnection>,
    /// The data at hand comes from the successor: the two have changed places.
    is_on_successor: bool,
    /// The last failure, so that repetitions are noted once.
    last_failure: Option<(EndCause, String)>,
    /// Lists that failed since the last complete one.
    list_failures: ListFailures,
    entries: Vec<QueueEntry>,
    sightings: Vec<DiscoverySighting>,
    wishes: IntakeWishes,
}

impl Intake {
    /// Creates an intake.
    pub(crate) fn new(
        target: WatchTarget,
        stream: WatchState,
        redactor: Redactor,
        numbers: Arc<RecordNumbers>,
        room: Arc<Semaphore>,
        health: Arc<Health>,
    ) -> Self {
        Self {
            target,
            stream,
            redactor,
            numbers,
            room,
            health,
            waiting: None,
            open_gap: None,
            has_hidden_names: false,
            read_before: ReadBefore::new(),
            is_announced: false,
            open: None,
            successor: None,
            is_on_successor: false,
            last_failure: None,
            list_failures: ListFailures::default(),
            entries: Vec::new(),
            sightings: Vec::new(),
            wishes: IntakeWishes::default(),
        }
    }

    /// Skips events that an earlier run had read back and written before it was killed.
    pub(crate) fn leave_out(&mut self, read_before: ReadBefore) {
        self.read_before = read_before;
    }

    /// Returns the entries to write, in order.
    pub(crate) fn take_entries(&mut self) -> Vec<QueueEntry> {
        std::mem::take(&mut self.entries)
    }

    /// Returns the messages for the supervisor.
    pub(crate) fn take_sightings(&mut self) -> Vec<DiscoverySighting> {
        std::mem::take(&mut self.sightings)
    }

    /// Returns a message for the supervisor, once.
    pub(crate) fn take_wishes(&mut self) -> IntakeWishes {
        std::mem::take(&mut self.wishes)
    }

    /// Takes a whole line of a watch.
    pub(crate) fn line(&mut self, bytes: &[u8], at: Stamp) -> LineFlow {
        if bytes.len() > MAX_BODY {
            self.long_line(bytes, at);
            return LineFlow::On;
        }
        if let Some(line) = wire::event(bytes) {
            return self.event(line.kind, line.head, line.object, at);
        }
        let Some(line) = wire::line(bytes) else {
            return self.unparsable_line(bytes, at);
        };
        match line.kind {
            LineKind::Event(kind) => match wire::head(line.object) {
                Some(head) => self.event(kind, head, line.object, at),
                None => self.unreadable(bytes, at),
            },
            LineKind::Bookmark => self.bookmark(line.object, bytes, at),
            LineKind::Error => self.error(line.object, bytes, at),
            LineKind::Unknown(_) => {
                self.odd(OddLineProblem::UnknownType, bytes, bytes.len(), at);
                LineFlow::On
            }
        }
    }

    /// Takes a line that is not JSON. A line that is not UTF-8 may still name the version of its
    /// object. A new request would return the same line, so the watch continues after it.
    fn unparsable_line(&mut self, bytes: &[u8], at: Stamp) -> LineFlow {
        // etcd stores any bytes, so an object may not be UTF-8. Its head decides about the state;
        // the body cannot be stored as JSON.
        let text = String::from_utf8_lossy(bytes);
        if let Cow::Owned(text) = &text
            && let Some(line) = wire::line(text.as_bytes())
            && let LineKind::Event(kind) = line.kind
            && let Some(head) = wire::head(line.object)
            && head.is_complete()
        {
            self.unparsed_object(kind, head, bytes, at);
            return LineFlow::On;
        }
        self.unreadable(bytes, at)
    }

    /// Keeps an unreadable line, and returns whether the stream after it can be trusted.
    fn unreadable(&mut self, line: &[u8], at: Stamp) -> LineFlow {
        self.odd(OddLineProblem::Unparsable, line, line.len(), at);
        if self.stream.passes_unreadable(at.elapsed) {
            return LineFlow::On;
        }
        LineFlow::Unreadable
    }

    /// Keeps the line of an event whose object cannot be parsed, if the head can be read.
    fn unparsed_object(&mut self, kind: EventType, head: ObjectHead<'_>, line: &[u8], at: Stamp) {
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.event(kind, &head, at, &mut outputs);
        let is_news = outputs
            .iter()
            .any(|output| matches!(output, WatchOutput::Write { .. }));
        self.note_received(&head.version, at);
        self.write(outputs, None, at);
        if is_news {
            // The reel has the line, not the object: the next version, or a list, must be written
            // even if it seems to be recorded.
            self.stream.not_written(&head);
            let kept = self.keepable(line);
            self.push_odd(OddLineProblem::Unparsable, kept, line.len(), at);
        }
    }

    fn event(
        &mut self,
        kind: EventType,
        head: ObjectHead<'_>,
        object: &[u8],
        at: Stamp,
    ) -> LineFlow {
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.event(kind, &head, at, &mut outputs);
        self.note_received(&head.version, at);
        self.write(outputs, Some((&head, object)), at);
        LineFlow::On
    }

    fn bookmark(&mut self, object: &[u8], line: &[u8], at: Stamp) -> LineFlow {
        let Some(mark) = wire::bookmark(object) else {
            return self.unreadable(line, at);
        };
        let mut outputs = Vec::new();
        self.stream
            .bookmark(&mark.version, mark.ends_initial, at, &mut outputs);
        self.note_received(&mark.version, at);
        self.write(outputs, None, at);
        LineFlow::On
    }

    fn error(&mut self, object: &[u8], line: &[u8], at: Stamp) -> LineFlow {
        let status = wire::status(object);
        let failure = (
            cause_of(status.code),
            detail_of(status.code, &status.message),
        );
        if self.last_failure.as_ref() != Some(&failure) && !self.is_unannounced_successor() {
            self.announce_connection(at);
            // A status has no fields for secrets; any other content of this line might.
            let kept = if status.kind == "Status" {
                self.redactor.text(line).into_owned()
            } else {
                self.keepable(line)
            };
            self.push_odd(OddLineProblem::ServerError, kept, line.len(), at);
        }
        LineFlow::Refused {
            code: status.code,
            message: status.message,
        }
    }

    /// Takes a part of a line or an item that is too long to be kept whole.
    pub(crate) fn part(&mut self, bytes: &[u8], len_so_far: u64, at: Stamp) {
        self.stream.unreadable_item();
        self.announce_connection(at);
        let kept = self.keepable(bytes);
        if let Some(open) = &self.open {
            self.entries.push(QueueEntry::Blob {
                stamp: at,
                note: BlobNote::OddLine {
                    connection: open.id,
                    problem: OddLineProblem::TooLong,
                    len: len_so_far,
                },
                bytes: kept,
            });
        }
    }

    fn long_line(&mut self, bytes: &[u8], at: Stamp) {
        let mut len_so_far = 0_u64;
        for part in bytes.chunks(MAX_BODY) {
            let len = len64(part.len());
            len_so_far = len_so_far.saturating_add(len);
            self.part(part, len_so_far, at);
        }
    }

    /// Takes the rest of a line when the stream ended: it may be a whole line.
    pub(crate) fn rest(&mut self, bytes: &[u8], at: Stamp) -> LineFlow {
        if wire::line(bytes).is_some() {
            return self.line(bytes, at);
        }
        // The watch resumes from the position before this line, so the whole line arrives again.
        let kept = bytes.get(..TRUNCATED_BYTES).unwrap_or(bytes);
        self.odd(OddLineProblem::Truncated, kept, bytes.len(), at);
        LineFlow::On
    }

    /// Takes an item of a list.
    pub(crate) fn item(&mut self, bytes: &[u8], at: Stamp) {
        let Some(head) = wire::head(bytes) else {
            self.stream.unreadable_item();
            self.odd(OddLineProblem::Unparsable, bytes, bytes.len(), at);
            return;
        };
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.item(&head, at, &mut outputs);
        self.write(outputs, Some((&head, bytes)), at);
    }

    /// A page of a list ended in order.
    pub(crate) fn page(&mut self, page: ListPage<'_>, at: Stamp) {
        let mut outputs = Vec::new();
        self.stream.page(page, at, &mut outputs);
        self.note_received(page.version, at);
        self.write(outputs, None, at);
    }
}

// Connections: their announcement before the first entry, and their end.
impl Intake {
    /// A request succeeded.
    pub(crate) fn connected(
        &mut self,
        id: ConnectionId,
        from_rv: Option<String>,
        method: ListMethod,
        asked_secs: u32,
        at: Stamp,
    ) {
        if self.stream.is_reviewing() {
            self.waiting.get_or_insert_default();
        }
        let note = Note::Connected {
            connection: id,
            resource: self.target.info.id,
            from_rv,
            method,
        };
        self.open = Some(IntakeConnection {
            id,
            unannounced: Some((at, note)),
            last_version: None,
        });
        let mut outputs = Vec::new();
        self.stream.answered(at.elapsed, asked_secs, &mut outputs);
        self.write(outputs, None, at);
    }

    /// A request for the next page of a list succeeded.
    pub(crate) fn page_answered(&mut self, at: Stamp) {
        let mut outputs = Vec::new();
        self.stream.answered(at.elapsed, 0, &mut outputs);
        self.write(outputs, None, at);
    }

    /// Returns the number of the current connection.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.open.as_ref().map(|open| open.id)
    }

    /// The current connection ended without a status of the server.
    pub(crate) fn ended(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        // An end while a list is due is a list that failed: a watch that ends is normal.
        if self.stream.wants_list() && cause != EndCause::Stopped {
            let words = if detail.is_empty() {
                "the list ended before it was complete"
            } else {
                detail
            };
            self.list_failed(words, at);
        }
        self.stream.ended(cause, at.elapsed);
        self.disconnect(cause, detail, at);
    }

    fn list_failed(&mut self, words: &str, at: Stamp) {
        let is_out = self.health.is_out();
        self.list_failures.failed(&self.target, is_out, words, at);
    }

    /// The server refused the request, or ended the stream with a status.
    pub(crate) fn refused(&mut self, refusal: ServerRefusal<'_>, id: ConnectionId, at: Stamp) {
        if self.stream.wants_list() {
            let words = format!("{} {}", refusal.code, refusal.message);
            self.list_failed(words.trim(), at);
        }
        let cause = cause_of(refusal.code);
        let failure = (cause, detail_of(refusal.code, refusal.message));
        // A 410 or an outage repeats at each retry: one note says as much as hundreds.
        let is_news = self.last_failure.as_ref() != Some(&failure);
        if is_news {
            self.fail(id, cause, refusal.message, at);
        } else {
            self.open = None;
        }
        self.last_failure = Some(failure);
        let mut outputs = Vec::new();
        self.stream.refused(refusal, at.elapsed, &mut outputs);
        self.write(outputs, None, at);
    }

    /// No connection was established.
    pub(crate) fn unreachable(&mut self, id: ConnectionId, words: &str, at: Stamp) {
        if self.stream.wants_list() {
            self.list_failed(words, at);
        }
        let failure = (EndCause::Unreachable, words.to_owned());
        // A resource that was never requested must not count as covered.
        self.announce(at);
        if self.last_failure.as_ref() != Some(&failure) {
            self.fail(id, EndCause::Unreachable, words, at);
        }
        self.last_failure = Some(failure);
        self.stream.unreachable(at.elapsed);
    }

    /// The resource is no longer served, as of a version of the cluster if that version is known.
    pub(crate) fn gone(&mut self, version: Option<&ResourceVersion>, id: ConnectionId, at: Stamp) {
        if let Some(version) = version {
            let mut outputs = Vec::new();
            self.stream.gone(version, at, &mut outputs);
            self.open = Some(IntakeConnection {
                id,
                unannounced: None,
                last_version: None,
            });
            self.write(outputs, None, at);
            self.open = None;
        }
        self.not_covered(NotCoveredReason::Gone, String::new(), at);
    }

    fn fail(&mut self, id: ConnectionId, cause: EndCause, words: &str, at: Stamp) {
        if self.open.is_some() {
            self.disconnect(cause, words, at);
            return;
        }
        // No note names the resource of an unanswered request yet.
        let detail = format!("{}: {words}", self.target.info.qualified());
        self.note(
            at,
            Note::Disconnected {
                connection: id,
                cause,
                last_rv: None,
                detail,
            },
        );
    }

    fn disconnect(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        self.announce_connection(at);
        if let Some(open) = self.open.take() {
            self.note(at, open.disconnected(cause, detail));
        }
    }

    /// Something worth a note arrived: announces its connection first.
    fn note_received(&mut self, version: &str, at: Stamp) {
        self.last_failure = None;
        self.announce_connection(at);
        if let Some(open) = &mut self.open
            && !version.is_empty()
        {
            let last = open.last_version.get_or_insert_default();
            last.clear();
            last.push_str(version);
        }
    }

    /// The current connection is open and has sent nothing yet.
    pub(crate) fn stays_open(&mut self, at: Stamp) {
        self.announce_connection(at);
    }

    fn announce_connection(&mut self, at: Stamp) {
        let Some((stamp, note)) = self.open.as_mut().and_then(|open| open.unannounced.take())
        else {
            return;
        };
        self.announce(at);
        self.note(stamp, note);
    }

    /// Announces the resource once, before its first request: a resource whose list never arrives
    /// is then known to be missing.
    pub(crate) fn announce(&mut self, at: Stamp) {
        if !self.is_announced {
            self.is_announced = true;
            self.note(at, Note::Resource(self.target.info.clone()));
        }
    }

    /// The recorder stops. A resource without a note yet was never listed.
    pub(crate) fn stopped(&mut self, at: Stamp) {
        if self.last_failure.is_none() {
            self.announce(at);
        }
        self.ended(EndCause::Stopped, "", at);
    }

    /// The description of the resource changed.
    pub(crate) fn describe(&mut self, info: ResourceInfo, at: Stamp) {
        self.target.info = info;
        if self.is_announced {
            self.note(at, Note::Resource(self.target.info.clone()));
        }
    }
}

/// Returns the cause of an end by its status code.
pub(crate) const fn cause_of(code: u16) -> EndCause {
    match code {
        410 => EndCause::Expired,
        code => EndCause::Status(code),
    }
}

/// Returns the key by which refusals are compared. Servers word a lost history differently each
/// time.
fn detail_of(code: u16, message: &str) -> String {
    if code == 410 {
        String::new()
    } else {
        message.to_owned()
    }
}

/// Returns the range of a slice within its line.
fn place(line: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    (line.get(range.clone())? == part).then_some(range)
}

/// Returns whether a string is longer than the reel accepts.
const fn is_too_long(word: &str) -> bool {
    word.len() > MAX_NAME
}

/// Returns whether a name, namespace, uid or version of the object is longer than the reel accepts.
fn has_long_name(head: &ObjectHead<'_>) -> bool {
    [&head.namespace, &head.name, &head.uid, &head.version]
        .into_iter()
        .any(|word| is_too_long(word))
}

// From the outputs of the state machine to entries: ids, redaction, bounds.
impl Intake {
    fn write(
        &mut self,
        outputs: Vec<WatchOutput>,
        object: Option<(&ObjectHead<'_>, &[u8])>,
        at: Stamp,
    ) {
        if !outputs.is_empty() && self.open.is_some() {
            self.announce_connection(at);
        }
        for output in outputs {
            self.write_one(output, object, at);
        }
    }

    fn write_one(
        &mut self,
        output: WatchOutput,
        object: Option<(&ObjectHead<'_>, &[u8])>,
        at: Stamp,
    ) {
        match output {
            WatchOutput::Write {
                kind,
                evidence,
                uid,
            } => {
                if let Some((head, bytes)) = object {
                    self.write_object(kind, evidence, uid, head, bytes, at);
                }
            }
            WatchOutput::Infer {
                namespace,
                name,
                object,
                version,
            } => self.write_inferred(namespace, name, &object, version, at),
            WatchOutput::NotCovered { reason, detail } => self.not_covered(reason, detail, at),
            // The connection was not announced when it was left out: the next connection announces
            // the resource.
            WatchOutput::CoveredAgain => {}
            WatchOutput::HistoryFound { .. } => self.wishes.has_found_history = true,
            WatchOutput::VersionFell => self.wishes.wants_discovery = true,
            WatchOutput::Synced {
                version,
                method,
                objects,
            } => {
                self.list_failures.ended(&self.target, at);
                self.sight_complete();
                self.note_on_connection(at, |connection, resource| Note::Synced {
                    resource,
                    connection,
                    rv: version,
                    method,
                    objects,
                });
            }
            WatchOutput::Bookmark { version } => {
                self.note_on_connection(at, |connection, _| Note::Bookmark {
                    connection,
                    rv: version,
                });
            }
            WatchOutput::Anomaly { kind, detail } => {
                self.note_on_connection(at, |connection, _| Note::Anomaly {
                    connection,
                    kind,
                    detail,
                });
            }
            WatchOutput::Gap {
                from,
                to,
                from_time,
                to_time,
                cause,
                missing_at_most,
                differences,
                review,
            } => {
                let gap = Gap {
                    id: self.numbers.gap(),
                    resource: self.target.info.id,
                    from_rv: from,
                    to_rv: to,
                    from_time,
                    to_time,
                    cause,
                    missing_at_most,
                    differences,
                };
                // `health` joins the gaps of many resources into one log line.
                tracing::debug!(
                    resource = self.target.info.qualified(),
                    from = gap.from_rv.as_deref().unwrap_or("the beginning"),
                    to = gap.to_rv,
                    missing_at_most = gap.missing_at_most,
                    "gap: {}",
                    gap.cause.as_str()
                );
                self.gap(gap, review, at);
            }
        }
    }

    fn note_on_connection(
        &mut self,
        at: Stamp,
        note: impl FnOnce(ConnectionId, ResourceId) -> Note,
    ) {
        if let Some(open) = &self.open {
            let note = note(open.id, self.target.info.id);
            match &mut self.open_gap {
                Some(gap) => gap.follow(at, note),
                None => self.note(at, note),
            }
        }
    }

    fn write_object(
        &mut self,
        kind: EventType,
        evidence: Evidence,
        uid: Option<String>,
        head: &ObjectHead<'_>,
        bytes: &[u8],
        at: Stamp,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        let connection = open.id;
        if std::str::from_utf8(bytes).is_err() {
            // Neither a reader nor the redaction policy could parse this line.
            self.stream.not_written(head);
            let kept = self.keepable(bytes);
            self.push_odd(OddLineProblem::Unparsable, kept, bytes.len(), at);
            return;
        }
        let Some(body) = self.redactor.object(&self.target.subject(), bytes) else {
            self.stream.not_written(head);
            self.push_odd(OddLineProblem::Unparsable, Vec::new(), bytes.len(), at);
            return;
        };
        let uid = uid.map_or_else(|| head.uid.as_ref().into(), String::into_boxed_str);
        if body.len() > MAX_BODY || has_long_name(head) || is_too_long(&uid) {
            self.stream.not_written(head);
            self.push_odd(OddLineProblem::TooLong, body.into_owned(), bytes.len(), at);
            return;
        }
        let body: Box<[u8]> = body.into();
        self.sight(kind, &body);
        self.push_event(EventEntry {
            stamp: at,
            connection,
            kind,
            evidence,
            resource: self.target.info.id,
            namespace: head.namespace.as_ref().into(),
            name: head.name.as_ref().into(),
            uid,
            version: head.version.as_ref().into(),
            body: Some(body),
        });
    }

    fn write_inferred(
        &mut self,
        namespace: String,
        name: String,
        object: &KnownObject,
        version: String,
        at: Stamp,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        self.push_event(EventEntry {
            stamp: at,
            connection: open.id,
            kind: EventType::Deleted,
            evidence: Evidence::Inferred,
            resource: self.target.info.id,
            namespace: namespace.into(),
            name: name.into(),
            uid: object.uid.text().into(),
            version: version.into(),
            body: None,
        });
    }

    /// Writes an event, or holds it back until the gap that its list ends is read back.
    fn push_event(&mut self, event: EventEntry) {
        match &mut self.waiting {
            Some(waiting) => {
                let entries = waiting.hold(event, &self.room);
                self.entries.extend(entries);
            }
            None => self.entries.push(QueueEntry::Event(event)),
        }
    }

    fn sight_complete(&mut self) {
        if self.target.role == ResourceRole::Definitions {
            self.sightings.push(DiscoverySighting::DefinitionsComplete);
        }
    }

    fn sight(&mut self, kind: EventType, body: &[u8]) {
        match self.target.role {
            ResourceRole::Definitions if kind != EventType::Deleted => {
                if let Some(definition) = definition(body) {
                    let sighting = DiscoverySighting::Definition(Box::new(definition));
                    self.sightings.push(sighting);
                }
            }
            ResourceRole::ApiServices => {
                if let Some(mut service) = api_service(body) {
                    service.is_available &= kind != EventType::Deleted;
                    self.sightings.push(DiscoverySighting::ApiService(service));
                } else {
                    self.wishes.wants_discovery = true;
                }
            }
            ResourceRole::Definitions => self.wishes.wants_discovery = true,
            ResourceRole::Plain | ResourceRole::Events => {}
        }
    }

    fn note(&mut self, stamp: Stamp, note: Note) {
        self.entries.push(QueueEntry::Note { stamp, note });
    }

    fn not_covered(&mut self, reason: NotCoveredReason, detail: String, at: Stamp) {
        self.note(at, not_covered(&self.target.info, reason, detail));
        self.is_announced = false;
    }

    fn odd(&mut self, problem: OddLineProblem, bytes: &[u8], len: usize, at: Stamp) {
        self.announce_connection(at);
        let kept = self.keepable(bytes);
        self.push_odd(problem, kept, len, at);
    }

    fn push_odd(&mut self, problem: OddLineProblem, kept: Vec<u8>, len: usize, at: Stamp) {
        let Some(open) = &self.open else {
            return;
        };
        self.entries.push(QueueEntry::Blob {
            stamp: at,
            note: BlobNote::OddLine {
                connection: open.id,
                problem,
                len: len64(len),
            },
            bytes: kept,
        });
    }

    /// Returns the part of an anomalous line that may be stored: a line with an object without its
    /// secrets; of unreadable bytes nothing if the kind has secrets.
    fn keepable(&self, bytes: &[u8]) -> Vec<u8> {
        let subject = self.target.subject();
        if let Some(line) = wire::line(bytes)
            && let Some(place) = place(bytes, line.object)
            && let Some(object) = self.redactor.object(&subject, line.object)
        {
            let before = self
                .redactor
                .text(bytes.get(..place.start).unwrap_or_default());
            let after = self
                .redactor
                .text(bytes.get(place.end..).unwrap_or_default());
            return [before, object, after].concat();
        }
        if self.redactor.is_closed(&subject) {
            return Vec::new();
        }
        // Bytes that are not UTF-8 hide fields from the policy: it judges the text that a reader
        // would see.
        if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
            && let Some(line) = wire::line(text.as_bytes())
            && let Some(Cow::Owned(_)) = self.redactor.object(&subject, line.object)
        {
            return self.keepable(text.as_bytes());
        }
        if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
            && let Some(Cow::Owned(object)) = self.redactor.object(&subject, text.as_bytes())
        {
            return object;
        }
        let kept = self.redactor.object(&subject, bytes);
        kept.map(Cow::into_owned).unwrap_or_default()
    }

    /// Returns a head with the object name that the reel uses, so that no later step sees a name
    /// that is a secret.
    fn renamed<'a>(&mut self, head: ObjectHead<'a>) -> ObjectHead<'a> {
        let name = self
            .redactor
            .name(&self.target.subject(), &head.name, &head.uid);
        let name = match name {
            Cow::Borrowed(_) => return head,
            Cow::Owned(name) => name,
        };
        self.has_hidden_names = true;
        ObjectHead {
            name: name.into(),
            ..head
        }
    }
}

// The second connection of a watch.
impl Intake {
    /// The request of a successor succeeded.
    pub(crate) fn successor_connected(
        &mut self,
        id: ConnectionId,
        from: &ResourceVersion,
        asked_secs: u32,
        at: Stamp,
    ) {
        let note = Note::Connected {
            connection: id,
            resource: self.target.info.id,
            from_rv: Some(from.to_string()),
            method: ListMethod::Watch,
        };
        self.successor = Some(IntakeConnection {
            id,
            unannounced: Some((at, note)),
            last_version: None,
        });
        let connections = self.stream.connections();
        connections.successor_answered(from, asked_secs, at.elapsed);
    }

    /// Handles data of the successor.
    pub(crate) fn on_successor<T>(&mut self, take: impl FnOnce(&mut Self) -> T) -> T {
        self.switch();
        let taken = take(self);
        self.switch();
        taken
    }

    const fn switch(&mut self) {
        std::mem::swap(&mut self.open, &mut self.successor);
        self.is_on_successor = !self.is_on_successor;
        self.stream.connections().switch();
    }

    /// Returns whether the data at hand comes from a successor that has delivered nothing yet.
    fn is_unannounced_successor(&self) -> bool {
        let open = self.open.as_ref();
        self.is_on_successor && open.is_some_and(|open| open.unannounced.is_some())
    }

    /// The current connection ended with this cause, or is dropped: its successor replaces it.
    pub(crate) fn take_over(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        // The successor is noted first: the reel must not show a time without a connection.
        self.on_successor(|intake| intake.announce_connection(at));
        self.stream.take_over(cause);
        self.disconnect(cause, detail, at);
        self.open = self.successor.take();
    }

    /// The successor was refused, broke off, or is dropped. The current connection continues.
    pub(crate) fn successor_ended(
        &mut self,
        cause: EndCause,
        detail: &str,
        retry_after_secs: Option<u32>,
        at: Stamp,
    ) {
        self.stream.end_successor(retry_after_secs, at.elapsed);
        let Some(open) = self.successor.take() else {
            return;
        };
        if open.unannounced.is_none() {
            self.note(at, open.disconnected(cause, detail));
        }
    }
}

/// A gap that has ended and is not noted yet.
#[derive(Debug)]
pub(crate) struct OpenGap {
    gap: Gap,
    /// The names to read back, or the reason why the gap is not read back.
    pub(crate) work: Result<BackfillTask, &'static str>,
    /// The notes that follow the gap.
    notes: Vec<(Stamp, Note)>,
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
    /// Adds a note behind the gap.
    fn follow(&mut self, at: Stamp, note: Note) {
        self.notes.push((at, note));
    }
}

// The end of a gap.
impl Intake {
    /// Returns the gap to read back. The caller must call [`Self::settle`] afterwards.
    pub(crate) const fn take_open_gap(&mut self) -> Option<OpenGap> {
        self.open_gap.take()
    }

    /// Releases events that wait for a list which will not be completed.
    pub(crate) fn release(&mut self, at: Stamp) {
        if let Some(waiting) = self.waiting.take() {
            self.entries.extend(restamped(waiting.into_events(), at));
        }
    }

    /// A gap has ended: it is noted when it is settled.
    fn gap(&mut self, gap: Gap, review: Option<GapReview>, at: Stamp) {
        let Some(review) = review else {
            self.release(at);
            self.note(at, Note::Gap(gap));
            return;
        };
        let work = self.work(&gap, review);
        self.open_gap = Some(OpenGap {
            gap,
            work,
            notes: Vec::new(),
        });
    }

    fn work(&self, gap: &Gap, review: GapReview) -> Result<BackfillTask, &'static str> {
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

    /// Writes a gap: the events that were read back and those of the list in the order of their
    /// versions, then the gap, then the verdict.
    pub(crate) fn settle(&mut self, open: OpenGap, read: Option<ReadBack>, at: Stamp) {
        let waiting = self
            .waiting
            .take()
            .map(WaitingEvents::into_events)
            .unwrap_or_default();
        let judged = match (open.work, read) {
            (Ok(work), Some(mut read)) => {
                let (connection, requests) = (read.connection, read.requests);
                let is_announced = self.connected_exact(&read, &work);
                let events = std::mem::take(&mut read.found.events);
                let mut written = Vec::new();
                for event in events {
                    let version = event.version;
                    match self.found_entry(event, connection) {
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
                self.entries.extend(restamped(events, at));
                if is_announced {
                    self.note(at, disconnected(connection, &verdict));
                }
                judgement(&open.gap, verdict, reconstructed, requests)
            }
            (work, _) => {
                self.entries.extend(restamped(waiting, at));
                let why = work.err().unwrap_or("the recorder stopped");
                let verdict = BackfillVerdict {
                    word: GapVerdict::Partly,
                    missing_at_most: open.gap.missing_at_most,
                    detail: why.to_owned(),
                };
                judgement(&open.gap, verdict, 0, 0)
            }
        };
        self.note(at, Note::Gap(open.gap));
        self.note(at, judged);
        for (_, note) in open.notes {
            self.note(at, note);
        }
    }

    fn connected_exact(&mut self, read: &ReadBack, work: &BackfillTask) -> bool {
        if read.requests == 0 {
            return false;
        }
        let note = Note::Connected {
            connection: read.connection,
            resource: self.target.info.id,
            from_rv: Some(work.from.to_string()),
            method: ListMethod::Exact,
        };
        self.note(read.since, note);
        true
    }

    /// Makes an entry of an event that was read back; `None` if nothing of it may be stored.
    fn found_entry(&self, event: BackfillEvent, connection: ConnectionId) -> Option<EventEntry> {
        let body = match &event.body {
            Some(bytes) if std::str::from_utf8(bytes).is_err() => return None,
            Some(bytes) => Some(self.redactor.object(&self.target.subject(), bytes)?.into()),
            None => None,
        };
        Some(EventEntry {
            stamp: Stamp::default(),
            connection,
            kind: event.kind,
            evidence: Evidence::Reconstructed,
            resource: self.target.info.id,
            namespace: event.namespace.into(),
            name: event.name.into(),
            uid: event.uid.into(),
            version: event.version.to_string().into(),
            body,
        })
    }
}

/// The shortest time between two log lines about the same resource, in microseconds.
const LOG_MICROS: u64 = 10_000_000;

/// How long lists fail before the first log line, in microseconds.
const FIRST_LOG_MICROS: u64 = 5_000_000;

/// The consecutive failures of a resource's lists.
#[derive(Debug, Default)]
struct ListFailures {
    tries: u32,
    since: Elapsed,
    /// When the next failure is logged.
    next_log: Elapsed,
}

impl ListFailures {
    /// Counts a failure, and logs it when it is due.
    fn failed(&mut self, target: &WatchTarget, is_out: bool, error: &str, at: Stamp) {
        let now = at.elapsed;
        if self.tries == 0 {
            self.since = now;
            // A temporary failure is not logged: an outage causes many, and has its own line.
            self.next_log = Elapsed {
                micros: now.micros.saturating_add(FIRST_LOG_MICROS),
            };
        }
        self.tries = self.tries.saturating_add(1);
        if now < self.next_log || is_out {
            return;
        }
        let failing = now.micros.saturating_sub(self.since.micros);
        self.next_log = Elapsed {
            micros: now.micros.saturating_add(failing.max(LOG_MICROS)),
        };
        tracing::warn!(
            resource = target.info.qualified(),
            tries = self.tries,
            failing_secs = failing / 1_000_000,
            error,
            "cannot list; trying again"
        );
    }

    /// A list is complete.
    fn ended(&mut self, target: &WatchTarget, at: Stamp) {
        let tries = std::mem::take(&mut self.tries);
        if tries > 0 {
            let failed = at.elapsed.micros.saturating_sub(self.since.micros);
            tracing::info!(
                resource = target.info.qualified(),
                tries,
                failed_secs = failed / 1_000_000,
                "listed"
            );
        }
    }
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
