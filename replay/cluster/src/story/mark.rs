//! Owns moments and spans that were seen: each is a record, at which the state can be asked for.

use kubereel_format::{RecordedAt, Seq};

/// A moment at which something was seen to have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The record that showed it.
    pub seq: Seq,
    /// When that was received.
    pub at: RecordedAt,
}

/// A time from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasting {
    /// The first moment.
    pub from: Mark,
    /// The moment that ended it; `None` if none did by the moment asked about.
    pub to: Option<Mark>,
}

impl Lasting {
    /// Gives its length in microseconds; one that is open lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        let to = self.to.map_or(now, |to| to.at);
        micros_between(self.from.at, to)
    }
}

/// Gives the distance in microseconds; none if a clock stepped back.
pub(crate) fn micros_between(from: RecordedAt, to: RecordedAt) -> u64 {
    u64::try_from(to.micros_since(from)).unwrap_or_default()
}

/// Collects the times in which something holds.
#[derive(Debug, Default)]
pub(super) struct Spans {
    done: Vec<Lasting>,
    open: Option<Mark>,
}

impl Spans {
    /// Notes whether it holds from a moment on.
    pub(super) fn note(&mut self, mark: Mark, holds: bool) {
        match (holds, self.open) {
            (true, None) => self.open = Some(mark),
            (false, Some(from)) => {
                self.open = None;
                self.done.push(Lasting {
                    from,
                    to: Some(mark),
                });
            }
            _ => {}
        }
    }

    pub(super) fn all(mut self) -> Vec<Lasting> {
        let open = self.open.map(|from| Lasting { from, to: None });
        self.done.extend(open);
        self.done
    }
}
