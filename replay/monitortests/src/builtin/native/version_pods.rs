//! Failed retrievals of a release's payload (OTA-1321): each attempt with the states of its Pod, the
//! Events about it, and the conditions of `ClusterVersion`.
//!
//! In Rust, because an attempt is put together of Pods that are deleted, Events that are counted up and
//! a condition that keeps the last message alone.

use crate::applies::{AppliesTo, ClusterKind, RuleClass};
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::interval_needs::IntervalNeeds;
use crate::known::component_of_namespace;
use crate::verdict::{
    FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding, WrittenIn,
};
use kubereel_cluster::StatusCondition;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::timetext;
use serde_json::Value;
use std::collections::BTreeMap;

const VERSIONS: &str = "clusterversions.config.openshift.io";
const READS: [&str; 3] = ["pods", "events", VERSIONS];

struct VersionPods {
    about: MonitorTestInfo,
    attempts: RetrievalAttempts,
}

/// Returns the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let about = MonitorTestInfo {
        id: "version-pods".to_owned(),
        monitor: "version-pods".to_owned(),
        junit: "[bz-Cluster Version Operator] release payloads should be retrieved at the first attempt"
            .to_owned(),
        description: "No attempt to retrieve the payload of a release fails. Each failed attempt lists the states of its Pod, the Events about it, and the conditions of ClusterVersion.".to_owned(),
        owner: "Cluster Version Operator".to_owned(),
        origin: "OTA-1321; openshift/cluster-version-operator pkg/cvo/updatepayload.go".to_owned(),
        is_flake_only: true,
        class: RuleClass::Upgrade,
        applies_to: AppliesTo {
            cluster: ClusterKind::OpenShift,
            ..AppliesTo::default()
        },
        written_in: WrittenIn::Rust,
    };
    Box::new(VersionPods {
        about,
        attempts: RetrievalAttempts::default(),
    })
}

impl MonitorTest for VersionPods {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: READS.iter().map(ToString::to_string).collect(),
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(&mut self.attempts)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let attempts = self.attempts.take();
        let count = attempts.len();
        let findings = (1_usize..)
            .zip(&attempts)
            .filter(|(_, attempt)| attempt.is_failed())
            .map(|(nth, attempt)| self.finding(attempt, nth, count, scene.intervals.end()))
            .collect();
        let dark = scene.gaps(READS);
        vec![TestCase {
            component: component_of_namespace(NAMESPACE).map(str::to_owned),
            findings,
            dark,
            ..TestCase::named(&self.about.junit)
        }]
    }
}

impl VersionPods {
    fn finding(
        &self,
        attempt: &RetrievalAttempt,
        nth: usize,
        count: usize,
        end: RecordedAt,
    ) -> TestFinding {
        let until = attempt.to.unwrap_or(end);
        let head = if attempt.pod.is_empty() {
            format!(
                "attempt {nth} of {count} failed before there was a version Pod: {}",
                attempt.reason
            )
        } else {
            format!(
                "attempt {nth} of {count} failed: version Pod {} on {}: {}",
                attempt.pod, attempt.node, attempt.reason
            )
        };
        let mut lines = vec![head];
        if !attempt.image.is_empty() {
            lines.push(format!("image {}", attempt.image));
        }
        let steps = attempt.steps.iter();
        lines.extend(steps.map(|(at, text)| format!("{} {text}", timetext::rfc3339(*at))));
        if attempt.more > 0 {
            lines.push(format!("and {} more", attempt.more));
        }
        let told = self.told_of(attempt, until).into_iter();
        lines.extend(
            told.map(|(at, told)| {
                format!("{} ClusterVersion reported {told}", timetext::rfc3339(at))
            }),
        );
        let subject = if attempt.pod.is_empty() {
            FindingSubject::object(VERSIONS, "", "version")
        } else {
            FindingSubject::object("pods", NAMESPACE, &attempt.pod)
        };
        TestFinding {
            subject,
            severity: Severity::Flake,
            from: attempt.from,
            to: attempt.to,
            reason: attempt.reason.clone(),
            message: lines.join("\n"),
            seq: Some(attempt.seq),
        }
    }

