//! Owns a fault that is made on purpose: events that are lost after they came, and nothing says so. It
//! shows whether those who check recordings would notice. Refuses to be reached by any flag.

use crate::entry::Entry;
use kubereel_format::Evidence;
use std::num::NonZeroU64;

/// Loses every event of a number, counted among those that came live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededLoss {
    every: NonZeroU64,
    seen: u64,
}

impl SeededLoss {
    /// Begins to count.
    pub(crate) const fn new(every: NonZeroU64) -> Self {
        Self { every, seen: 0 }
    }

    /// Tells whether an entry is one to lose.
    pub(super) fn takes(&mut self, entry: &Entry) -> bool {
        let Entry::Event(event) = entry else {
            return false;
        };
        if event.evidence != Evidence::Live {
            return false;
        }
        self.seen = self.seen.saturating_add(1);
        self.seen.is_multiple_of(self.every.get())
    }
}
