//! Owns what a predicate saw at a moment, kept for the message of a finding. Refuses fields that no
//! expression of the rule reads.

use crate::cel::{Slots, Val};
use crate::feed::Action;
use crate::rule::place;
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// What a predicate saw.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) at: RecordedAt,
    pub(super) seq: Seq,
    pub(super) action: Action,
    pub(super) object: Value,
    pub(super) old: Option<Value>,
    pub(super) former: Option<Value>,
    /// By the numbers of the rule's related objects.
    pub(super) related: Vec<Vec<Value>>,
}

pub(super) const fn word(action: Action) -> &'static str {
    match action {
        Action::Appeared => "appeared",
        Action::Changed => "changed",
        Action::Gone => "gone",
    }
}

impl Evidence {
    /// Gives it to expressions.
    pub(super) fn slots(&self) -> Slots<'_> {
        let mut slots = Slots::default();
        slots.set(place::OBJECT, Some(Val::json(&self.object)));
        slots.set(place::OLD, self.old.as_ref().map(Val::json));
        slots.set(place::FORMER, self.former.as_ref().map(Val::json));
        let action = Val::Text(Cow::Borrowed(word(self.action)));
        slots.set(place::ACTION, Some(action));
        slots.set(place::AT, Some(Val::time(self.at)));
        for (number, objects) in self.related.iter().enumerate() {
            let list = objects.iter().map(Val::json).collect();
            slots.set(place::RELATED + number, Some(Val::List(Rc::new(list))));
        }
        slots
    }
}
