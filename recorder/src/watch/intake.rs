//! Turns a line or an item into entries for the file: parses it, asks the state machine, and bounds
//! and redacts what is stored.
//!
//! Invariants:
//! * Bytes come in, entries go out; this module has no socket and no queue.
//! * No byte of an object leaves unredacted. Bytes that cannot be parsed are dropped if the kind
//!   has secrets.
//! * A failure that repeats is noted once.
//!
//! What it keeps between lines has invariants of its own: `connection_notes` and `gap`.

use crate::backfill::BackfillEvent;
use crate::health::Health;
use crate::known::KnownObject;
use crate::number::len64;
use crate::queue::{EventEntry, QueueEntry};
use crate::resource::{WatchTarget, not_covered};
use crate::version::ResourceVersion;
use crate::watch::connection_notes::{ConnectionNotes, connected};
use crate::watch::context::{DiscoverySighting, RecordNumbers};
use crate::watch::gap::{GapSettler, OpenGap, ReadBack};
use crate::watch::kept_line::keepable;
use crate::watch::list_failures::ListFailures;
use crate::watch::messages::{IntakeWishes, SupervisorMessages};
use crate::watch::state::{ListPage, ReadBefore, ServerRefusal, WatchOutput, WatchState};
use crate::wire::{self, LineKind, ObjectHead};
use kubereel_format::{
    BlobNote, ConnectionId, EndCause, EventType, Evidence, Gap, ListMethod, MAX_BODY, MAX_NAME,
    NotCoveredReason, Note, OddLineProblem, ResourceId, ResourceInfo, Stamp,
};
use kubereel_redact::Redactor;
use std::borrow::Cow;
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

