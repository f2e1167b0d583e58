//! Owns the way from a line or an item to entries for the file: what is read of it, what the stream
//! says to it, and what of it may be kept. Refuses sockets and the queue: bytes come in, entries go
//! out.

use crate::discover::definition;
use crate::entry::{Entry, EventEntry};
use crate::redact::Redactor;
use crate::watch::context::{Numbers, Sighting};
use crate::watch::head::{self, Head, LineKind};
use crate::watch::known::KnownObject;
use crate::watch::state::{Output, Page, Refusal, Stream};
use crate::watch::target::{Role, Target};
use kubereel_format::{
    BlobNote, ConnectionId, EndCause, EventType, Evidence, Gap, ListMethod, MAX_BODY,
    NotCoveredReason, Note, OddLineProblem, Stamp,
};
use std::sync::Arc;

/// How much is kept of a line that broke off: it comes again, whole.
const TRUNCATED_BYTES: usize = 4 * 1024;

/// What a line means for the connection that brought it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It goes on.
    On,
    /// It ends here: the stream behind this line cannot be trusted.
    Unreadable,
    /// The server ended it with a status.
    Refused {
        /// The code; 0 if it named none.
        code: u16,
        /// Its words.
        message: String,
    },
}

#[derive(Debug)]
struct Open {
    id: ConnectionId,
    /// The note that tells of it, until something worth telling has come.
    untold: Option<(Stamp, Note)>,
    last_version: Option<String>,
}

/// The intake of one resource.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The resource.
    pub(crate) target: Target,
    /// Its decisions.
    pub(crate) stream: Stream,
    redactor: Redactor,
    numbers: Arc<Numbers>,
    is_announced: bool,
    open: Option<Open>,
    /// The failure told last, so that a long row of the same is told once.
    told: Option<(EndCause, String)>,
    entries: Vec<Entry>,
    sightings: Vec<Sighting>,
    outputs: Vec<Output>,
    has_found_history: bool,
    has_fallen: bool,
    wants_discovery: bool,
}

impl Intake {
    /// Begins.
    pub(crate) fn new(
        target: Target,
        stream: Stream,
        redactor: Redactor,
        numbers: Arc<Numbers>,
    ) -> Self {
        Self {
            target,
            stream,
            redactor,
            numbers,
            is_announced: false,
            open: None,
            told: None,
            entries: Vec::new(),
            sightings: Vec::new(),
            outputs: Vec::new(),
            has_found_history: false,
            has_fallen: false,
            wants_discovery: false,
        }
    }

    /// Gives what is to be written, in order.
    pub(crate) fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// Gives what others want to hear.
    pub(crate) fn take_sightings(&mut self) -> Vec<Sighting> {
        std::mem::take(&mut self.sightings)
    }

    /// Tells once that another server had the history that one had lost.
    pub(crate) fn take_found_history(&mut self) -> bool {
        std::mem::take(&mut self.has_found_history)
    }

    /// Tells once that the versions have fallen.
    pub(crate) fn take_fallen(&mut self) -> bool {
        std::mem::take(&mut self.has_fallen)
    }

    /// Tells once that discovery may have changed.
    pub(crate) fn take_wants_discovery(&mut self) -> bool {
        std::mem::take(&mut self.wants_discovery)
    }

    /// A request was answered with success.
    pub(crate) fn connected(
        &mut self,
        id: ConnectionId,
        from_rv: Option<String>,
        method: ListMethod,
        asked_secs: u32,
        at: Stamp,
    ) {
        let note = Note::Connected {
            connection: id,
            resource: self.target.info.id,
            from_rv,
            method,
        };
        self.open = Some(Open {
            id,
            untold: Some((at, note)),
            last_version: None,
        });
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.answered(at.elapsed, asked_secs, &mut outputs);
        self.outputs = outputs;
        self.write(None, at);
    }

    /// The next page of a list was answered with success.
    pub(crate) fn page_answered(&mut self, at: Stamp) {
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.answered(at.elapsed, 0, &mut outputs);
        self.outputs = outputs;
        self.write(None, at);
    }

