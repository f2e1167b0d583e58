//! The keys of a `fieldsV1` that contain values of the object: `v:"…"` is an item of a set, `k:{…}` are the fields that
//! identify an item of a list.

use crate::path::PathStep;
use std::ops::Range;

/// The `fieldsV1` of an object along a walk over it.
#[derive(Debug, Default)]
pub(super) struct OwnedKeys {
    /// The begin of the steps of the one that the walk is in.
    from: Option<usize>,
    /// The places of keys that contain values.
    keys: Vec<Range<usize>>,
}

impl OwnedKeys {
    /// Begins one whose steps begin at a place. Returns the state for [`Self::leave`].
    pub(super) const fn enter(&mut self, from: usize) -> Option<usize> {
        self.from.replace(from)
    }

    /// Returns to the state before [`Self::enter`].
    pub(super) const fn leave(&mut self, before: Option<usize>) {
        self.from = before;
    }

    /// Returns whether the walk is in one.
    pub(super) const fn is_inside(&self) -> bool {
        self.from.is_some()
    }

    /// Notes a key that contains a value.
    pub(super) fn note(&mut self, key: Range<usize>) {
        self.keys.push(key);
    }

    /// Returns the places of the keys that contain values.
    pub(super) fn take_keys(&mut self) -> Vec<Range<usize>> {
        std::mem::take(&mut self.keys)
    }

    /// Returns the steps that may be shown: keys within one contain values.
    pub(super) fn shown<'s, 'w>(&self, steps: &'s [PathStep<'w>]) -> &'s [PathStep<'w>] {
        steps
            .get(..self.from.unwrap_or(steps.len()))
            .unwrap_or(steps)
    }

    /// Returns the steps in the object to the item that a key at these steps identifies.
    pub(super) fn steps_in_object<'w>(&self, steps: &[PathStep<'w>]) -> Vec<PathStep<'w>> {
        let inside = steps.get(self.from.unwrap_or(0)..).unwrap_or_default();
        let steps = inside.iter().map(|step| match step {
            PathStep::Key(key) => match key.strip_prefix("f:") {
                Some(field) => PathStep::Key(field.to_owned().into()),
                None => PathStep::Item(0),
            },
            PathStep::Item(item) => PathStep::Item(*item),
        });
        steps.chain([PathStep::Item(0)]).collect()
    }
}

/// Returns the value in a key, which begins behind its first two bytes.
pub(super) fn value_in(key: &[u8]) -> Option<&[u8]> {
    key.strip_prefix(b"k:").or_else(|| key.strip_prefix(b"v:"))
}

/// Returns the name of the list whose item a key at these steps identifies.
pub(super) fn list_of<'s>(steps: &'s [PathStep<'_>]) -> &'s str {
    let list = steps.iter().rev().find_map(|step| match step {
        PathStep::Key(key) => key.strip_prefix("f:"),
        PathStep::Item(_) => None,
    });
    list.unwrap_or_default()
}