    /// Returns the conditions of `ClusterVersion` while the attempt lasted, and those about it afterwards.
    fn told_of(&self, attempt: &RetrievalAttempt, until: RecordedAt) -> Vec<(RecordedAt, String)> {
        let accepted = &self.attempts.accepted;
        let mut told: Vec<(RecordedAt, String)> = Vec::new();
        let as_of = |list: &[(RecordedAt, String)]| {
            let place = list.partition_point(|(at, _)| *at <= until);
            place
                .checked_sub(1)
                .and_then(|place| list.get(place))
                .cloned()
        };
        told.extend(as_of(accepted));
        let of_it = accepted
            .iter()
            .filter(|(_, text)| names(text, &attempt.pod));
        for step in of_it {
            if !told.contains(step) {
                told.push(step.clone());
            }
        }
        let failing = as_of(&self.attempts.failing);
        told.extend(failing.filter(|(_, text)| !text.starts_with("Failing=False")));
        told
    }
}

/// So many steps are kept of one attempt; a Pod that lives for two minutes has about ten.
const STEPS_MOST: usize = 60;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AttemptEnd {
    /// Nothing tells.
    #[default]
    Unknown,
    /// The payload was retrieved.
    Succeeded,
    /// It was not.
    Failed,
}

/// An attempt.
#[derive(Clone, Debug, Default)]
struct RetrievalAttempt {
    /// The name of its Pod; empty if there was none.
    pod: String,
    node: String,
    image: String,
    from: RecordedAt,
    to: Option<RecordedAt>,
    seq: Seq,
    end: AttemptEnd,
    /// The last bad state, in a word: `ErrImagePull`.
    reason: String,
    /// What happened, in order.
    steps: Vec<(RecordedAt, String)>,
    /// Steps that were not kept.
    more: u64,
    /// The last state of each container and of the Pod, so that only changes are steps.
    last: BTreeMap<String, String>,
}

