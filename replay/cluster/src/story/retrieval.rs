//! The attempts to retrieve the payload of a release, distinguished by the Events of the
//! cluster-version operator, its Pods and the conditions of `ClusterVersion`, as far as they were
//! recorded.
//!
//! Attempts are not counted by Event objects: later attempts reuse an object, so there are too few.
//! Versions of Events, Pods and `ClusterVersion` are counted instead. A start of the operator
//! itself is not an attempt: it loads the release that it runs.

use crate::condition::StatusCondition;
use crate::history::{ClusterHistory, ParsedVersion};
use crate::mark::{MarkedMessage, RecordMark};
use crate::objects::VersionObject;
use kubereel_history::field::{is_being_deleted, text};
use kubereel_history::{Cut, LoggedEvent, PodStatus, QueryError};
use serde_json::Value;
use std::collections::BTreeMap;

/// One attempt to retrieve, verify and load a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrieval {
    /// The first record that shows it.
    pub first: RecordMark,
    /// The image; empty if it is not known.
    pub image: String,
    /// When it began, by the operator's Event or its Pod; `None` if only its end was observed.
    pub began: Option<RecordMark>,
    /// Its Pod; `None` if verification failed before there was one, or if it was not observed.
    pub pod: Option<VersionPod>,
    /// How it ended; `None` if that was not observed.
    pub end: Option<RetrievalEnd>,
    /// When `ClusterVersion` reported it, with the message that stays until the next failure.
    pub reported: Option<MarkedMessage>,
    /// The Events about the Pod.
    pub events: Vec<PodEvent>,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrievalEnd {
    /// When it was observed.
    pub mark: RecordMark,
    /// The step that failed: `RetrievePayload`, `LoadPayload`, `VerifyPayloadVersion`,
    /// `PreconditionChecks`; empty if it was loaded.
    pub failed_step: String,
    /// The operator's message.
    pub message: String,
}

/// An Event about a version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodEvent {
    /// When it was received.
    pub mark: RecordMark,
    /// The reason, one word.
    pub reason: String,
    /// `Normal` or `Warning`.
    pub severity: String,
    /// The message.
    pub message: String,
    /// The number of occurrences so far.
    pub count: u64,
}

/// All attempts of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retrievals {
    /// The observed attempts, in order.
    pub attempts: Vec<Retrieval>,
    /// How many more there were according to the count of an Event, with the record of the count.
    counted_only: Vec<(RecordMark, u64)>,
    /// Warnings of the operator despite which it continued: preconditions that were not met.
    pub warnings: Vec<MarkedMessage>,
}

impl Retrievals {
    /// Returns how many more attempts there were according to the count of an Event.
    pub fn counted_only(&self) -> u64 {
        self.counted_only.iter().map(|(_, unseen)| unseen).sum()
    }

    /// Keeps the attempts of a time: an attempt may have begun before it, or end after it.
    #[must_use]
    pub fn within(mut self, from: RecordMark, to: Option<RecordMark>) -> Self {
        let is_between = |first: RecordMark, last: RecordMark| {
            last.seq >= from.seq && to.is_none_or(|to| first.seq <= to.seq)
        };
        self.attempts
            .retain(|one| is_between(one.first, one.last()));
        self.counted_only
            .retain(|(mark, _)| is_between(*mark, *mark));
        self.warnings.retain(|one| is_between(one.mark, one.mark));
        self
    }
}

impl Retrieval {
    /// The namespace of the Pods that fetch payloads.
    pub const NAMESPACE: &'static str = NAMESPACE;

    /// Returns its last record.
    fn last(&self) -> RecordMark {
        let end = self.end.as_ref().map(|end| end.mark);
        let reported = self.reported.as_ref().map(|report| report.mark);
        let later = [end, reported].into_iter().flatten();
        later.fold(self.first, RecordMark::max)
    }

    /// Returns whether it failed.
    pub fn has_failed(&self) -> bool {
        self.end
            .as_ref()
            .is_some_and(|end| !end.failed_step.is_empty())
    }

