//! Owns one attempt to retrieve a payload: its steps and its end. Refuses to find them.

use kubereel_format::{RecordedAt, Seq};
use std::collections::BTreeMap;

/// So many steps are kept of one attempt; a Pod that lives for two minutes has about ten.
const STEPS_MOST: usize = 60;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing tells.
    #[default]
    Unknown,
    /// The payload was retrieved.
    Succeeded,
    /// It was not.
    Failed,
}

/// An attempt.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    /// The name of its Pod; empty if there was none.
    pub(super) pod: String,
    pub(super) node: String,
    pub(super) image: String,
    pub(super) from: RecordedAt,
    pub(super) to: Option<RecordedAt>,
    pub(super) seq: Seq,
    pub(super) end: End,
    /// The last bad state, in a word: `ErrImagePull`.
    pub(super) reason: String,
    /// What happened, in order.
    pub(super) steps: Vec<(RecordedAt, String)>,
    /// Steps that were not kept.
    pub(super) more: u64,
    /// What was said last of each container and of the Pod, so that only news are steps.
    pub(super) last: BTreeMap<String, String>,
}

impl Attempt {
    /// Adds a step.
    pub(super) fn step(&mut self, at: RecordedAt, text: String) {
        if self.steps.len() < STEPS_MOST {
            self.steps.push((at, text));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds a step about something, if it is news; empty words say that nothing is wrong with it.
    pub(super) fn news(&mut self, at: RecordedAt, of: &str, text: String) {
        if self.last.get(of).map_or("", String::as_str) == text {
            return;
        }
        if !text.is_empty() {
            self.step(at, format!("{of} {text}"));
        }
        self.last.insert(of.to_owned(), text);
    }

    /// Tells whether it failed: it says so, or it went badly and was given up.
    pub(super) fn is_failed(&self) -> bool {
        match self.end {
            End::Succeeded => false,
            End::Failed => true,
            End::Unknown => !self.reason.is_empty(),
        }
    }
}
