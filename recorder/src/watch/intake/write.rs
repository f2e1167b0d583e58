//! Owns the way from what a stream says to entries: numbers, connections, redaction. Refuses to keep a
//! byte of a Secret that could not be read.

use super::Intake;
use crate::discover::{api_service, definition};
use crate::entry::{Entry, EventEntry};
use crate::watch::context::Sighting;
use crate::watch::head::{self, Head};
use crate::watch::known::KnownObject;
use crate::watch::state::Output;
use crate::watch::target::Role;
use kubereel_format::{
    BlobNote, ConnectionId, EventType, Evidence, Gap, MAX_BODY, MAX_NAME, NotCoveredReason, Note,
    OddLineProblem, ResourceId, Stamp,
};
use std::borrow::Cow;
use std::ops::Range;

/// Tells where in a line a part stands that borrows from it.
fn place(line: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    (line.get(range.clone())? == part).then_some(range)
}

/// Tells whether a word has more bytes than the reel takes of one.
const fn is_too_long(word: &str) -> bool {
    word.len() > MAX_NAME
}

/// Tells whether one of the words by which an object is known is too long for the reel.
fn has_long_name(head: &Head<'_>) -> bool {
    [&head.namespace, &head.name, &head.uid, &head.version]
        .into_iter()
        .any(|word| is_too_long(word))
}

impl Intake {
    pub(super) fn write(
        &mut self,
        outputs: Vec<Output>,
        object: Option<(&Head<'_>, &[u8])>,
        at: Stamp,
    ) {
        if !outputs.is_empty() && self.open.is_some() {
            self.tell(at);
        }
        for output in outputs {
            self.write_one(output, object, at);
        }
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
            Output::HistoryFound { .. } => self.wishes.has_found_history = true,
            Output::VersionFell => self.wishes.wants_discovery = true,
            Output::Synced {
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
                tracing::warn!(
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
        head: &Head<'_>,
        bytes: &[u8],
        at: Stamp,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        let connection = open.id;
        if std::str::from_utf8(bytes).is_err() {
            // Neither a reader nor the policy for secrets could make sense of it.
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

    /// Writes an event, or lets it wait for what is read back of the gap that its list ends.
    fn push_event(&mut self, event: EventEntry) {
        match &mut self.held {
            Some(held) => {
                let entries = held.hold(event, &self.room);
                self.entries.extend(entries);
            }
            None => self.entries.push(Entry::Event(event)),
        }
    }

    fn sight_complete(&mut self) {
        if self.target.role == Role::Definitions {
            self.sightings.push(Sighting::DefinitionsComplete);
        }
    }

    fn sight(&mut self, kind: EventType, body: &[u8]) {
        match self.target.role {
            Role::Definitions if kind != EventType::Deleted => {
                if let Some(definition) = definition(body) {
                    let sighting = Sighting::Definition(Box::new(definition));
                    self.sightings.push(sighting);
                }
            }
            Role::ApiServices => {
                if let Some(mut service) = api_service(body) {
                    service.is_available &= kind != EventType::Deleted;
                    self.sightings.push(Sighting::ApiService(service));
                } else {
                    self.wishes.wants_discovery = true;
                }
            }
            Role::Definitions => self.wishes.wants_discovery = true,
            Role::Plain | Role::Events => {}
        }
    }

    pub(super) fn note(&mut self, stamp: Stamp, note: Note) {
        self.entries.push(Entry::Note { stamp, note });
    }

    pub(super) fn not_covered(&mut self, reason: NotCoveredReason, detail: String, at: Stamp) {
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

    pub(super) fn odd(&mut self, problem: OddLineProblem, bytes: &[u8], len: usize, at: Stamp) {
        self.tell(at);
        let kept = self.keepable(bytes);
        self.push_odd(problem, kept, len, at);
    }

    pub(super) fn push_odd(
        &mut self,
        problem: OddLineProblem,
        kept: Vec<u8>,
        len: usize,
        at: Stamp,
    ) {
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

    /// Gives what may be kept of an odd line: a line with an object without its secrets; of bytes that
    /// cannot be read, nothing if the kind has secrets.
    pub(super) fn keepable(&self, bytes: &[u8]) -> Vec<u8> {
        let subject = self.target.subject();
        if let Some(line) = head::line(bytes)
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
        // What is not UTF-8 hides its fields from the policy: it is judged as what a reader would see.
        if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
            && let Some(line) = head::line(text.as_bytes())
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

    /// Gives a head with the name by which the reel is to know the object, so that nobody behind this
    /// sees one that is a secret.
    pub(super) fn renamed<'a>(&mut self, head: Head<'a>) -> Head<'a> {
        let name = self
            .redactor
            .name(&self.target.subject(), &head.name, &head.uid);
        let name = match name {
            Cow::Borrowed(_) => return head,
            Cow::Owned(name) => name,
        };
        self.has_hidden_names = true;
        Head {
            name: name.into(),
            ..head
        }
    }
}