    /// Returns the reason of the failure in short: what held up its Pod, else the operator's
    /// message without nested errors, which contain times and differ from attempt to attempt.
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

/// Returns the text after `failure=` in the operator's message.
pub(super) fn after_failure(message: &str) -> &str {
    message
        .split_once(" failure=")
        .map_or(message, |(_, failure)| failure)
}

/// Returns the quoted text after a name: `image="…"`.
pub(super) fn quoted<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = message.split_once(&format!("{name}=\""))?;
    after.split_once('"').map(|(value, _)| value)
}

/// The evidence of an attempt.
enum RetrievalSign<'a> {
    /// The Event of its begin, and how many begins its count has beyond the observed ones.
    Begins {
        image: &'a str,
        unseen: u64,
    },
    Pod(&'a VersionPod),
    Loading {
        image: &'a str,
    },
    Loaded {
        image: &'a str,
    },
    Fails {
        image: &'a str,
        step: &'a str,
        message: &'a str,
    },
    Reported {
        reason: &'a str,
        message: &'a str,
    },
    Warned {
        reason: &'a str,
        message: &'a str,
    },
    /// The update was accepted.
    Accepted,
}

impl ClusterHistory<'_> {
    /// Collects the attempts to retrieve a payload, up to a moment.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn retrievals(self, cut: Cut) -> Result<Retrievals, QueryError> {
        let versions = self.cluster_versions(cut)?;
        let pods = self.version_pods(cut)?;
        // From the beginning: the count of an Event is compared with the one before.
        let events = self.logged(NAMESPACE, None, None, cut)?;
        let accepted = super::update::updates(&versions).into_iter();
        let accepted = accepted.filter_map(|update| update.accepted);
        let mut signs: Vec<(RecordMark, RetrievalSign<'_>)> = pods
            .iter()
            .map(|pod| (pod.created, RetrievalSign::Pod(pod)))
            .chain(of_events(&versions, &events))
            .chain(of_versions(&versions))
            .chain(accepted.map(|mark| (mark, RetrievalSign::Accepted)))
            .collect();
        signs.sort_by_key(|(mark, _)| mark.seq);
        let mut tale = RetrievalBuilder::default();
        for (mark, sign) in signs {
            tale.take(mark, &sign);
        }
        tale.close();
        let mut all = tale.all;
        for attempt in &mut all.attempts {
            if let Some(pod) = &attempt.pod {
                attempt.events = about(&pod.name, &events);
            }
        }
        Ok(all)
    }
}

fn about(pod: &str, events: &[LoggedEvent]) -> Vec<PodEvent> {
    events
        .iter()
        .filter(|logged| {
            logged.content.regarding.kind == "Pod" && logged.content.regarding.name == pod
        })
        .map(|logged| PodEvent {
            mark: mark_of(logged),
            reason: logged.content.reason.clone(),
            severity: logged.content.severity.clone(),
            message: logged.content.message.clone(),
            count: logged.content.count,
        })
        .collect()
}

pub(super) const fn mark_of(logged: &LoggedEvent) -> RecordMark {
    RecordMark {
        seq: logged.seq,
        at: logged.at,
    }
}

/// Returns the image that the cluster runs or moves to at a record; the first known one if none was
/// known yet, as in an installation.
fn current_image(versions: &[ParsedVersion<VersionObject>], mark: RecordMark) -> &str {
    let count = versions.partition_point(|seen| seen.mark.seq < mark.seq);
    let (before, after) = versions.split_at(count);
    let images = before.iter().rev().chain(after);
    let mut images = images.map(|seen| seen.body.status.desired.image.as_str());
    images.find(|image| !image.is_empty()).unwrap_or_default()
}

