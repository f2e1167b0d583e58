//! Which states are open and since when: opening twice keeps the first. It does not handle what
//! they mean.

use kubereel_format::{RecordedAt, Seq};
use std::collections::BTreeMap;

/// When a state began, and the record that showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Since {
    pub(super) from: RecordedAt,
    pub(super) seq: Option<Seq>,
}

/// States that are open.
#[derive(Debug)]
pub(super) struct States<K> {
    open: BTreeMap<K, Since>,
}

impl<K: Ord> States<K> {
    /// Begins without any.
    pub(super) const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
        }
    }

    /// Opens a state, unless it is open.
    pub(super) fn open(&mut self, state: K, since: Since) {
        self.open.entry(state).or_insert(since);
    }

    /// Closes a state, if it is open.
    pub(super) fn close(&mut self, state: &K) -> Option<Since> {
        self.open.remove(state)
    }

    /// Returns what is open, in order.
    pub(super) fn still_open(self) -> impl Iterator<Item = (K, Since)> {
        self.open.into_iter()
    }
}
