//! What an interval says: reason, cause, words for people, annotations. It does not interpret them.

use super::pairs::Pairs;
use std::fmt;
use std::sync::Arc;

/// What an interval says.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntervalMessage {
    /// A word for programs; may be empty.
    pub reason: Arc<str>,
    /// Why, in a word; may be empty.
    pub cause: Arc<str>,
    /// Words for people.
    pub human: Arc<str>,
    /// More, by name; upstream repeats reason and cause here.
    pub annotations: Pairs,
}

impl IntervalMessage {
    /// Makes a message of words for people alone.
    pub fn new(human: &str) -> Self {
        Self {
            human: Arc::from(human),
            ..Self::default()
        }
    }

    /// Sets the reason, and the annotation of that name.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.reason = Arc::from(reason);
        self.with("reason", reason)
    }

    /// Sets the cause, and the annotation of that name.
    #[must_use]
    pub fn cause(mut self, cause: &str) -> Self {
        self.cause = Arc::from(cause);
        self.with("cause", cause)
    }

    /// Sets an annotation.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.annotations.insert(Arc::from(name), Arc::from(value));
        self
    }

    /// Returns an annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.get(name).map(AsRef::as_ref)
    }
}

impl fmt::Display for IntervalMessage {
    /// Writes the annotations as `key/value` words, sorted, and then the words for people.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (name, value) in self.annotations.iter() {
            write!(out, "{gap}{name}/{value}")?;
            gap = " ";
        }
        if !self.human.is_empty() {
            write!(out, "{gap}{}", self.human)?;
        }
        Ok(())
    }
}