fn of_events<'a>(
    versions: &'a [ParsedVersion<VersionObject>],
    events: &'a [LoggedEvent],
) -> Vec<(RecordMark, RetrievalSign<'a>)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut signs = Vec::new();
    for logged in events {
        let said = &logged.content;
        if said.regarding.kind != "ClusterVersion" {
            continue;
        }
        let mark = mark_of(logged);
        let image = quoted(&said.message, "image").unwrap_or_default();
        let before = counts.insert(&logged.name, said.count);
        // A starting operator loads the payload that it runs already.
        if !image.is_empty() && image == current_image(versions, mark) {
            continue;
        }
        let unseen = said.count.saturating_sub(before.unwrap_or(0) + 1);
        let message = said.message.as_str();
        let sign = match said.reason.as_str() {
            // The operator reuses the reason to warn that the release of a forced update cannot be
            // verified: the warning belongs to the current attempt.
            "RetrievePayload" if said.severity == "Warning" => RetrievalSign::Warned {
                reason: &said.reason,
                message,
            },
            "RetrievePayload" => RetrievalSign::Begins { image, unseen },
            "LoadPayload" => RetrievalSign::Loading { image },
            "PayloadLoaded" => RetrievalSign::Loaded { image },
            "PreconditionWarn" => RetrievalSign::Warned {
                reason: &said.reason,
                message,
            },
            "PreconditionBlock" => RetrievalSign::Fails {
                image,
                step: "PreconditionChecks",
                message,
            },
            other => match other.strip_suffix("Failed") {
                Some(step @ ("RetrievePayload" | "LoadPayload" | "VerifyPayloadVersion")) => {
                    RetrievalSign::Fails {
                        image,
                        step,
                        message,
                    }
                }
                _ => continue,
            },
        };
        signs.push((mark, sign));
    }
    signs
}

/// Returns the moments at which the condition reports another failure.
fn of_versions(versions: &[ParsedVersion<VersionObject>]) -> Vec<(RecordMark, RetrievalSign<'_>)> {
    let mut last = "";
    let mut signs = Vec::new();
    for seen in versions.iter().filter(|seen| !seen.is_gone) {
        let accepted = StatusCondition::find(&seen.body.status.conditions, "ReleaseAccepted");
        let failed = accepted.filter(|condition| condition.is("False"));
        let message = failed.map_or("", |condition| condition.message);
        if message != last
            && let Some(condition) = failed
        {
            let reason = condition.reason;
            signs.push((seen.mark, RetrievalSign::Reported { reason, message }));
        }
        last = message;
    }
    signs
}

#[derive(Default)]
struct RetrievalBuilder {
    all: Retrievals,
    open: Option<Retrieval>,
}

impl RetrievalBuilder {
    fn take(&mut self, mark: RecordMark, sign: &RetrievalSign<'_>) {
        match *sign {
            RetrievalSign::Begins { image, unseen } => {
                if unseen > 0 {
                    self.all.counted_only.push((mark, unseen));
                }
                // The Pod may arrive before the Event: each resource has a watch of its own.
                let is_known = self.open.as_ref().is_some_and(|open| {
                    open.end.is_none() && open.reported.is_none() && open.began_by_pod_at(mark)
                });
                if is_known {
                    if let Some(open) = &mut self.open {
                        open.began = Some(mark);
                    }
                    return;
                }
                self.close();
                self.open = Some(begin(mark, image, Some(mark)));
            }
            RetrievalSign::Pod(pod) => {
                let is_free = |open: &Retrieval| open.pod.is_none() && open.end.is_none();
                if !self.open.as_ref().is_some_and(is_free) {
                    self.close();
                    self.open = Some(begin(mark, &pod.image, Some(mark)));
                }
                if let Some(open) = &mut self.open {
                    if open.image.is_empty() {
                        open.image.clone_from(&pod.image);
                    }
                    open.pod = Some(pod.clone());
                }
            }
            RetrievalSign::Loading { image } => {
                self.open.get_or_insert_with(|| begin(mark, image, None));
            }
            RetrievalSign::Loaded { image } => self.end(image, mark, "", ""),
            RetrievalSign::Fails {
                image,
                step,
                message,
            } => self.end(image, mark, step, message),
            RetrievalSign::Reported { reason, message } => self.report(mark, reason, message),
            RetrievalSign::Warned { reason, message } => self.all.warnings.push(MarkedMessage {
                mark,
                reason: reason.to_owned(),
                message: message.to_owned(),
            }),
            RetrievalSign::Accepted => {
                if let Some(open) = &mut self.open {
                    open.end.get_or_insert(loaded(mark));
                }
            }
        }
    }

