//! Which intervals of a run are kept until they are judged.

use crate::interval::{Interval, source};
use crate::interval_needs::IntervalNeeds;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The intervals that are held: all, or those that somebody looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Option<Arc<Looks>>);

/// Who looks at what, so that few are asked about one interval.
#[derive(Debug, Default)]
struct Looks {
    of_any_source: Vec<IntervalNeeds>,
    of_source: BTreeMap<String, Vec<IntervalNeeds>>,
}

impl Kept {
    /// Holds what some monitortests look at, and what tells of the run as a whole.
    pub(crate) fn of(all: impl IntoIterator<Item = IntervalNeeds>) -> Self {
        let events = [source::KUBE_EVENT.to_owned()];
        let mut looks = Looks::default();
        looks.add(IntervalNeeds::of_sources(events, tells_of_the_run));
        for looked_at in all {
            if matches!(looked_at, IntervalNeeds::All) {
                return Self::default();
            }
            looks.add(looked_at);
        }
        Self(Some(Arc::new(looks)))
    }

    /// Tells whether an interval is held.
    pub(crate) fn has(&self, interval: &Interval) -> bool {
        let looks = self.0.as_deref();
        looks.is_none_or(|looks| looks.has(interval))
    }

    /// Tells whether all are held.
    pub(super) const fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

impl Looks {
    fn add(&mut self, looked_at: IntervalNeeds) {
        match &looked_at {
            IntervalNeeds::None => {}
            IntervalNeeds::All | IntervalNeeds::Those(_) => self.of_any_source.push(looked_at),
            IntervalNeeds::OfSources(sources, _) => {
                for source in sources.iter() {
                    let looks = self.of_source.entry(source.clone()).or_default();
                    looks.push(looked_at.clone());
                }
            }
        }
    }

    fn has(&self, interval: &Interval) -> bool {
        let of_source = self.of_source.get(interval.source.as_str());
        let mut looks = of_source.into_iter().flatten().chain(&self.of_any_source);
        looks.any(|looked_at| looked_at.has(interval))
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
