//! What a reel does not show: the resources that were not recorded, and where the others were not seen.

use crate::verdict::CaseGap;
use kubereel_format::{NotCoveredReason, ResourceInfo};
use kubereel_history::Timeline;
use std::collections::{BTreeMap, BTreeSet};

/// The two names of Events.
const EVENTS: (&str, &str) = ("events", "events.events.k8s.io");

/// What a reel does not show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unseen {
    /// Where each recorded resource was not seen, `plural` or `plural.group`.
    pub(crate) dark: BTreeMap<String, Vec<CaseGap>>,
    /// Why each other resource of which something is known was not recorded.
    pub(crate) missing: BTreeMap<String, String>,
    /// The resources that were there and whose state was never known.
    never_listed: BTreeSet<String>,
    /// The whole time, if damage took records and not one resource is left.
    pub(crate) lost: Option<CaseGap>,
    is_imported: bool,
    /// Whether the recording tells which resources the cluster has.
    knows_all: bool,
}

impl Unseen {
    /// Reads what a reel does not show.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut unseen = Self {
            knows_all: true,
            ..Self::default()
        };
        let mut known = BTreeSet::new();
        for info in timeline.resources().iter() {
            let coverage = timeline.coverage(info.id);
            unseen.is_imported |= coverage.is_some_and(|coverage| coverage.imported().is_some());
            let dark = unseen.dark.entry(info.qualified()).or_default();
            dark.extend(dark_of(timeline, info));
            if coverage.is_some_and(|one| !one.spans().is_empty() || one.imported().is_some()) {
                known.insert(info.qualified());
            }
        }
        if unseen.dark.is_empty() && timeline.has_lost_records() {
            unseen.lost = Some(CaseGap {
                from: timeline.start(),
                to: timeline.end(),
                why: "no resource can be read: the reel is damaged, or it was recovered from a damaged one"
                    .to_owned(),
            });
        }
        // A resource that came back, or in another version, is there more than once.
        let names = unseen.dark.keys();
        unseen.never_listed = names
            .filter(|name| !known.contains(*name))
            .cloned()
            .collect();
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
        unseen.give_events_both_names();
        unseen
    }

    /// Lets Events that were recorded in one of their groups be found in the other: they are the same
    /// objects, and an import does not say so.
    fn give_events_both_names(&mut self) {
        for (name, other) in [EVENTS, (EVENTS.1, EVENTS.0)] {
            if let Some(dark) = self.dark.get(other).cloned() {
                self.dark.entry(name.to_owned()).or_insert(dark);
            }
        }
    }

    /// Returns whether the cluster has a resource, or may have it: of an import nobody knows.
    pub(crate) fn is_served(&self, resource: &str) -> bool {
        self.is_imported
            || !self.knows_all
            || self.dark.contains_key(resource)
            || self.missing.contains_key(resource)
    }

    /// Tells why a resource was never seen; `None` if it was.
    pub(crate) fn why_missing(&self, resource: &str) -> Option<String> {
        let is_never_listed = self.never_listed.contains(resource);
        if self.dark.contains_key(resource) && !is_never_listed {
            return None;
        }
        let why = match self.missing.get(resource) {
            Some(why) => why.as_str(),
            None if is_never_listed => "was never listed completely",
            None if self.is_imported => "does not occur in the imported recording",
            None => "was not recorded",
        };
        Some(format!("{resource} {why}"))
    }

    /// Returns whether another tool made the recording.
    pub(crate) const fn is_imported(&self) -> bool {
        self.is_imported
    }
}

fn dark_of(timeline: &Timeline, info: &ResourceInfo) -> impl Iterator<Item = CaseGap> {
    let name = info.qualified();
    timeline.unobserved(info.id).map(move |unseen| CaseGap {
        from: unseen.from,
        to: unseen.to,
        why: format!("{name}: {}", unseen.reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::RecordedAt;

    #[test]
    fn events_are_seen_under_both_names() {
        let dark = CaseGap {
            from: RecordedAt::default(),
            to: RecordedAt { micros: 7 },
            why: "gap".to_owned(),
        };
        for (recorded, other) in [EVENTS, (EVENTS.1, EVENTS.0)] {
            let mut unseen = Unseen::default();
            assert!(unseen.why_missing(other).is_some());
            unseen.dark.insert(recorded.to_owned(), vec![dark.clone()]);
            unseen.give_events_both_names();
            assert_eq!(unseen.why_missing(other), None);
            assert_eq!(unseen.dark.get(other), Some(&vec![dark.clone()]));
        }
        let mut none = Unseen::default();
        none.give_events_both_names();
        assert!(none.why_missing("events").is_some());
    }
}