    fn close(&mut self) {
        let Some(mut attempt) = self.open.take() else {
            return;
        };
        // If its Event is missing, the condition has its end, else the Pod.
        let report = attempt.reported.as_ref().map(|report| RetrievalEnd {
            mark: report.mark,
            failed_step: report.reason.clone(),
            message: report.message.clone(),
        });
        let pod = attempt.pod.as_ref();
        let by_pod = || pod.and_then(VersionPod::failure);
        attempt.end = attempt.end.or(report).or_else(by_pod);
        self.all.attempts.push(attempt);
    }

    fn end(&mut self, image: &str, mark: RecordMark, step: &str, message: &str) {
        if self.open.as_ref().is_none_or(|open| open.end.is_some()) {
            self.close();
            self.open = Some(begin(mark, image, None));
        }
        if let Some(open) = &mut self.open {
            open.end = Some(RetrievalEnd {
                mark,
                failed_step: step.to_owned(),
                message: message.to_owned(),
            });
        }
    }

    /// Finds the attempt of a condition: the one whose Pod it names, else the last that it has not
    /// reported yet.
    fn report(&mut self, mark: RecordMark, reason: &str, message: &str) {
        let report = MarkedMessage {
            mark,
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        let failure = after_failure(message);
        let is_named = |attempt: &&mut Retrieval| {
            let pod = attempt.pod.as_ref();
            pod.is_some_and(|pod| names(failure, &pod.name))
        };
        let mut attempts = self.all.attempts.iter_mut().chain(&mut self.open).rev();
        if let Some(attempt) = attempts.find(is_named) {
            attempt.reported.get_or_insert(report);
            return;
        }
        let image = quoted(message, "image").unwrap_or_default();
        if let Some(open) = &mut self.open
            && open.reported.is_none()
            && (image.is_empty() || open.image.is_empty() || open.image == image)
        {
            open.reported = Some(report);
            return;
        }
        // Without Events, the condition is the only evidence of a failure.
        self.close();
        let mut attempt = begin(mark, image, None);
        attempt.end = Some(RetrievalEnd {
            mark,
            failed_step: reason.to_owned(),
            message: message.to_owned(),
        });
        attempt.reported = Some(report);
        self.open = Some(attempt);
    }
}

/// Returns whether a text names a Pod: `pod version--abcde failed`.
fn names(text: &str, pod: &str) -> bool {
    let mut words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    words.any(|word| word == pod)
}

fn begin(first: RecordMark, image: &str, began: Option<RecordMark>) -> Retrieval {
    Retrieval {
        first,
        image: image.to_owned(),
        began,
        pod: None,
        end: None,
        reported: None,
        events: Vec::new(),
    }
}

const fn loaded(mark: RecordMark) -> RetrievalEnd {
    RetrievalEnd {
        mark,
        failed_step: String::new(),
        message: String::new(),
    }
}

impl Retrieval {
    /// Returns whether only its Pod showed its begin, just before.
    fn began_by_pod_at(&self, mark: RecordMark) -> bool {
        const DELIVERY_MICROS: i64 = 1_000_000;
        self.pod.as_ref().is_some_and(|pod| {
            self.began == Some(pod.created)
                && mark.at.micros_since(pod.created.at) < DELIVERY_MICROS
        })
    }
}

pub(super) const NAMESPACE: &str = "openshift-cluster-version";
const LABEL: (&str, &str) = ("/metadata/labels/k8s-app", "retrieve-openshift-release");
const NAME: &str = "version-";

/// A version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionPod {
    /// Its name.
    pub name: String,
    /// The release image that it runs; empty if it is not known.
    pub image: String,
    /// The node that it ran on; empty if it is not known.
    pub node: String,
    /// When it was first observed.
    pub created: RecordMark,
    /// Its states in order, each only if it differs from the one before.
    pub states: Vec<PodState>,
    /// When its phase became Succeeded or Failed.
    pub over: Option<RecordMark>,
    /// Whether that was Failed.
    pub has_failed: bool,
    /// When its deletion was observed.
    pub deleted: Option<RecordMark>,
}

