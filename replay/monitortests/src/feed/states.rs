//! The watcher that hands versions to the derivation of state.

use super::watcher::{Action, Interest, WatchedEvent, Watcher};
use kubereel_cluster::{StateKind, StateTrack, StateTracker, StateVersion};
use kubereel_format::ResourceInfo;

/// Derives the states of some kinds of objects during a pass.
#[derive(Debug, Default)]
pub struct StateWatcher {
    interests: Vec<Interest>,
    tracker: StateTracker,
}

impl StateWatcher {
    /// Begins to watch objects of some kinds.
    pub fn new(kinds: impl IntoIterator<Item = StateKind>) -> Self {
        let interests = kinds.into_iter().filter_map(|kind| {
            let (group, plural) = kind.resource()?;
            Some(Interest::new(group, plural, kind.paths()))
        });
        Self {
            interests: interests.collect(),
            tracker: StateTracker::default(),
        }
    }

    /// Watches objects of another resource, too.
    pub fn watch(&mut self, resource: &ResourceInfo) {
        let paths = StateKind::of_resource(resource).paths();
        let interest = Interest::new(&resource.group, &resource.plural, paths);
        self.interests.push(interest);
    }

    /// Returns the states, by kind, namespace, name and aspect.
    pub fn into_tracks(self) -> impl Iterator<Item = StateTrack> {
        self.tracker.into_tracks()
    }
}

impl Watcher for StateWatcher {
    fn interests(&self) -> Vec<Interest> {
        self.interests.clone()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let kind = StateKind::of_resource(seen.resource);
        let version = StateVersion {
            kind,
            resource: seen.key.resource,
            object: seen.object,
            namespace: seen.key.namespace,
            name: seen.key.name,
            mark: seen.mark(),
            evidence: seen.evidence,
        };
        if seen.action == Action::Gone {
            self.tracker.end(&version);
        } else {
            self.tracker.take(&version, seen.now);
        }
    }
}
