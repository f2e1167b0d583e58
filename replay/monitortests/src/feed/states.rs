//! The watcher that hands versions to the derivation of state.

use super::watcher::{Action, Interest, WatchedEvent, Watcher};
use kubereel_cluster::{RecordMark, StateKind, StateTrack, StateTracker, StateVersion};
use std::collections::BTreeSet;

/// Derives the states of some kinds of objects during a pass.
#[derive(Debug, Default)]
pub struct StateWatcher {
    kinds: Vec<StateKind>,
    /// The groups and plurals of the other resources, whose objects tell by conditions how they are.
    others: BTreeSet<(String, String)>,
    tracker: StateTracker,
}

impl StateWatcher {
    /// Begins to watch objects of some kinds.
    pub fn new(kinds: impl IntoIterator<Item = StateKind>) -> Self {
        Self {
            kinds: kinds.into_iter().collect(),
            others: BTreeSet::new(),
            tracker: StateTracker::default(),
        }
    }

    /// Watches objects of another resource, too.
    pub fn watch(&mut self, group: &str, plural: &str) {
        self.others.insert((group.to_owned(), plural.to_owned()));
    }

    /// Returns the states, by kind, namespace, name and aspect.
    pub fn into_tracks(self) -> impl Iterator<Item = StateTrack> {
        self.tracker.into_tracks()
    }
}

impl Watcher for StateWatcher {
    fn interests(&self) -> Vec<Interest> {
        let known = self.kinds.iter().filter_map(|kind| {
            let (group, plural) = kind.resource()?;
            Some(Interest::new(group, plural, kind.paths()))
        });
        let others = self
            .others
            .iter()
            .map(|(group, plural)| Interest::new(group, plural, StateKind::Other.paths()));
        known.chain(others).collect()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let kind = StateKind::of(&seen.resource.group, &seen.resource.plural);
        let kind = kind.unwrap_or(StateKind::Other);
        let version = StateVersion {
            kind,
            resource: seen.key.resource,
            object: seen.object,
            namespace: seen.key.namespace,
            name: seen.key.name,
            mark: RecordMark {
                seq: seen.seq,
                at: seen.at,
            },
            evidence: seen.evidence,
        };
        if seen.action == Action::Gone {
            self.tracker.end(&version);
        } else {
            self.tracker.take(&version, seen.now);
        }
    }
}
