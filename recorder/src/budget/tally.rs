//! Owns who wrote how much lately. Refuses names that are left out already: its caller does.

use super::out::{Name, is_truth};
use std::collections::BTreeMap;

/// The bytes that each resource added to the reel, the older ones counting less.
#[derive(Debug, Default)]
pub(super) struct Tally {
    bytes: BTreeMap<Name, u64>,
}

impl Tally {
    /// A resource added so many.
    pub(super) fn add(&mut self, name: &Name, bytes: u64) {
        match self.bytes.get_mut(name) {
            Some(sum) => *sum = sum.saturating_add(bytes),
            None => drop(self.bytes.insert(name.clone(), bytes)),
        }
    }

    /// Takes out whoever added most, cluster-level truth aside, and forgets half of the rest: what
    /// grows now counts for more than what was large once.
    pub(super) fn take_largest(&mut self) -> Option<(Name, u64)> {
        let rivals = self.bytes.iter();
        let rivals = rivals.filter(|((group, plural), _)| !is_truth(group, plural));
        // Of equals the first by name.
        let name = rivals
            .max_by(|(a, x), (b, y)| x.cmp(y).then(b.cmp(a)))
            .map(|(name, _)| name.clone())?;
        let bytes = self.bytes.remove(&name)?;
        self.bytes.values_mut().for_each(|bytes| *bytes /= 2);
        Some((name, bytes))
    }

    /// Forgets one.
    pub(super) fn forget(&mut self, name: &Name) {
        self.bytes.remove(name);
    }
}
