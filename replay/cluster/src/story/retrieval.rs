//! Owns what an attempt to fetch a release's payload is. Refuses to count by Event objects: later
//! messages share one, so that they tell too few. Versions of Events, Pods and `ClusterVersion` do not.

use super::mark::Mark;
use super::version_pod::VersionPod;

/// One attempt to fetch, verify and load a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrieval {
    /// The image; empty if nothing told it.
    pub image: String,
    /// When it began, by the operator's Event or its Pod; `None` if only its end was seen.
    pub began: Option<Mark>,
    /// Its Pod; `None` where verification failed before there was one, or it was not seen.
    pub pod: Option<VersionPod>,
    /// How it ended; `None` if that was not seen.
    pub end: Option<RetrievalEnd>,
    /// When `ClusterVersion` spoke of it, and in which words: those that hold until the next failure.
    pub told: Option<Told>,
    /// What Events said about the Pod.
    pub events: Vec<PodEvent>,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrievalEnd {
    /// When it was seen.
    pub mark: Mark,
    /// The step that failed: `RetrievePayload`, `LoadPayload`, `VerifyPayloadVersion`,
    /// `PreconditionChecks`; empty if it was loaded.
    pub failed_step: String,
    /// The operator's words.
    pub message: String,
}

/// What `ClusterVersion` said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub mark: Mark,
    /// The reason of the condition `ReleaseAccepted`.
    pub reason: String,
    /// Its message.
    pub message: String,
}

/// What an Event said about a version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodEvent {
    /// When it was received.
    pub mark: Mark,
    /// Why, as one word.
    pub reason: String,
    /// `Normal` or `Warning`.
    pub severity: String,
    /// The message.
    pub message: String,
    /// How often it had been said by then.
    pub count: u64,
}

/// All attempts of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retrievals {
    /// Those that were seen, in order.
    pub attempts: Vec<Retrieval>,
    /// How many more there were by the count of an Event, of which nothing else is known.
    pub counted_only: u64,
    /// What the operator warned of and went on: preconditions that were not met.
    pub warnings: Vec<Told>,
}

impl Retrieval {
    /// Tells whether it failed.
    pub fn has_failed(&self) -> bool {
        self.end
            .as_ref()
            .is_some_and(|end| !end.failed_step.is_empty())
    }

    /// Gives why it failed in short: what held up its Pod, else the operator's words without the errors
    /// nested in them, which hold times and differ from attempt to attempt.
    pub fn cause(&self) -> Option<(&str, &str)> {
        let end = self
            .end
            .as_ref()
            .filter(|end| !end.failed_step.is_empty())?;
        let held = self.pod.as_ref().and_then(VersionPod::held_up_by);
        Some(held.map_or_else(
            || {
                let failure = after_failure(&end.message);
                let outer = failure
                    .split_once(" // ")
                    .map_or(failure, |(outer, _)| outer);
                (end.failed_step.as_str(), outer)
            },
            |state| (state.word.as_str(), state.message.as_str()),
        ))
    }
}

/// Gives what follows `failure=` in the operator's words.
pub(super) fn after_failure(message: &str) -> &str {
    message
        .split_once(" failure=")
        .map_or(message, |(_, failure)| failure)
}

/// Gives what stands between quotes behind a name: `image="…"`.
pub(super) fn quoted<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = message.split_once(&format!("{name}=\""))?;
    after.split_once('"').map(|(value, _)| value)
}
