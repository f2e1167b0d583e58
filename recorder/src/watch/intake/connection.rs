//! Owns what is told of connections: that one came about, how it ended, and a long row of the same
//! failure only once. Refuses lines.

use super::{Intake, Open};
use crate::watch::state::Refusal;
use crate::watch::version::Version;
use kubereel_format::{
    ConnectionId, EndCause, ListMethod, NotCoveredReason, Note, ResourceInfo, Stamp,
};

impl Intake {
    /// A request was answered with success.
    pub(crate) fn connected(
        &mut self,
        id: ConnectionId,
        from_rv: Option<String>,
        method: ListMethod,
        asked_secs: u32,
        at: Stamp,
    ) {
        if self.stream.is_reviewing() {
            self.held.get_or_insert_default();
        }
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
        let mut outputs = Vec::new();
        self.stream.answered(at.elapsed, asked_secs, &mut outputs);
        self.write(outputs, None, at);
    }

    /// The next page of a list was answered with success.
    pub(crate) fn page_answered(&mut self, at: Stamp) {
        let mut outputs = Vec::new();
        self.stream.answered(at.elapsed, 0, &mut outputs);
        self.write(outputs, None, at);
    }

    /// Gives the number of the connection under way.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.open.as_ref().map(|open| open.id)
    }

    /// The connection under way ended, not by the server's status.
    pub(crate) fn ended(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        if self.stream.wants_list() && cause != EndCause::Stopped {
            let words = if detail.is_empty() {
                "the list ended before it was complete"
            } else {
                detail
            };
            self.list_failures.failed(&self.target, words, at);
        }
        self.stream.ended(cause, at.elapsed);
        self.disconnect(cause, detail, at);
    }

    /// The server refused, before or in the middle of a stream.
    pub(crate) fn refused(&mut self, refusal: Refusal<'_>, id: ConnectionId, at: Stamp) {
        if self.stream.wants_list() {
            let words = format!("{} {}", refusal.code, refusal.message);
            self.list_failures.failed(&self.target, words.trim(), at);
        }
        let cause = cause_of(refusal.code);
        let told = (cause, detail_of(refusal.code, refusal.message));
        let is_news = self.told.as_ref() != Some(&told);
        if is_news {
            self.fail(id, cause, refusal.message, at);
        } else {
            self.open = None;
        }
        self.told = Some(told);
        let mut outputs = Vec::new();
        self.stream.refused(refusal, at.elapsed, &mut outputs);
        self.write(outputs, None, at);
    }

    /// No connection came about.
    pub(crate) fn unreachable(&mut self, id: ConnectionId, words: &str, at: Stamp) {
        if self.stream.wants_list() {
            self.list_failures.failed(&self.target, words, at);
        }
        let told = (EndCause::Unreachable, words.to_owned());
        // A resource that could never be asked for is no part of what is complete.
        self.announce(at);
        if self.told.as_ref() != Some(&told) {
            self.fail(id, EndCause::Unreachable, words, at);
        }
        self.told = Some(told);
        self.stream.unreachable(at.elapsed);
    }

    /// The resource is no longer served, as of a version of the cluster if that can be told.
    pub(crate) fn gone(&mut self, version: Option<&Version>, id: ConnectionId, at: Stamp) {
        if let Some(version) = version {
            let mut outputs = Vec::new();
            self.stream.gone(version, at, &mut outputs);
            self.open = Some(Open {
                id,
                untold: None,
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

    pub(super) fn disconnect(&mut self, cause: EndCause, detail: &str, at: Stamp) {
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
    pub(super) fn heard(&mut self, version: &str, at: Stamp) {
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

    pub(super) fn tell(&mut self, at: Stamp) {
        let Some((stamp, note)) = self.open.as_mut().and_then(|open| open.untold.take()) else {
            return;
        };
        self.announce(at);
        self.note(stamp, note);
    }

    /// Says once that the resource is to be recorded: before it is asked for, so that one whose list
    /// never comes is known to be missing.
    pub(crate) fn announce(&mut self, at: Stamp) {
        if !self.is_announced {
            self.is_announced = true;
            self.note(at, Note::Resource(self.target.info.clone()));
        }
    }

    /// The recorder stops. A resource of which nothing was told yet was never listed.
    pub(crate) fn stopped(&mut self, at: Stamp) {
        if self.told.is_none() {
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

/// Gives the cause of an end by a status code.
pub(crate) const fn cause_of(code: u16) -> EndCause {
    match code {
        410 => EndCause::Expired,
        code => EndCause::Status(code),
    }
}

/// Gives what tells one refusal from another. Servers word a lost history differently each time.
pub(super) fn detail_of(code: u16, message: &str) -> String {
    if code == 410 {
        String::new()
    } else {
        message.to_owned()
    }
}
