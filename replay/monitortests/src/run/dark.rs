//! Owns what of each resource was not seen in a reel, and which resources it does not hold at all.
//! Refuses a verdict on it.

use crate::verdict::Dark;
use kubereel_format::{NotCoveredReason, ResourceInfo};
use kubereel_replay::Timeline;
use std::collections::BTreeMap;

/// What a reel does not show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unseen {
    /// Where each recorded resource was not seen, `plural` or `plural.group`.
    pub(crate) dark: BTreeMap<String, Vec<Dark>>,
    /// Why each other resource of which something is known was not recorded.
    missing: BTreeMap<String, String>,
    is_imported: bool,
}

impl Unseen {
    /// Reads what a reel does not show.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut unseen = Self::default();
        for info in timeline.resources().iter() {
            let coverage = timeline.coverage(info.id);
            unseen.is_imported |= coverage.is_some_and(|coverage| coverage.imported().is_some());
            let dark = unseen.dark.entry(info.qualified()).or_default();
            dark.extend(dark_of(timeline, info));
        }
        for excluded in timeline.resources().excluded() {
            let name = excluded.qualified();
            // Its objects are recorded under the name that discovery prefers.
            if excluded.reason == NotCoveredReason::SameStorage
                && let Some(dark) = unseen.dark.get(&excluded.detail).cloned()
            {
                unseen.dark.entry(name).or_insert(dark);
                continue;
            }
            let why = match excluded.detail.as_str() {
                "" => excluded.reason.as_str().to_owned(),
                detail => format!("{}: {detail}", excluded.reason.as_str()),
            };
            unseen
                .missing
                .insert(name, format!("was not recorded ({why})"));
        }
        for dark in unseen.dark.values_mut() {
            dark.sort();
        }
        unseen
    }

    /// Tells why a resource was never seen; `None` if it was.
    pub(crate) fn why_missing(&self, resource: &str) -> Option<String> {
        if self.dark.contains_key(resource) {
            return None;
        }
        let why = match self.missing.get(resource) {
            Some(why) => why.as_str(),
            None if self.is_imported => "does not occur in the imported recording",
            None => "was not there: the cluster had no such resource",
        };
        Some(format!("{resource} {why}"))
    }

    /// Tells whether another tool made the recording.
    pub(crate) const fn is_imported(&self) -> bool {
        self.is_imported
    }
}

fn dark_of(timeline: &Timeline, info: &ResourceInfo) -> impl Iterator<Item = Dark> {
    let name = info.qualified();
    timeline
        .unseen(info.id)
        .into_iter()
        .map(move |unseen| Dark {
            from: unseen.from,
            to: unseen.to,
            why: format!("{name}: {}", unseen.why),
        })
}
