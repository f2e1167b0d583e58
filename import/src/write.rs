//! Owns the way into the reel: one session, one connection for each resource, every event with its
//! own time. Refuses to claim completeness: no list, no bookmark, no gap is written.

use crate::error::ImportError;
use kubereel_format::{
    AppendError, Appender, ConnectionId, Elapsed, EpochId, EventType, Evidence, FinishStats,
    ListMethod, NewBody, NewEvent, Note, REDACTION_NONE, RecordedAt, ResourceId, ResourceInfo,
    SessionEnd, SessionId, Stamp,
};
use kubereel_redact::POLICY;
use std::collections::BTreeSet;
use std::path::Path;

/// After so many bytes what was appended is written.
const COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// What the first notes say.
#[derive(Debug)]
pub(crate) struct Start {
    /// The version of the program that imports.
    pub(crate) program: String,
    /// Whether values of Secrets are taken out.
    pub(crate) is_redacted: bool,
    /// Where the events come from, in words.
    pub(crate) provenance: String,
}

/// An event's object and its names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) at: RecordedAt,
    pub(crate) kind: EventType,
    pub(crate) resource: ResourceId,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) uid: &'a str,
    pub(crate) resource_version: &'a str,
    pub(crate) body: &'a [u8],
}

/// The reel in the making.
pub(crate) struct Writer {
    appender: Appender,
    start: Option<Start>,
    span: Option<(RecordedAt, RecordedAt)>,
    /// The resources that have a connection.
    connected: BTreeSet<ResourceId>,
    cluster: Option<(EpochId, String)>,
    events: u64,
    pending: usize,
}

impl Writer {
    /// Makes the file. The reel begins with its first event.
    pub(crate) fn create(path: &Path, start: Start) -> Result<Self, ImportError> {
        Ok(Self {
            appender: Appender::create(path)?,
            start: Some(start),
            span: None,
            connected: BTreeSet::new(),
            cluster: None,
            events: 0,
            pending: 0,
        })
    }

    /// Describes a resource, for the first time or anew.
    pub(crate) fn announce(
        &mut self,
        at: RecordedAt,
        info: ResourceInfo,
    ) -> Result<(), AppendError> {
        let resource = info.id;
        self.note(at, Note::Resource(info))?;
        if self.connected.insert(resource) {
            let connected = Note::Connected {
                connection: ConnectionId(resource.0),
                resource,
                from_rv: None,
                method: ListMethod::Import,
            };
            self.note(at, connected)?;
        }
        Ok(())
    }

    /// Notes which cluster the events are of, once for each that is met.
    pub(crate) fn cluster(&mut self, at: RecordedAt, uid: &str) -> Result<(), AppendError> {
        let epoch = match &self.cluster {
            Some((_, known)) if known == uid => return Ok(()),
            Some((epoch, _)) => EpochId(epoch.0.saturating_add(1)),
            None => EpochId(0),
        };
        self.cluster = Some((epoch, uid.to_owned()));
        let note = Note::Cluster {
            epoch,
            uid: uid.to_owned(),
            version: String::new(),
        };
        self.note(at, note)
    }

    /// Appends an event.
    pub(crate) fn event(&mut self, item: &Item<'_>) -> Result<(), AppendError> {
        let stamp = self.stamp(item.at)?;
        self.appender.append_event(&NewEvent {
            stamp,
            connection: ConnectionId(item.resource.0),
            kind: item.kind,
            evidence: Evidence::Imported,
            resource: item.resource,
            namespace: item.namespace,
            name: item.name,
            uid: item.uid,
            resource_version: item.resource_version,
            body: NewBody::Bytes(item.body),
        })?;
        self.events += 1;
        self.pending = self.pending.saturating_add(item.body.len());
        if self.pending >= COMMIT_BYTES {
            self.pending = 0;
            self.appender.commit()?;
        }
        Ok(())
    }

    /// Gives how many events there are.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// Gives how many resources there are.
    pub(crate) fn resources(&self) -> usize {
        self.connected.len()
    }

    /// Gives the times of the first event and of the latest.
    pub(crate) fn span(&self) -> (RecordedAt, RecordedAt) {
        self.span.unwrap_or_default()
    }

    /// Ends the reel with what the import has to say of itself.
    pub(crate) fn finish(mut self, said: Vec<String>) -> Result<FinishStats, ImportError> {
        let (_, last) = self.span();
        for text in said {
            self.note(last, Note::Provenance { text })?;
        }
        let end = Note::SessionEnded {
            session: SessionId(0),
            end: SessionEnd::Finished,
        };
        self.note(last, end)?;
        Ok(self.appender.finish()?)
    }

    fn note(&mut self, at: RecordedAt, note: Note) -> Result<(), AppendError> {
        let stamp = self.stamp(at)?;
        self.appender.append_note(stamp, note)?;
        Ok(())
    }

    /// Gives the stamp of a time. The steady clock, which an input does not tell, stands where
    /// the other one steps back.
    fn stamp(&mut self, at: RecordedAt) -> Result<Stamp, AppendError> {
        let (first, last) = self.span.unwrap_or((at, at));
        let last = last.max(at);
        self.span = Some((first, last));
        let stamp = Stamp {
            wall: at,
            elapsed: Elapsed {
                micros: u64::try_from(last.micros_since(first)).unwrap_or(0),
            },
        };
        if let Some(start) = self.start.take() {
            let started = Note::SessionStarted {
                session: SessionId(0),
                recorder: start.program,
                at,
                redaction_policy: if start.is_redacted {
                    POLICY
                } else {
                    REDACTION_NONE
                },
            };
            self.appender.append_note(stamp, started)?;
            let provenance = Note::Provenance {
                text: start.provenance,
            };
            self.appender.append_note(stamp, provenance)?;
        }
        Ok(stamp)
    }
}