/// The intake of one resource.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The resource.
    pub(crate) target: WatchTarget,
    /// The state machine.
    pub(crate) stream: WatchState,
    redactor: Redactor,
    numbers: Arc<RecordNumbers>,
    /// Reports whether a failure is the consequence of an outage.
    health: Arc<Health>,
    gaps: GapSettler,
    is_announced: bool,
    connections: ConnectionNotes,
    /// The last failure, so that repetitions are noted once.
    last_failure: Option<(EndCause, String)>,
    /// Lists that failed since the last complete one.
    list_failures: ListFailures,
    entries: Vec<QueueEntry>,
    messages: SupervisorMessages,
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
            health,
            gaps: GapSettler::new(room),
            is_announced: false,
            connections: ConnectionNotes::default(),
            last_failure: None,
            list_failures: ListFailures::default(),
            entries: Vec::new(),
            messages: SupervisorMessages::default(),
        }
    }

    /// Returns the entries to write, in order.
    pub(crate) fn take_entries(&mut self) -> Vec<QueueEntry> {
        std::mem::take(&mut self.entries)
    }

    /// Returns the messages for the supervisor.
    pub(crate) fn take_sightings(&mut self) -> Vec<DiscoverySighting> {
        self.messages.take_sightings()
    }

    /// Returns a message for the supervisor, once.
    pub(crate) fn take_wishes(&mut self) -> IntakeWishes {
        self.messages.take_wishes()
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
            self.push_odd(OddLineProblem::Unparsable, kept, len64(line.len()), at);
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
        if self.last_failure.as_ref() != Some(&failure)
            && !self.connections.is_unannounced_successor()
        {
            self.announce_connection(at);
            // A status has no fields for secrets; any other content of this line might.
            let kept = if status.kind == "Status" {
                self.redactor.text(line).into_owned()
            } else {
                self.keepable(line)
            };
            self.push_odd(OddLineProblem::ServerError, kept, len64(line.len()), at);
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
        self.push_odd(OddLineProblem::TooLong, kept, len_so_far, at);
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
            self.gaps.hold_events();
        }
        let note = connected(id, self.target.info.id, from_rv, method);
        self.connections.open(id, Some((at, note)));
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
        self.connections.id()
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
            self.connections.drop_current();
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
            self.connections.open(id, None);
            self.write(outputs, None, at);
            self.connections.drop_current();
        }
        self.not_covered(NotCoveredReason::Gone, String::new(), at);
    }

    fn fail(&mut self, id: ConnectionId, cause: EndCause, words: &str, at: Stamp) {
        if self.connection().is_some() {
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
        if let Some(note) = self.connections.end(cause, detail) {
            self.note(at, note);
        }
    }

    /// Something worth a note arrived: announces its connection first.
    fn note_received(&mut self, version: &str, at: Stamp) {
        self.last_failure = None;
        self.announce_connection(at);
        self.connections.received(version);
    }

    /// The current connection is open and has sent nothing yet.
    pub(crate) fn stays_open(&mut self, at: Stamp) {
        self.announce_connection(at);
    }

    fn announce_connection(&mut self, at: Stamp) {
        let Some((stamp, note)) = self.connections.announce() else {
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
        if !outputs.is_empty() {
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
            WatchOutput::HistoryFound { .. } => self.messages.history_found(),
            WatchOutput::VersionFell => self.messages.ask_discovery(),
            WatchOutput::Synced {
                version,
                method,
                objects,
            } => {
                self.list_failures.ended(&self.target, at);
                self.messages.listed(self.target.role);
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
                self.gaps.gap(gap, review, at, &mut self.entries);
            }
        }
    }

    fn note_on_connection(
        &mut self,
        at: Stamp,
        note: impl FnOnce(ConnectionId, ResourceId) -> Note,
    ) {
        if let Some(connection) = self.connection() {
            let note = note(connection, self.target.info.id);
            self.gaps.note(at, note, &mut self.entries);
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
        let Some(connection) = self.connection() else {
            return;
        };
        if std::str::from_utf8(bytes).is_err() {
            // Neither a reader nor the redaction policy could parse this line.
            self.stream.not_written(head);
            let kept = self.keepable(bytes);
            self.push_odd(OddLineProblem::Unparsable, kept, len64(bytes.len()), at);
            return;
        }
        let Some(body) = self.redactor.object(&self.target.subject(), bytes) else {
            self.stream.not_written(head);
            self.push_odd(
                OddLineProblem::Unparsable,
                Vec::new(),
                len64(bytes.len()),
                at,
            );
            return;
        };
        let uid = uid.map_or_else(|| head.uid.as_ref().into(), String::into_boxed_str);
        if body.len() > MAX_BODY || has_long_name(head) || is_too_long(&uid) {
            self.stream.not_written(head);
            self.push_odd(
                OddLineProblem::TooLong,
                body.into_owned(),
                len64(bytes.len()),
                at,
            );
            return;
        }
        let body: Box<[u8]> = body.into();
        self.messages.stored(self.target.role, kind, &body);
        let event = EventEntry {
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
        };
        self.gaps.event(event, &mut self.entries);
    }

    fn write_inferred(
        &mut self,
        namespace: String,
        name: String,
        object: &KnownObject,
        version: String,
        at: Stamp,
    ) {
        let Some(connection) = self.connection() else {
            return;
        };
        let event = EventEntry {
            stamp: at,
            connection,
            kind: EventType::Deleted,
            evidence: Evidence::Inferred,
            resource: self.target.info.id,
            namespace: namespace.into(),
            name: name.into(),
            uid: object.uid.text().into(),
            version: version.into(),
            body: None,
        };
        self.gaps.event(event, &mut self.entries);
    }

    fn note(&mut self, stamp: Stamp, note: Note) {
        self.entries.push(QueueEntry::Note { stamp, note });
    }

    fn not_covered(&mut self, reason: NotCoveredReason, detail: String, at: Stamp) {
        self.note(at, not_covered(&self.target.info, reason, detail));
        self.is_announced = false;
    }

    fn keepable(&self, bytes: &[u8]) -> Vec<u8> {
        keepable(&self.redactor, &self.target.subject(), bytes)
    }

    fn odd(&mut self, problem: OddLineProblem, bytes: &[u8], len: usize, at: Stamp) {
        self.announce_connection(at);
        let kept = self.keepable(bytes);
        self.push_odd(problem, kept, len64(len), at);
    }

    fn push_odd(&mut self, problem: OddLineProblem, kept: Vec<u8>, len: u64, at: Stamp) {
        let Some(connection) = self.connection() else {
            return;
        };
        self.entries.push(QueueEntry::Blob {
            stamp: at,
            note: BlobNote::OddLine {
                connection,
                problem,
                len,
            },
            bytes: kept,
        });
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
        self.gaps.hide_name();
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
        let from_rv = Some(from.to_string());
        let note = connected(id, self.target.info.id, from_rv, ListMethod::Watch);
        self.connections.open_successor(id, at, note);
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
        self.connections.switch();
        self.stream.connections().switch();
    }

    /// The current connection ended with this cause, or is dropped: its successor replaces it.
    pub(crate) fn take_over(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        // The successor is noted first: the reel must not show a time without a connection.
        self.on_successor(|intake| intake.announce_connection(at));
        self.stream.take_over(cause);
        self.disconnect(cause, detail, at);
        self.connections.take_over();
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
        if let Some(note) = self.connections.end_successor(cause, detail) {
            self.note(at, note);
        }
    }
}

// The end of a gap.
impl Intake {
    /// Skips events that an earlier run had read back and written before it was killed.
    pub(crate) fn leave_out(&mut self, read_before: ReadBefore) {
        self.gaps.leave_out(read_before);
    }

    /// Returns the gap to read back. The caller must call [`Self::settle`] afterwards.
    pub(crate) const fn take_open_gap(&mut self) -> Option<OpenGap> {
        self.gaps.take_open()
    }

    /// Releases events that wait for a list which will not be completed.
    pub(crate) fn release(&mut self, at: Stamp) {
        self.gaps.release(at, &mut self.entries);
    }

    /// Writes a gap.
    pub(crate) fn settle(&mut self, open: OpenGap, read: Option<ReadBack>, at: Stamp) {
        let (redactor, target) = (&self.redactor, &self.target);
        let entry = |event, connection| found_entry(redactor, target, event, connection);
        self.gaps.settle(open, read, entry, at, &mut self.entries);
    }
}

/// Makes an entry of an event that was read back; `None` if nothing of it may be stored.
fn found_entry(
    redactor: &Redactor,
    target: &WatchTarget,
    event: BackfillEvent,
    connection: ConnectionId,
) -> Option<EventEntry> {
    let body = match &event.body {
        Some(bytes) if std::str::from_utf8(bytes).is_err() => return None,
        Some(bytes) => Some(redactor.object(&target.subject(), bytes)?.into()),
        None => None,
    };
    Some(EventEntry {
        stamp: Stamp::default(),
        connection,
        kind: event.kind,
        evidence: Evidence::Reconstructed,
        resource: target.info.id,
        namespace: event.namespace.into(),
        name: event.name.into(),
        uid: event.uid.into(),
        version: event.version.to_string().into(),
        body,
    })
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
