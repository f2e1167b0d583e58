//! Owns what a version Pod went through: the Pod that fetches a release's payload. The operator deletes
//! it at the next attempt, so that only a recording still has it.

use super::super::read::{Pod, Seen};
use super::mark::Mark;
use crate::moment::Cut;
use crate::timeline::QueryError;
use crate::timeline::Timeline;

pub(super) const NAMESPACE: &str = "openshift-cluster-version";
const LABEL: (&str, &str) = ("k8s-app", "retrieve-openshift-release");
const NAME: &str = "version-";

/// A version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionPod {
    /// Its name.
    pub name: String,
    /// The release image that it runs; empty if it does not say.
    pub image: String,
    /// When it was first seen.
    pub created: Mark,
    /// Its states in order, each only where it differs from the one before.
    pub states: Vec<PodState>,
    /// When its phase became Succeeded or Failed.
    pub over: Option<Mark>,
    /// When its deletion was seen.
    pub deleted: Option<Mark>,
}

/// A state of a version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodState {
    /// When it was first seen.
    pub mark: Mark,
    /// As kubectl's STATUS column puts it: `Init:ErrImagePull`.
    pub word: String,
    /// The message behind it; may be empty.
    pub message: String,
}

impl VersionPod {
    fn of(name: &str, versions: &[Seen<Pod>]) -> Option<Self> {
        let first = versions.first()?;
        let mut pod = Self {
            name: name.to_owned(),
            image: String::new(),
            created: first.mark,
            states: Vec::new(),
            over: None,
            deleted: None,
        };
        for seen in versions {
            if let Some(container) = seen.body.spec.init_containers.first() {
                pod.image.clone_from(&container.image);
            }
            if seen.is_gone {
                pod.deleted = Some(seen.mark);
                continue;
            }
            if seen.body.is_over() {
                pod.over.get_or_insert(seen.mark);
            }
            let (word, message) = seen.body.state();
            let last = pod.states.last();
            if !last.is_some_and(|last| last.word == word && last.message == message) {
                pod.states.push(PodState {
                    mark: seen.mark,
                    word,
                    message,
                });
            }
        }
        Some(pod)
    }

    /// Gives what held it up last, before its end: a state with a message of its own.
    pub fn held_up_by(&self) -> Option<&PodState> {
        let is_cause = |state: &&PodState| {
            let reason = state.word.strip_prefix("Init:");
            reason.is_some_and(|reason| !reason.starts_with(|first: char| first.is_ascii_digit()))
        };
        let causes = || self.states.iter().rev().filter(is_cause);
        // The pull's own error says more than the wait after it.
        causes()
            .find(|state| state.word != "Init:ImagePullBackOff")
            .or_else(|| causes().next())
    }
}

impl Timeline {
    /// Reads the version Pods, in the order of first sight.
    pub(super) fn version_pods(&self, cut: Cut) -> Result<Vec<VersionPod>, QueryError> {
        let tracks = self.tracks(("", "pods"), cut, |key| {
            key.namespace == NAMESPACE && key.name.starts_with(NAME)
        });
        let mut pods = Vec::new();
        for ((_, name), seqs) in &tracks {
            let versions = self.read_seqs::<Pod>(seqs)?;
            let is_fetching = |seen: &Seen<Pod>| {
                let label = seen.body.metadata.labels.get(LABEL.0);
                label.is_some_and(|value| value == LABEL.1)
            };
            if versions.iter().any(is_fetching) {
                pods.extend(VersionPod::of(name, &versions));
            }
        }
        pods.sort_by_key(|pod| pod.created.seq);
        Ok(pods)
    }
}
