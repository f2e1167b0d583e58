//! The one reading of status conditions. A field that is absent or of another type reads as empty: an
//! object that lacks a field says nothing about it.

use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use serde_json::Value;

/// A condition of an object's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCondition<'a> {
    /// Its type.
    pub kind: &'a str,
    /// `True`, `False` or `Unknown`; empty if it has none.
    pub status: &'a str,
    /// Its reason; may be empty.
    pub reason: &'a str,
    /// Its message; may be empty.
    pub message: &'a str,
    last_transition: &'a str,
}

impl<'a> StatusCondition<'a> {
    /// Reads an item of `status.conditions`.
    pub fn of(item: &'a Value) -> Self {
        let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
        Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            last_transition: text("lastTransitionTime"),
        }
    }

    /// Gives the conditions of an object, in its order.
    pub fn all(object: &'a Value) -> impl Iterator<Item = Self> {
        Self::items(object).iter().map(Self::of)
    }

    /// Gives the items of an object's `status.conditions`.
    pub(crate) fn items(object: &'a Value) -> &'a [Value] {
        let list = object.get("status").and_then(|it| it.get("conditions"));
        list.and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    }

    /// Finds the condition of a type in a list of them; the first if there are several.
    pub fn find(items: &'a [Value], kind: &str) -> Option<Self> {
        items.iter().map(Self::of).find(|one| one.kind == kind)
    }

    /// Tells whether it has a status.
    pub fn is(&self, status: &str) -> bool {
        self.status == status
    }

    /// Gives when its status changed last, on its writer's clock.
    pub fn since(&self) -> Option<RecordedAt> {
        timetext::parsed(self.last_transition)
    }
}