/// A state of a version Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodState {
    /// When it was first observed.
    pub mark: RecordMark,
    /// As in kubectl's STATUS column: `Init:ErrImagePull`.
    pub word: String,
    /// Its message; once the Pod is over, the reason and the message of its end. May be empty.
    pub message: String,
    /// Whether an init container does not get on.
    is_held_up: bool,
}

impl PodState {
    /// Returns whether only the deletion of the Pod shows in it, not why the Pod was given up.
    fn is_of_deletion(&self) -> bool {
        self.word == "Terminating" || self.word.ends_with("ContainerStatusUnknown")
    }
}

impl VersionPod {
    fn of(name: &str, versions: &[ParsedVersion<Value>]) -> Option<Self> {
        let first = versions.first()?;
        let mut pod = Self {
            name: name.to_owned(),
            image: String::new(),
            node: String::new(),
            created: first.mark,
            states: Vec::new(),
            over: None,
            has_failed: false,
            deleted: None,
        };
        for seen in versions {
            let fields = [
                (&mut pod.image, "/spec/initContainers/0/image"),
                (&mut pod.node, "/spec/nodeName"),
            ];
            for (known, pointer) in fields {
                match text(&seen.body, pointer) {
                    "" => {}
                    now => now.clone_into(known),
                }
            }
            if seen.is_gone {
                pod.deleted = Some(seen.mark);
                continue;
            }
            let status = PodStatus::of_value(&seen.body);
            let (word, mut message) = (status.reason, status.message.to_owned());
            // What its deletion does to a container is not what held it up.
            let mut is_held_up = !is_being_deleted(&seen.body)
                && word
                    .strip_prefix("Init:")
                    .is_some_and(|why| !why.starts_with(|first: char| first.is_ascii_digit()));
            let phase = text(&seen.body, "/status/phase");
            if matches!(phase, "Failed" | "Succeeded") {
                pod.over.get_or_insert(seen.mark);
                pod.has_failed = phase == "Failed";
                let reason = text(&seen.body, "/status/reason");
                if !reason.is_empty() && reason != word {
                    is_held_up = false;
                    message = format!("{reason}: {}", text(&seen.body, "/status/message"));
                }
            }
            let last = pod.states.last();
            if !last.is_some_and(|last| last.word == word && last.message == message) {
                pod.states.push(PodState {
                    mark: seen.mark,
                    word,
                    message,
                    is_held_up,
                });
            }
        }
        Some(pod)
    }

    /// Returns the last problem before its end: a state with a message of its own.
    pub fn held_up_by(&self) -> Option<&PodState> {
        let causes = || self.states.iter().rev().filter(|state| state.is_held_up);
        // The error of the pull is more specific than the back-off after it.
        causes()
            .find(|state| state.word != "Init:ImagePullBackOff")
            .or_else(|| causes().next())
    }

    /// Returns how it ended if it failed, or was deleted with a problem.
    fn failure(&self) -> Option<RetrievalEnd> {
        let last = self.states.iter().rfind(|one| !one.is_of_deletion())?;
        let is_given_up = self.over.is_none() && last.is_held_up;
        let mark = if self.has_failed {
            self.over
        } else {
            self.deleted.filter(|_| is_given_up)
        };
        Some(RetrievalEnd {
            mark: mark?,
            failed_step: "RetrievePayload".to_owned(),
            message: last.message.clone(),
        })
    }
}

impl ClusterHistory<'_> {
    /// Reads the version Pods, in the order of their first records.
    fn version_pods(self, cut: Cut) -> Result<Vec<VersionPod>, QueryError> {
        let tracks = self.tracks(("", "pods"), cut, |key| {
            key.namespace == NAMESPACE && key.name.starts_with(NAME)
        });
        let mut pods = Vec::new();
        self.read_tracks::<Value>(&tracks, |(_, name), versions| {
            let versions = versions?;
            let is_fetching = |seen: &ParsedVersion<Value>| text(&seen.body, LABEL.0) == LABEL.1;
            if versions.iter().any(is_fetching) {
                pods.extend(VersionPod::of(name, &versions));
            }
            Ok(())
        })?;
        pods.sort_by_key(|pod| pod.created.seq);
        Ok(pods)
    }
}
