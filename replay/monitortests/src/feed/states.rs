//! The watcher that hands versions to the derivation of state.

use super::watcher::{Action, Interest, Seen, Watcher};
use kubereel_cluster::{RecordMark, StateKind, StateTrack, StateTracker, StateVersion};

/// Derives the states of some kinds of objects during a pass.
#[derive(Debug, Default)]
pub struct StateWatcher {
    kinds: Vec<StateKind>,
    tracker: StateTracker,
}

impl StateWatcher {
    /// Begins to watch objects of some kinds.
    pub fn new(kinds: impl IntoIterator<Item = StateKind>) -> Self {
        Self {
            kinds: kinds.into_iter().collect(),
            tracker: StateTracker::default(),
        }
    }

    /// Gives the states, by kind, namespace, name and aspect.
    pub fn into_tracks(self) -> impl Iterator<Item = StateTrack> {
        self.tracker.into_tracks()
    }
}

impl Watcher for StateWatcher {
    fn interests(&self) -> Vec<Interest> {
        let interest = |kind: &StateKind| {
            let (group, plural) = kind.resource();
            Interest::new(group, plural, kind.paths().iter().copied())
        };
        self.kinds.iter().map(interest).collect()
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        let Some(kind) = StateKind::of(&seen.resource.group, &seen.resource.plural) else {
            return;
        };
        let version = StateVersion {
            kind,
            resource: seen.key.resource,
            object: seen.object,
            namespace: &seen.key.namespace,
            name: &seen.key.name,
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