impl RetrievalAttempt {
    /// Adds a step.
    fn step(&mut self, at: RecordedAt, text: String) {
        if self.steps.len() < STEPS_MOST {
            self.steps.push((at, text));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds a step about something, if it is news; empty words say that nothing is wrong with it.
    fn news(&mut self, at: RecordedAt, of: &str, text: String) {
        if self.last.get(of).map_or("", String::as_str) == text {
            return;
        }
        if !text.is_empty() {
            self.step(at, format!("{of} {text}"));
        }
        self.last.insert(of.to_owned(), text);
    }

    /// Returns whether it failed: it says so, or it went badly and was given up.
    fn is_failed(&self) -> bool {
        match self.end {
            AttemptEnd::Succeeded => false,
            AttemptEnd::Failed => true,
            AttemptEnd::Unknown => !self.reason.is_empty(),
        }
    }
}

/// Reasons to wait that are not failures.
const NORMAL: [&str; 2] = ["PodInitializing", "ContainerCreating"];

/// What a container says.
struct ContainerProblem {
    /// `initcontainer cleanup`.
    who: String,
    /// What is wrong; empty if nothing is.
    text: String,
    /// The reason in a word; empty if nothing is wrong.
    reason: String,
}

/// Reads the containers of a Pod's status, those that run first in front.
fn told(status: &Value) -> Vec<ContainerProblem> {
    let lists = [
        ("initContainerStatuses", "initcontainer"),
        ("containerStatuses", "container"),
    ];
    let mut all = Vec::new();
    for (list, kind) in lists {
        let containers = status.get(list).and_then(Value::as_array);
        for container in containers.into_iter().flatten() {
            let name = text(container, "name");
            let (reason, text) = state(container);
            all.push(ContainerProblem {
                who: format!("{kind} {name}"),
                text,
                reason,
            });
        }
    }
    all
}

fn state(container: &Value) -> (String, String) {
    let state = container.get("state");
    let part = |name: &str| {
        state
            .and_then(|state| state.get(name))
            .filter(|part| part.is_object())
    };
    if let Some(waiting) = part("waiting") {
        let reason = text(waiting, "reason");
        if reason.is_empty() || NORMAL.contains(&reason) {
            return Default::default();
        }
        return (reason.to_owned(), said("is waiting", waiting));
    }
    if let Some(ended) = part("terminated") {
        let code = ended.get("exitCode").and_then(Value::as_i64).unwrap_or(0);
        if code == 0 {
            return Default::default();
        }
        let reason = match text(ended, "reason") {
            "" => "Error",
            reason => reason,
        };
        return (
            reason.to_owned(),
            said(&format!("ended with code {code}"), ended),
        );
    }
    Default::default()
}

fn said(what: &str, state: &Value) -> String {
    match text(state, "message") {
        "" => format!("{what}: {}", text(state, "reason")),
        message => format!("{what}: {}: {}", text(state, "reason"), message.trim_end()),
    }
}

/// Returns a member of a value as text; empty if there is none.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Where the operator of operators and its Pods live.
const NAMESPACE: &str = "openshift-cluster-version";
const POD_PREFIX: &str = "version-";
/// Events that tell of an attempt that failed.
const FAILED: [&str; 3] = [
    "RetrievePayloadFailed",
    "LoadPayloadFailed",
    "VerifyPayloadVersionFailed",
];

/// What is known.
#[derive(Debug, Default)]
struct RetrievalAttempts {
    /// The attempts with a Pod, by its uid.
    by_pod: BTreeMap<String, RetrievalAttempt>,
    /// Those that failed before there was a Pod.
    without_pod: Vec<RetrievalAttempt>,
    /// The states of `ReleaseAccepted`, from when on.
    accepted: Vec<(RecordedAt, String)>,
    /// The states of `Failing`, from when on.
    failing: Vec<(RecordedAt, String)>,
}

impl RetrievalAttempts {
    /// Takes all attempts, by their begin.
    fn take(&mut self) -> Vec<RetrievalAttempt> {
        let mut all: Vec<RetrievalAttempt> =
            std::mem::take(&mut self.by_pod).into_values().collect();
        all.append(&mut self.without_pod);
        all.sort_by_key(|attempt| (attempt.from, attempt.seq));
        all
    }

    fn see_pod(&mut self, seen: &Seen<'_>) {
        let name = seen.key.name.as_str();
        if !name.starts_with(POD_PREFIX) {
            return;
        }
        let empty = Value::Null;
        let spec = seen.now.get("spec").unwrap_or(&empty);
        let status = seen.now.get("status").unwrap_or(&empty);
        let attempt = self
            .by_pod
            .entry(seen.key.uid.clone())
            .or_insert_with(|| RetrievalAttempt {
                pod: name.to_owned(),
                image: image(spec),
                from: seen.at,
                seq: seen.seq,
                ..RetrievalAttempt::default()
            });
        let node = text(spec, "nodeName");
        if !node.is_empty() {
            node.clone_into(&mut attempt.node);
        }
        for container in told(status) {
            if !container.reason.is_empty() {
                attempt.reason = container.reason;
            }
            attempt.news(seen.at, &container.who, container.text);
        }
        match text(status, "phase") {
            "Succeeded" => attempt.end = AttemptEnd::Succeeded,
            "Failed" => {
                attempt.end = AttemptEnd::Failed;
                let reason = text(status, "reason");
                if !reason.is_empty() {
                    reason.clone_into(&mut attempt.reason);
                }
                let told = format!("failed: {reason}: {}", text(status, "message"));
                attempt.news(seen.at, "the Pod", told);
            }
            _ => {}
        }
        let is_over = attempt.end != AttemptEnd::Unknown || seen.action == Action::Gone;
        if is_over && attempt.to.is_none() {
            attempt.to = Some(seen.at);
        }
        if seen.action == Action::Gone {
            attempt.step(seen.at, "the Pod was deleted".to_owned());
        }
    }

    fn see_event(&mut self, seen: &Seen<'_>) {
        if seen.action == Action::Gone {
            return;
        }
        let about = seen.now.get("involvedObject").unwrap_or(&Value::Null);
        let (reason, message) = (text(seen.now, "reason"), text(seen.now, "message"));
        match text(about, "kind") {
            "Pod" => {
                let name = text(about, "name");
                let known = self.by_pod.values_mut().find(|attempt| attempt.pod == name);
                if let Some(attempt) = known
                    && text(seen.now, "type") == "Warning"
                {
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                }
            }
            "ClusterVersion" if FAILED.contains(&reason) => {
                let named = self
                    .by_pod
                    .values_mut()
                    .find(|attempt| names(message, &attempt.pod));
                if let Some(attempt) = named {
                    attempt.end = AttemptEnd::Failed;
                    attempt.to.get_or_insert(seen.at);
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                } else {
                    let mut attempt = RetrievalAttempt {
                        from: seen.at,
                        to: Some(seen.at),
                        seq: seen.seq,
                        end: AttemptEnd::Failed,
                        reason: reason.to_owned(),
                        ..RetrievalAttempt::default()
                    };
                    attempt.step(seen.at, format!("Event {reason}: {message}"));
                    self.without_pod.push(attempt);
                }
            }
            _ => {}
        }
    }

    fn see_version(&mut self, seen: &Seen<'_>) {
        for condition in StatusCondition::all(seen.now) {
            let list = match condition.kind {
                "ReleaseAccepted" => &mut self.accepted,
                "Failing" => &mut self.failing,
                _ => continue,
            };
            let state = format!("{}={}", condition.kind, condition.status);
            let text = match condition.message {
                "" => state,
                message => format!("{state} ({}): {message}", condition.reason),
            };
            if list.last().is_none_or(|(_, last)| *last != text) {
                list.push((seen.at, text));
            }
        }
    }
}

/// Returns whether a message is about a Pod: its name stands there as a word.
fn names(message: &str, pod: &str) -> bool {
    !pod.is_empty() && message.split([' ', '"', ',', ';']).any(|word| word == pod)
}

fn image(spec: &Value) -> String {
    let first = ["initContainers", "containers"]
        .iter()
        .find_map(|list| spec.get(*list)?.as_array()?.first());
    first
        .map_or("", |container| text(container, "image"))
        .to_owned()
}

impl Watcher for RetrievalAttempts {
    fn interests(&self) -> Vec<Interest> {
        let containers = |list: &str| {
            [
                format!("status.{list}.name"),
                format!("status.{list}.state"),
            ]
        };
        let mut of_pods: Vec<String> = [
            "spec.nodeName",
            "spec.initContainers.image",
            "spec.containers.image",
        ]
        .iter()
        .chain(&["status.phase", "status.reason", "status.message"])
        .map(ToString::to_string)
        .collect();
        of_pods.extend(containers("initContainerStatuses"));
        of_pods.extend(containers("containerStatuses"));
        let of_events = [
            "involvedObject.kind",
            "involvedObject.name",
            "reason",
            "message",
            "count",
            "type",
        ];
        vec![
            Interest::new("", "pods", of_pods.iter().map(String::as_str)),
            Interest::new("", "events", of_events).without_ends(),
            Interest::new(
                "config.openshift.io",
                "clusterversions",
                ["status.conditions"],
            ),
        ]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        match seen.resource.plural.as_str() {
            "clusterversions" => self.see_version(seen),
            _ if seen.key.namespace != NAMESPACE => {}
            "pods" => self.see_pod(seen),
            _ => self.see_event(seen),
        }
    }
}
