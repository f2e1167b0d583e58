//! Owns what a predicate over objects is asked of: one change, of the object or of one that it reads.
//! Refuses to ask.

use super::plan::Asked;
use crate::feed::Action;
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;

/// What is asked of at a moment.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) at: RecordedAt,
    pub(super) seq: Seq,
    pub(super) action: Action,
    pub(super) now: &'a Value,
    pub(super) before: Option<&'a Value>,
    pub(super) former: Option<&'a Value>,
    /// Whether the steps since the version before may not have been seen.
    pub(super) is_after_hole: bool,
    /// The related objects that changed, by number.
    pub(super) changed: &'a [usize],
}

impl Moment<'_> {
    /// Tells whether a predicate's value may have changed.
    pub(super) fn may_turn(&self, asked: &Asked) -> bool {
        let is_read = |number: &usize| asked.related.contains(number);
        self.changed.iter().any(is_read) || self.is_change(asked)
    }

    /// Tells whether the object itself changed for a predicate.
    pub(super) fn is_change(&self, asked: &Asked) -> bool {
        match (self.action, self.before) {
            _ if !self.changed.is_empty() => false,
            (Action::Changed, Some(before)) => asked.fields.differ(before, self.now),
            _ => true,
        }
    }
}
