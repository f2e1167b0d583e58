//! Owns what an intake holds, and the sorting of what comes in. Refuses the writing: its neighbours do that.

use super::OpenGap;
use super::connection::{cause_of, detail_of};
use super::failures::ListFailures;
use super::held::Held;
use crate::entry::Entry;
use crate::watch::context::{Numbers, Sighting};
use crate::watch::head::{self, Head, LineKind};
use crate::watch::state::{Output, Page, ReadBefore, Stream};
use crate::watch::target::Target;
use kubereel_format::{
    BlobNote, ConnectionId, EndCause, EventType, MAX_BODY, Note, OddLineProblem, Stamp,
};
use kubereel_redact::Redactor;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How much is kept of a line that broke off: it comes again, whole.
pub(super) const TRUNCATED_BYTES: usize = 4 * 1024;

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

/// What an intake would have others do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Remember that one server had the history that another had lost.
    pub(crate) has_found_history: bool,
    /// Ask what is served, and whether the cluster is still the one it was.
    pub(crate) wants_discovery: bool,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: ConnectionId,
    /// The note that tells of it, until something worth telling has come.
    pub(super) untold: Option<(Stamp, Note)>,
    pub(super) last_version: Option<String>,
}

/// The intake of one resource.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The resource.
    pub(crate) target: Target,
    /// Its decisions.
    pub(crate) stream: Stream,
    pub(super) redactor: Redactor,
    pub(super) numbers: Arc<Numbers>,
    /// Bounds what waits for a gap to be settled.
    pub(super) room: Arc<Semaphore>,
    pub(super) held: Option<Held>,
    pub(super) open_gap: Option<OpenGap>,
    /// An object had a secret for a name.
    pub(super) has_hidden_names: bool,
    /// What an earlier run had read back of a gap when it was killed.
    pub(super) read_before: ReadBefore,
    pub(super) is_announced: bool,
    pub(super) open: Option<Open>,
    /// The connection that is to take the place of the one under way.
    pub(super) successor: Option<Open>,
    /// What is at hand comes from the successor: the two have changed places.
    pub(super) is_on_successor: bool,
    /// The failure told last, so that a long row of the same is told once.
    pub(super) told: Option<(EndCause, String)>,
    /// Lists that failed since the last complete one.
    pub(super) list_failures: ListFailures,
    pub(super) entries: Vec<Entry>,
    pub(super) sightings: Vec<Sighting>,
    pub(super) wishes: Wishes,
}

impl Intake {
    /// Begins.
    pub(crate) fn new(
        target: Target,
        stream: Stream,
        redactor: Redactor,
        numbers: Arc<Numbers>,
        room: Arc<Semaphore>,
    ) -> Self {
        Self {
            target,
            stream,
            redactor,
            numbers,
            room,
            held: None,
            open_gap: None,
            has_hidden_names: false,
            read_before: ReadBefore::new(),
            is_announced: false,
            open: None,
            successor: None,
            is_on_successor: false,
            told: None,
            list_failures: ListFailures::default(),
            entries: Vec::new(),
            sightings: Vec::new(),
            wishes: Wishes::default(),
        }
    }

    /// Does not write again what an earlier run had read back of a gap when it was killed.
    pub(crate) fn leave_out(&mut self, read_before: ReadBefore) {
        self.read_before = read_before;
    }

    /// Gives what is to be written, in order.
    pub(crate) fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// Gives what others want to hear.
    pub(crate) fn take_sightings(&mut self) -> Vec<Sighting> {
        std::mem::take(&mut self.sightings)
    }

    /// Gives what others are to do, once.
    pub(crate) fn take_wishes(&mut self) -> Wishes {
        std::mem::take(&mut self.wishes)
    }

    /// Takes a whole line of a watch.
    pub(crate) fn line(&mut self, bytes: &[u8], at: Stamp) -> Flow {
        if bytes.len() > MAX_BODY {
            self.long_line(bytes, at);
            return Flow::On;
        }
        let Some(line) = head::line(bytes) else {
            return self.unparsable_line(bytes, at);
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

    /// Takes a line that is no JSON. One that is not UTF-8 may tell all the same of which version of
    /// which object it is: asking for it again would bring it again, and the watch goes on.
    fn unparsable_line(&mut self, bytes: &[u8], at: Stamp) -> Flow {
        let text = String::from_utf8_lossy(bytes);
        if let Cow::Owned(text) = &text
            && let Some(line) = head::line(text.as_bytes())
            && let LineKind::Event(kind) = line.kind
            && let Some(head) = head::head(line.object)
            && head.is_complete()
        {
            self.unparsed_object(kind, head, bytes, at);
            return Flow::On;
        }
        self.unreadable(bytes, at)
    }

    /// Keeps a line of which nothing can be read, and tells whether the stream behind it is trusted.
    fn unreadable(&mut self, line: &[u8], at: Stamp) -> Flow {
        self.odd(OddLineProblem::Unparsable, line, line.len(), at);
        if self.stream.passes_unreadable(at.elapsed) {
            return Flow::On;
        }
        Flow::Unreadable
    }

    /// Keeps the line of an event whose object cannot be parsed, and whose head can be read.
    fn unparsed_object(&mut self, kind: EventType, head: Head<'_>, line: &[u8], at: Stamp) {
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.event(kind, &head, at, &mut outputs);
        let is_news = outputs
            .iter()
            .any(|output| matches!(output, Output::Write { .. }));
        self.heard(&head.version, at);
        self.write(outputs, None, at);
        if is_news {
            self.stream.not_written(&head);
            let kept = self.keepable(line);
            self.push_odd(OddLineProblem::Unparsable, kept, line.len(), at);
        }
    }

    pub(super) fn event(&mut self, kind: EventType, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let Some(head) = head::head(object) else {
            return self.unreadable(line, at);
        };
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.event(kind, &head, at, &mut outputs);
        self.heard(&head.version, at);
        self.write(outputs, Some((&head, object)), at);
        Flow::On
    }

    pub(super) fn bookmark(&mut self, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let Some(mark) = head::bookmark(object) else {
            return self.unreadable(line, at);
        };
        let mut outputs = Vec::new();
        self.stream
            .bookmark(&mark.version, mark.ends_initial, at, &mut outputs);
        self.heard(&mark.version, at);
        self.write(outputs, None, at);
        Flow::On
    }

    pub(super) fn error(&mut self, object: &[u8], line: &[u8], at: Stamp) -> Flow {
        let status = head::status(object);
        let told = (
            cause_of(status.code),
            detail_of(status.code, &status.message),
        );
        if self.told.as_ref() != Some(&told) && !self.is_untold_successor() {
            self.tell(at);
            // A status has no fields for secrets; whatever else stands here might.
            let kept = if status.kind == "Status" {
                self.redactor.text(line).into_owned()
            } else {
                self.keepable(line)
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

    pub(super) fn long_line(&mut self, bytes: &[u8], at: Stamp) {
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
        let head = self.renamed(head);
        let mut outputs = Vec::new();
        self.stream.item(&head, at, &mut outputs);
        self.write(outputs, Some((&head, bytes)), at);
    }

    /// A page of a list has ended in order.
    pub(crate) fn page(&mut self, page: Page<'_>, at: Stamp) {
        let mut outputs = Vec::new();
        self.stream.page(page, at, &mut outputs);
        self.heard(page.version, at);
        self.write(outputs, None, at);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
