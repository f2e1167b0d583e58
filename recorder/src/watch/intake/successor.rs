//! Owns what is told of a connection that is to take the place of the one under way: that it came
//! about, that it took over, how it ended. Refuses a word about one that was refused: nothing is
//! missing for want of it.

use super::{Intake, Open};
use crate::watch::version::Version;
use kubereel_format::{ConnectionId, EndCause, ListMethod, Note, Stamp};

impl Intake {
    /// A successor's request was answered with success.
    pub(crate) fn successor_connected(
        &mut self,
        id: ConnectionId,
        from: &Version,
        asked_secs: u32,
        at: Stamp,
    ) {
        let note = Note::Connected {
            connection: id,
            resource: self.target.info.id,
            from_rv: Some(from.to_string()),
            method: ListMethod::Watch,
        };
        self.successor = Some(Open {
            id,
            untold: Some((at, note)),
            last_version: None,
        });
        self.stream.successor_answered(from, asked_secs, at.elapsed);
    }

    /// Takes something as from the successor.
    pub(crate) fn on_successor<T>(&mut self, take: impl FnOnce(&mut Self) -> T) -> T {
        self.switch();
        let taken = take(self);
        self.switch();
        taken
    }

    const fn switch(&mut self) {
        std::mem::swap(&mut self.open, &mut self.successor);
        self.is_on_successor = !self.is_on_successor;
        self.stream.switch();
    }

    /// Tells whether what is at hand comes from a successor that has brought nothing yet.
    pub(super) fn is_untold_successor(&self) -> bool {
        let open = self.open.as_ref();
        self.is_on_successor && open.is_some_and(|open| open.untold.is_some())
    }

    /// The connection under way has ended so, or is let go: its successor goes on in its place.
    pub(crate) fn take_over(&mut self, cause: EndCause, detail: &str, at: Stamp) {
        // It is told first: at no time was there none.
        self.on_successor(|intake| intake.tell(at));
        self.stream.take_over(cause);
        self.disconnect(cause, detail, at);
        self.open = self.successor.take();
    }

    /// The successor was refused, broke off, or is let go. The connection under way goes on.
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
        if open.untold.is_none() {
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
}
