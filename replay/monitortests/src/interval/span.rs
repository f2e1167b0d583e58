//! One interval. It does not handle durations of what has not ended: such an interval has no end.

use super::locator::Locator;
use super::message::IntervalMessage;
use kubereel_format::{RecordedAt, Seq, worded};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

worded! {
/// How bad an interval is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It is as it should be.
    #[default]
    Info = "Info",
    /// It may be wrong.
    Warning = "Warning",
    /// It is wrong.
    Error = "Error",
}
}

/// Who made an interval, in the monitor's words, such as `ClusterOperatorMonitor`; any word is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(pub Arc<str>);

impl Source {
    /// Makes a source of a word.
    pub fn new(word: &str) -> Self {
        Self(Arc::from(word))
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Whether a timeline draws an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Display {
    /// It is there for rules only.
    #[default]
    Hidden,
    /// It is drawn.
    Drawn,
}

/// The annotation of what was not observed to its end.
const UNOBSERVED_END: (&str, &str) = ("end", "not observed");

/// A span of time and what held in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// How bad it is.
    pub level: Level,
    /// Who made it.
    pub source: Source,
    /// Whether a timeline draws it.
    pub display: Display,
    /// What it is about.
    pub locator: Locator,
    /// What it says.
    pub message: IntervalMessage,
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; the same moment for an instant, `None` if it did not end.
    pub to: Option<RecordedAt>,
    /// The record that showed its begin, where one did.
    pub seq: Option<Seq>,
}

impl Interval {
    /// Returns whether it is a moment and no span.
    pub fn is_instant(&self) -> bool {
        self.to == Some(self.from)
    }

    /// Ends it at the moment from which on it is not known whether it lasts.
    pub(crate) fn end_unobserved(&mut self, at: RecordedAt) {
        const COMPLETED: &str = "never completed";
        self.to = Some(at.max(self.from));
        let (name, value) = UNOBSERVED_END;
        let message = &mut self.message;
        message
            .annotations
            .insert(Arc::from(name), Arc::from(value));
        if message.human.contains(COMPLETED) {
            message.human = Arc::from(message.human.replace(COMPLETED, "end not observed"));
        }
    }

    /// Returns whether its end was not observed: it is open, or its object is no longer known.
    pub(crate) fn is_without_end(&self) -> bool {
        let (name, value) = UNOBSERVED_END;
        self.to.is_none() || self.message.annotation(name) == Some(value)
    }

    /// Returns its end, or `end` if it did not end.
    pub fn to_or(&self, end: RecordedAt) -> RecordedAt {
        self.to.unwrap_or(end)
    }

    /// Returns its length in microseconds, as if it ended at `end` if it did not.
    pub fn micros(&self, end: RecordedAt) -> i64 {
        self.to_or(end).micros_since(self.from)
    }

    /// Returns the order in which rules see intervals: from, to, reason, words for people, locator.
    pub fn order(&self, other: &Self) -> Ordering {
        let end = |interval: &Self| interval.to.unwrap_or(RecordedAt { micros: i64::MAX });
        self.from
            .cmp(&other.from)
            .then_with(|| end(self).cmp(&end(other)))
            .then_with(|| self.message.reason.cmp(&other.message.reason))
            .then_with(|| self.message.human.cmp(&other.message.human))
            .then_with(|| self.locator.cmp_text(&other.locator))
            // What is left differs in what upstream does not sort by; the order is one all the same.
            .then_with(|| self.source.cmp(&other.source))
            .then_with(|| self.level.cmp(&other.level))
            .then_with(|| self.seq.cmp(&other.seq))
            .then_with(|| self.message.cmp(&other.message))
    }

    /// Returns the order in which states are derived: by time, and at one time by record.
    ///
    /// Two versions of an object may share a timestamp, and always do in recordings imported with
    /// whole seconds. [`Interval::order`] would then put the later version first whenever its
    /// reason sorts first, and the state derived would be that of the earlier version.
    pub(crate) fn state_order(&self, other: &Self) -> Ordering {
        self.from
            .cmp(&other.from)
            .then_with(|| self.seq.cmp(&other.seq))
            .then_with(|| self.order(other))
    }
}
