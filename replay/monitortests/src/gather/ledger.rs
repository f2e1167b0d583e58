//! Owns the intervals that a watcher makes, with their texts shared. Refuses to know why they are made.

use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, Words};
use kubereel_format::{RecordedAt, Seq};
use std::borrow::Cow;

/// An interval in the making: an instant, until it is told to last.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    source: &'a str,
    level: Level,
    display: Display,
    kind: &'a str,
    keys: Vec<(&'a str, &'a str)>,
    reason: Cow<'a, str>,
    cause: Cow<'a, str>,
    human: Cow<'a, str>,
    annotations: Vec<(&'a str, Cow<'a, str>)>,
    from: RecordedAt,
    to: Option<RecordedAt>,
    seq: Option<Seq>,
}

impl<'a> Draft<'a> {
    /// Begins an instant.
    pub(crate) fn new(source: &'a str, level: Level, at: RecordedAt) -> Self {
        Self {
            source,
            level,
            display: Display::Hidden,
            kind: "",
            keys: Vec::new(),
            reason: Cow::Borrowed(""),
            cause: Cow::Borrowed(""),
            human: Cow::Borrowed(""),
            annotations: Vec::new(),
            from: at,
            to: Some(at),
            seq: None,
        }
    }

    /// Says what it is about; keys without a value are left out.
    pub(crate) fn about(
        mut self,
        kind: &'a str,
        keys: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        self.kind = kind;
        self.keys = keys
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        self
    }

    /// Says which record showed it.
    pub(crate) const fn shown_by(mut self, seq: Seq) -> Self {
        self.seq = Some(seq);
        self
    }

    /// Sets the reason, and the annotation of that name.
    pub(crate) fn reason(mut self, reason: impl Into<Cow<'a, str>>) -> Self {
        self.reason = reason.into();
        let annotation = self.reason.clone();
        self.with("reason", annotation)
    }

    /// Sets the cause, and the annotation of that name.
    pub(crate) fn cause(mut self, cause: impl Into<Cow<'a, str>>) -> Self {
        self.cause = cause.into();
        let annotation = self.cause.clone();
        self.with("cause", annotation)
    }

    /// Sets the words for people.
    pub(crate) fn human(mut self, human: impl Into<Cow<'a, str>>) -> Self {
        self.human = human.into();
        self
    }

    /// Sets an annotation.
    pub(crate) fn with(mut self, name: &'a str, value: impl Into<Cow<'a, str>>) -> Self {
        self.annotations.push((name, value.into()));
        self
    }

    /// Lets timelines draw it.
    pub(crate) const fn drawn(mut self) -> Self {
        self.display = Display::Drawn;
        self
    }

    /// Lets it last until a moment, or for ever.
    pub(crate) const fn until(mut self, to: Option<RecordedAt>) -> Self {
        self.to = to;
        self
    }
}

/// The intervals made so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    words: Words,
    intervals: Vec<Interval>,
}

impl Ledger {
    /// Takes an interval.
    pub(crate) fn add(&mut self, draft: &Draft<'_>) {
        let words = &mut self.words;
        let locator = Locator {
            kind: words.kept(draft.kind),
            keys: words.pairs(draft.keys.iter().copied()),
        };
        let annotations = draft.annotations.iter();
        let message = IntervalMessage {
            reason: words.kept(&draft.reason),
            cause: words.kept(&draft.cause),
            human: words.kept(&draft.human),
            annotations: words.pairs(annotations.map(|(name, value)| (*name, value.as_ref()))),
        };
        self.intervals.push(Interval {
            level: draft.level,
            source: Source(words.kept(draft.source)),
            display: draft.display,
            locator,
            message,
            from: draft.from,
            to: draft.to,
            seq: draft.seq,
        });
    }

    /// Gives the intervals, in the order in which they were made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.intervals
    }
}
