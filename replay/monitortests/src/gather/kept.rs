//! Owns which intervals of a run are held until somebody judges them. Refuses to drop what intervals are
//! computed from: `compute` says what that is.

use crate::compute;
use crate::interval::{Interval, source};
use crate::verdict::LookedAt;
use std::sync::Arc;

/// The intervals that are held: all, or those that somebody looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Option<Arc<[LookedAt]>>);

impl Kept {
    /// Holds what some monitortests look at, and what tells of the run as a whole.
    pub(crate) fn of(all: impl IntoIterator<Item = LookedAt>) -> Self {
        let mut kept = vec![LookedAt::those(tells_of_the_run)];
        for looked_at in all {
            match looked_at {
                LookedAt::All => return Self::default(),
                LookedAt::None => {}
                LookedAt::Those(_) => kept.push(looked_at),
            }
        }
        Self(Some(kept.into()))
    }

    /// Tells whether an interval is held.
    pub(crate) fn has(&self, interval: &Interval) -> bool {
        let kept = self.0.as_deref();
        kept.is_none_or(|kept| kept.iter().any(|looked_at| looked_at.has(interval)))
    }

    /// Tells whether the interval of an Event is held for now: what others are computed from is.
    pub(super) fn has_event(&self, event: &Interval) -> bool {
        compute::is_computed_from_event(event) || self.has(event)
    }

    /// Tells whether all are held.
    pub(super) const fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

/// Tells whether an Event says what was done with the cluster in all of the run.
fn tells_of_the_run(interval: &Interval) -> bool {
    interval.source.as_str() == source::KUBE_EVENT
        && matches!(
            interval.message.reason.as_ref(),
            "UpgradeStarted" | "UpgradeFailed"
        )
}
