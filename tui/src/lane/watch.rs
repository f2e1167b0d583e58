//! Owns how lanes grow while a reel is read. Refuses to keep what does not change a state: memory
//! follows the changes, not the events.

use super::line::{Group, Spell};
use super::read::{Told, told};
use super::state::LaneState;
use crate::subject::NamedObject;
use kubereel_history::harmless;
use kubereel_monitortests::{Action, Interest, Seen, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A lane's place: its group, its object, its condition.
type Place = (Group, String, String, Option<&'static str>);

/// A lane in the making.
pub(super) struct Growing {
    pub(super) subject: NamedObject,
    pub(super) spells: Vec<Spell>,
}

/// Watches what has a lane.
#[derive(Default)]
pub(super) struct LaneWatcher {
    pub(super) lanes: BTreeMap<Place, Growing>,
    words: BTreeSet<Arc<str>>,
}

const CONDITIONS: &str = "status.conditions";
const WATCHED: [(Group, &str, &str, &[&str]); 5] = [
    (
        Group::Version,
        "config.openshift.io",
        "clusterversions",
        &[CONDITIONS],
    ),
    (
        Group::Operators,
        "config.openshift.io",
        "clusteroperators",
        &[CONDITIONS],
    ),
    (
        Group::Pools,
        "machineconfiguration.openshift.io",
        "machineconfigpools",
        &[CONDITIONS],
    ),
    (
        Group::Nodes,
        "",
        "nodes",
        &[CONDITIONS, "spec.unschedulable"],
    ),
    (
        Group::Pods,
        "",
        "pods",
        &[
            CONDITIONS,
            "metadata.deletionTimestamp",
            "status.phase",
            "status.reason",
            "status.containerStatuses.ready",
            "status.containerStatuses.state.waiting.reason",
            "status.initContainerStatuses.state.waiting.reason",
        ],
    ),
];

impl LaneWatcher {
    fn word(&mut self, word: &str) -> Arc<str> {
        let word = harmless(word);
        if let Some(known) = self.words.get(word.as_ref()) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(word.as_ref());
        self.words.insert(Arc::clone(&new));
        new
    }

    fn take(&mut self, group: Group, seen: &Seen<'_>, told: &Told) {
        let word = self.word(&told.word);
        let key = (
            group,
            seen.key.namespace.clone(),
            seen.key.name.clone(),
            told.condition,
        );
        let lane = self.lanes.entry(key).or_insert_with(|| Growing {
            subject: NamedObject {
                resource: seen.key.resource,
                namespace: seen.key.namespace.clone(),
                name: seen.key.name.clone(),
            },
            spells: Vec::new(),
        });
        let last = lane.spells.last();
        if last.is_some_and(|last| last.state == told.state && last.word == word) {
            return;
        }
        // A clock that stepped back must not put later states before earlier ones.
        let from = last.map_or(seen.at, |last| last.from.max(seen.at));
        lane.spells.push(Spell {
            from,
            seq: seen.seq,
            state: told.state,
            word,
        });
    }
}

impl Watcher for LaneWatcher {
    fn interests(&self) -> Vec<Interest> {
        let watched = WATCHED.iter();
        watched
            .map(|(_, api, plural, paths)| Interest::new(api, plural, paths.iter().copied()))
            .collect()
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        let resource = seen.resource;
        let is_it = |api: &str, plural: &str| resource.group == api && resource.plural == plural;
        let watched = WATCHED
            .iter()
            .find(|(_, api, plural, _)| is_it(api, plural));
        let Some((group, ..)) = watched else {
            return;
        };
        if seen.action != Action::Gone {
            for told in told(*group, seen.now) {
                self.take(*group, seen, &told);
            }
            return;
        }
        let key = (*group, seen.key.namespace.clone(), seen.key.name.clone());
        let last = (key.0, key.1.clone(), key.2.clone(), Some("\u{10ffff}"));
        let first = (key.0, key.1, key.2, None);
        let conditions: Vec<Option<&'static str>> = self
            .lanes
            .range(first..last)
            .map(|(place, _)| place.3)
            .collect();
        for condition in conditions {
            let gone = Told {
                condition,
                state: LaneState::Absent,
                word: "deleted".to_owned(),
            };
            self.take(*group, seen, &gone);
        }
    }
}