    /// Gives the number of the connection under way.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.open.as_ref().map(|open| open.id)
    }

    /// Takes a whole line of a watch.
    pub(crate) fn line(&mut self, bytes: &[u8], at: Stamp) -> Flow {
        if bytes.len() > MAX_BODY {
            self.long_line(bytes, at);
            return Flow::On;
        }
        let Some(line) = head::line(bytes) else {
            self.odd(OddLineProblem::Unparsable, bytes, bytes.len(), at);
            return Flow::Unreadable;
        };
        match line.kind {
            LineKind::Event(kind) => self.event(kind, line.object, bytes, at),
            LineKind::Bookmark => self.bookmark(line.object, bytes, at),
            LineKind::Error => self.error(line.object, bytes, at),
            LineKind::Unknown(_) => {
                self.odd(OddLineProblem::UnknownType, bytes, bytes.len(), at);
                Flow::On
            }
        }
    }

    fn event(&mut self, kind: EventType, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let Some(head) = head::head(object) else {
            self.odd(OddLineProblem::Unparsable, line, line.len(), at);
            return Flow::Unreadable;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.event(kind, &head, at, &mut outputs);
        self.outputs = outputs;
        self.heard(&head.version, at);
        self.write(Some((&head, object)), at);
        Flow::On
    }

    fn bookmark(&mut self, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let Some(mark) = head::bookmark(object) else {
            self.odd(OddLineProblem::Unparsable, line, line.len(), at);
            return Flow::Unreadable;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream
            .bookmark(&mark.version, mark.ends_initial, at, &mut outputs);
        self.outputs = outputs;
        self.heard(&mark.version, at);
        self.write(None, at);
        Flow::On
    }

    fn error(&mut self, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let status = head::status(object);
        let told = (
            cause_of(status.code),
            detail_of(status.code, &status.message),
        );
        if self.told.as_ref() != Some(&told) {
            self.tell(at);
            // A status has no secrets; whatever else stands here might.
            let is_status = status.kind == "Status";
            let kept = if self.target.role != Role::Secrets || is_status {
                line.to_vec()
            } else {
                Vec::new()
            };
            self.push_odd(OddLineProblem::ServerError, kept, line.len(), at);
        }
        Flow::Refused {
            code: status.code,
            message: status.message,
        }
    }

    /// Takes a part of a line or an item that is longer than is kept as one.
    pub(crate) fn part(&mut self, bytes: &[u8], len_so_far: u64, at: Stamp) {
        self.stream.unreadable_item();
        self.tell(at);
        let kept = self.keepable(bytes);
        if let Some(open) = &self.open {
            self.entries.push(Entry::Blob {
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
            let len = u64::try_from(part.len()).unwrap_or(u64::MAX);
            len_so_far = len_so_far.saturating_add(len);
            self.part(part, len_so_far, at);
        }
    }

    /// Takes what was left of a line when the stream ended: it may be a whole one.
    pub(crate) fn rest(&mut self, bytes: &[u8], at: Stamp) -> Flow {
        if head::line(bytes).is_some() {
            return self.line(bytes, at);
        }
        let kept = bytes.get(..TRUNCATED_BYTES).unwrap_or(bytes);
        self.odd(OddLineProblem::Truncated, kept, bytes.len(), at);
        Flow::On
    }

    /// Takes an item of a list.
    pub(crate) fn item(&mut self, bytes: &[u8], at: Stamp) {
        let Some(head) = head::head(bytes) else {
            self.stream.unreadable_item();
            self.odd(OddLineProblem::Unparsable, bytes, bytes.len(), at);
            return;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.item(&head, at, &mut outputs);
        self.outputs = outputs;
        self.write(Some((&head, bytes)), at);
    }

    /// A page of a list has ended in order.
    pub(crate) fn page(&mut self, page: Page<'_>, at: Stamp) {
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.page(page, at, &mut outputs);
        self.outputs = outputs;
        self.heard(page.version, at);
        self.write(None, at);
    }

    /// The connection under way ended, not by the server's status.
    pub(crate) fn ended(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        self.stream.ended(cause, at.elapsed);
        self.disconnect(cause, detail, at);
    }

    /// The server refused, before or in the middle of a stream.
    pub(crate) fn refused(&mut self, refusal: Refusal<'_>, id: ConnectionId, at: Stamp) {
        let cause = cause_of(refusal.code);
        let told = (cause, detail_of(refusal.code, refusal.message));
        let is_news = self.told.as_ref() != Some(&told);
        if is_news {
            self.fail(id, cause, refusal.message, at);
        } else {
            self.open = None;
        }
        self.told = Some(told);
        let mut outputs = std::mem::take(&mut self.outputs);
        self.stream.refused(refusal, at.elapsed, &mut outputs);
        self.outputs = outputs;
        self.write(None, at);
    }

    /// No connection came about.
    pub(crate) fn unreachable(&mut self, id: ConnectionId, words: &str, at: Stamp) {
        let told = (EndCause::Unreachable, words.to_owned());
        if self.told.as_ref() != Some(&told) {
            self.fail(id, EndCause::Unreachable, words, at);
        }
        self.told = Some(told);
        self.stream.unreachable(at.elapsed);
    }

    /// The resource is no longer served.
    pub(crate) fn gone(&mut self, at: Stamp) {
        self.not_covered(NotCoveredReason::Gone, String::new(), at);
    }

    fn fail(&mut self, id: ConnectionId, cause: EndCause, words: &str, at: Stamp) {
        if self.open.is_some() {
            self.disconnect(cause, words, at);
            return;
        }
        // Nothing else says of which resource an unanswered request was.
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
        self.tell(at);
        if let Some(open) = self.open.take() {
            self.note(
                at,
                Note::Disconnected {
                    connection: open.id,
                    cause,
                    last_rv: open.last_version,
                    detail: detail.to_owned(),
                },
            );
        }
    }

    /// Something came that is worth telling of: first, on which connection.
    fn heard(&mut self, version: &str, at: Stamp) {
        self.told = None;
        self.tell(at);
        if let Some(open) = &mut self.open
            && !version.is_empty()
        {
            let last = open.last_version.get_or_insert_default();
            last.clear();
            last.push_str(version);
        }
    }

    fn tell(&mut self, at: Stamp) {
        let Some((stamp, note)) = self.open.as_mut().and_then(|open| open.untold.take()) else {
            return;
        };
        if !self.is_announced {
            self.is_announced = true;
            self.note(at, Note::Resource(self.target.info.clone()));
        }
        self.note(stamp, note);
    }

    /// The description of the resource changed.
    pub(crate) fn describe(&mut self, info: kubereel_format::ResourceInfo, at: Stamp) {
        self.target.info = info;
        if self.is_announced {
            self.note(at, Note::Resource(self.target.info.clone()));
        }
    }

    fn note(&mut self, stamp: Stamp, note: Note) {
        self.entries.push(Entry::Note { stamp, note });
    }

    fn not_covered(&mut self, reason: NotCoveredReason, detail: String, at: Stamp) {
        let info = &self.target.info;
        let note = Note::NotCovered {
            group: info.group.clone(),
            version: info.version.clone(),
            plural: info.plural.clone(),
            reason,
            detail,
        };
        self.note(at, note);
        self.is_announced = false;
    }

    fn odd(&mut self, problem: OddLineProblem, bytes: &[u8], len: usize, at: Stamp) {
        self.tell(at);
        let kept = self.keepable(bytes);
        self.push_odd(problem, kept, len, at);
    }

    fn push_odd(&mut self, problem: OddLineProblem, kept: Vec<u8>, len: usize, at: Stamp) {
        let Some(open) = &self.open else {
            return;
        };
        self.entries.push(Entry::Blob {
            stamp: at,
            note: BlobNote::OddLine {
                connection: open.id,
                problem,
                len: u64::try_from(len).unwrap_or(u64::MAX),
            },
            bytes: kept,
        });
    }

    /// Gives what may be kept of bytes that could not be read: of Secrets, nothing.
    fn keepable(&self, bytes: &[u8]) -> Vec<u8> {
        if self.target.role == Role::Secrets {
            Vec::new()
        } else {
            bytes.to_vec()
        }
    }

    fn write(&mut self, object: Option<(&Head<'_>, &[u8])>, at: Stamp) {
        let mut outputs = std::mem::take(&mut self.outputs);
        if !outputs.is_empty() && self.open.is_some() {
            self.tell(at);
        }
        for output in outputs.drain(..) {
            self.write_one(output, object, at);
        }
        self.outputs = outputs;
    }

    fn write_one(&mut self, output: Output, object: Option<(&Head<'_>, &[u8])>, at: Stamp) {
        match output {
            Output::Write {
                kind,
                evidence,
                uid,
            } => {
                if let Some((head, bytes)) = object {
                    self.write_object(kind, evidence, uid, head, bytes, at);
                }
            }
            Output::Infer {
                namespace,
                name,
                object,
                version,
            } => self.write_inferred(namespace, name, &object, version, at),
            Output::NotCovered { reason, detail } => self.not_covered(reason, detail, at),
            // It was unannounced when it was left out: the next connection announces it.
            Output::CoveredAgain => {}
            Output::HistoryFound { .. } => self.has_found_history = true,
            Output::VersionFell => self.has_fallen = true,
            Output::Synced {
                version,
                method,
                objects,
            } => {
                if self.target.role == Role::Definitions {
                    self.sightings.push(Sighting::DefinitionsComplete);
                }
                self.note_on_connection(at, |connection, resource| Note::Synced {
                    resource,
                    connection,
                    rv: version,
                    method,
                    objects,
                });
            }
            Output::Bookmark { version } => {
                self.note_on_connection(at, |connection, _| Note::Bookmark {
                    connection,
                    rv: version,
                });
            }
            Output::Anomaly { kind, detail } => {
                self.note_on_connection(at, |connection, _| Note::Anomaly {
                    connection,
                    kind,
                    detail,
                });
            }
            Output::Gap {
                from,
                to,
                from_time,
                to_time,
                cause,
                missing_at_most,
                differences,
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
                tracing::warn!(
                    resource = self.target.info.qualified(),
                    from = gap.from_rv.as_deref().unwrap_or("the beginning"),
                    to = gap.to_rv,
                    missing_at_most = gap.missing_at_most,
                    "gap: {}",
                    gap.cause.as_str()
                );
                self.note(at, Note::Gap(gap));
            }
        }
    }

    fn note_on_connection(
        &mut self,
        at: Stamp,
        note: impl FnOnce(ConnectionId, kubereel_format::ResourceId) -> Note,
    ) {
        if let Some(open) = &self.open {
            let note = note(open.id, self.target.info.id);
            self.note(at, note);
        }
    }

    fn write_object(
        &mut self,
        kind: EventType,
        evidence: Evidence,
        uid: Option<String>,
        head: &Head<'_>,
        bytes: &[u8],
        at: Stamp,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        let connection = open.id;
        let body = if self.target.role == Role::Secrets {
            let Some(redacted) = self.redactor.secret(bytes) else {
                self.push_odd(OddLineProblem::Unparsable, Vec::new(), bytes.len(), at);
                return;
            };
            redacted.into_boxed_slice()
        } else {
            bytes.into()
        };
        self.sight(kind, &body);
        self.entries.push(Entry::Event(EventEntry {
            stamp: at,
            connection,
            kind,
            evidence,
            resource: self.target.info.id,
            namespace: head.namespace.as_ref().into(),
            name: head.name.as_ref().into(),
            uid: uid.map_or_else(|| head.uid.as_ref().into(), String::into_boxed_str),
            version: head.version.as_ref().into(),
            body: Some(body),
        }));
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
        self.entries.push(Entry::Event(EventEntry {
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
        }));
    }

    fn sight(&mut self, kind: EventType, body: &[u8]) {
        match self.target.role {
            Role::Definitions if kind != EventType::Deleted => {
                if let Some(definition) = definition(body) {
                    let sighting = Sighting::Definition(Box::new(definition));
                    self.sightings.push(sighting);
                }
            }
            Role::Definitions | Role::ApiServices => self.wants_discovery = true,
            Role::Plain | Role::Secrets | Role::Namespaces | Role::Events => {}
        }
    }
}

const fn cause_of(code: u16) -> EndCause {
    match code {
        410 => EndCause::Expired,
        code => EndCause::Status(code),
    }
}

/// Servers word a lost history differently each time.
fn detail_of(code: u16, message: &str) -> String {
    if code == 410 {
        String::new()
    } else {
        message.to_owned()
    }
}
