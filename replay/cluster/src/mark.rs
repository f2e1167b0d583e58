//! Observed moments and spans: each refers to a record, at which the state can be queried.

use kubereel_format::{RecordedAt, Seq};

/// A moment at which a change was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordMark {
    /// The record of the change.
    pub seq: Seq,
    /// When that was received.
    pub at: RecordedAt,
}

/// A time from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkSpan {
    /// The begin.
    pub from: RecordMark,
    /// The end; `None` if there was none up to the queried moment.
    pub to: Option<RecordMark>,
}

/// A reason with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedMessage {
    /// When it was first observed.
    pub mark: RecordMark,
    /// The reason, one word.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// A state of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedCondition {
    /// When it was first observed.
    pub mark: RecordMark,
    /// The status.
    pub status: String,
    /// The reason; may be empty.
    pub reason: String,
    /// The message.
    pub message: String,
}

impl MarkSpan {
    /// Makes the span between two records: a clock that was set back does not end it before it began.
    pub(crate) fn between(from: RecordMark, to: RecordMark) -> Self {
        let at = to.at.max(from.at);
        Self {
            from,
            to: Some(RecordMark { at, ..to }),
        }
    }

    /// Returns its length in microseconds; an open span lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        let to = self.to.map_or(now, |to| to.at);
        micros_between(self.from.at, to)
    }
}

/// Returns the distance in microseconds; zero if a clock stepped back.
pub(crate) fn micros_between(from: RecordedAt, to: RecordedAt) -> u64 {
    u64::try_from(to.micros_since(from)).unwrap_or_default()
}

/// Collects the times in which a condition holds.
#[derive(Debug, Default)]
pub(super) struct MarkSpans {
    done: Vec<MarkSpan>,
    open: Option<RecordMark>,
}

impl MarkSpans {
    /// Notes whether it holds from a moment on.
    pub(super) fn note(&mut self, mark: RecordMark, holds: bool) {
        match (holds, self.open) {
            (true, None) => self.open = Some(mark),
            (false, Some(from)) => {
                self.open = None;
                self.done.push(MarkSpan::between(from, mark));
            }
            _ => {}
        }
    }

    pub(super) fn all(mut self) -> Vec<MarkSpan> {
        let open = self.open.map(|from| MarkSpan { from, to: None });
        self.done.extend(open);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_ends_no_span_before_it_began() {
        let mark = |seq, micros| RecordMark {
            seq: Seq(seq),
            at: RecordedAt::from_micros(micros),
        };
        let mut spans = MarkSpans::default();
        spans.note(mark(1, 9), true);
        spans.note(mark(2, 5), false);
        let expected = MarkSpan {
            from: mark(1, 9),
            to: Some(mark(2, 9)),
        };
        assert_eq!(spans.all(), [expected]);
    }
}
