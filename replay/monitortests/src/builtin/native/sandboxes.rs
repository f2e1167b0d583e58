//! Pods whose sandbox could not be made.
//!
//! In Rust, because the meaning of a failure depends on when the Pod was deleted, on its node and on
//! roll-outs, and because the message chooses the case.
//!
//! Source: openshift/origin, `pkg/monitortests/network/legacynetworkmonitortests/networking.go` at
//! 483b9b6f.

use super::event::is_installing;
use crate::builtin::rows::info;
use crate::interval::{Interval, Intervals};
use crate::interval_needs::IntervalNeeds;
use crate::verdict::{
    JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase, TestFinding,
};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Until when after the deletion of its Pod a failure is nothing: the kubelet did not know yet.
const IGNORED_FOR_SECS: i64 = 1;
/// Until when it flakes.
const FLAKES_FOR_SECS: i64 = 5;

/// Judges whether sandboxes of Pods could be made.
struct SandboxFailures {
    about: MonitorTestInfo,
}

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    Box::new(SandboxFailures {
        about: info(
            "pod-sandboxes-are-made",
            "sig-network",
            "pkg/monitortests/network/legacynetworkmonitortests/networking.go",
            "The sandbox of each Pod is made: one case for each kind of failure.",
        ),
    })
}

impl MonitorTest for SandboxFailures {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs::seen("events")
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::those(|interval| is_failure(interval) || PodContext::reads(interval))
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let besides = PodContext::new(scene.intervals);
        let mut found: BTreeMap<&str, BTreeMap<(String, Severity), TestFinding>> = BTreeMap::new();
        let failures = scene.intervals.all().iter();
        let failures = failures.filter(|event| is_failure(event) && !is_installing(scene, event));
        for event in failures {
            let platform = scene.facts.at(event.from).platform.as_deref();
            let Some((severity, why)) = weigh(event, platform, &besides) else {
                continue;
            };
            let words = &event.message.human;
            let message = format!("{} - {why} - {words}", event.locator);
            let finding = TestFinding {
                severity,
                ..TestFinding::of(event, &event.message.reason, message)
            };
            // An Event that is told again is one finding, from its first time to its last.
            found
                .entry(kind_of(words))
                .or_default()
                .entry((format!("{} {words}", event.locator), severity))
                .and_modify(|first| first.to = event.to)
                .or_insert(finding);
        }
        let cases = KINDS.iter().map(|(kind, _)| {
            let mut findings: Vec<_> = found
                .remove(kind)
                .unwrap_or_default()
                .into_values()
                .collect();
            findings
                .sort_by(|one, other| (one.from, &one.subject).cmp(&(other.from, &other.subject)));
            TestCase {
                group: BTreeMap::from([("kind".to_owned(), (*kind).to_owned())]),
                findings,
                ..TestCase::named(self.about.junit.replace("{kind}", kind))
            }
        });
        cases.collect()
    }
}

fn is_failure(event: &Interval) -> bool {
    &*event.message.reason == "FailedCreatePodSandBox"
}

/// Tells how bad a failure is, and why; `None` if it is nothing.
fn weigh(
    event: &Interval,
    platform: Option<&str>,
    besides: &PodContext<'_>,
) -> Option<(Severity, String)> {
    if besides.node_was_not_ready(event) {
        return None;
    }
    match known(event, platform) {
        Some(KnownFailure::Ignored) => return None,
        Some(KnownFailure::Flake(why)) => return Some((Severity::Flake, why.to_owned())),
        None => {}
    }
    let Some(deleted) = besides.deleted(event) else {
        return Some(if besides.is_in_rollout(event) {
            (Severity::Flake, "never deleted, network rollout".to_owned())
        } else {
            (Severity::Fail, "never deleted".to_owned())
        });
    };
    after_deletion(event.from, deleted)
}

fn after_deletion(event: RecordedAt, deleted: RecordedAt) -> Option<(Severity, String)> {
    let micros = event.micros_since(deleted);
    if micros < IGNORED_FOR_SECS * MICROS_PER_SECOND {
        return None;
    }
    let severity = if micros < FLAKES_FOR_SECS * MICROS_PER_SECOND {
        Severity::Flake
    } else {
        Severity::Fail
    };
    let seconds = micros / MICROS_PER_SECOND;
    let hundredths = micros % MICROS_PER_SECOND / 10_000;
    Some((
        severity,
        format!("{seconds}.{hundredths:02} seconds after deletion"),
    ))
}

/// What happened besides.
#[derive(Debug, Default)]
struct PodContext<'a> {
    /// When each Pod, by namespace and name, was deleted first.
    deleted: BTreeMap<(&'a str, &'a str), RecordedAt>,
    /// When each node was not ready.
    not_ready: BTreeMap<&'a str, MergedSpans>,
    /// When the network or the nodes' configuration was rolled out.
    rollouts: MergedSpans,
}

impl<'a> PodContext<'a> {
    /// Finds it in the intervals of a run.
    fn new(intervals: &'a Intervals) -> Self {
        let mut besides = Self::default();
        for interval in intervals.all() {
            besides.take(interval, intervals.end());
        }
        besides
    }

    fn take(&mut self, interval: &'a Interval, end: RecordedAt) {
        let locator = &interval.locator;
        let span = (interval.from, interval.to_or(end));
        if let Some(pod) = deleted_pod(interval) {
            let namespace = locator.get("namespace").unwrap_or_default();
            self.deleted
                .entry((namespace, pod))
                .or_insert(interval.from);
        }
        if let Some(node) = not_ready_node(interval) {
            self.not_ready.entry(node).or_default().add(span);
        }
        if is_rollout(interval) {
            self.rollouts.add(span);
        }
    }

    /// Tells whether an interval is one that it is found in.
    fn reads(interval: &Interval) -> bool {
        deleted_pod(interval).is_some()
            || not_ready_node(interval).is_some()
            || is_rollout(interval)
    }

    /// Gives when the Pod of an Event was deleted, if it was.
    fn deleted(&self, event: &Interval) -> Option<RecordedAt> {
        let pod = event.locator.get("pod")?;
        let namespace = event.locator.get("namespace").unwrap_or_default();
        self.deleted.get(&(namespace, pod)).copied()
    }

    /// Tells whether the node of an Event, or some node if it names none, was not ready then.
    fn node_was_not_ready(&self, event: &Interval) -> bool {
        match event.locator.get("node") {
            Some(node) => {
                let spans = self.not_ready.get(node);
                spans.is_some_and(|spans| spans.hold(event))
            }
            None => self.not_ready.values().any(|spans| spans.hold(event)),
        }
    }

    /// Tells whether the network or the nodes' configuration was rolled out then.
    fn is_in_rollout(&self, event: &Interval) -> bool {
        self.rollouts.hold(event)
    }
}

/// Gives the Pod that was deleted, if that is what an interval says.
fn deleted_pod(interval: &Interval) -> Option<&str> {
    let pod = interval.locator.get("pod")?;
    (&*interval.message.reason == "Deleted").then_some(pod)
}

/// Gives the node that was not ready, if that is what an interval says.
fn not_ready_node(interval: &Interval) -> Option<&str> {
    let is_of_node = matches!(interval.source.as_str(), "NodeState" | "NodeMonitor");
    let node = interval.locator.get("node")?;
    (is_of_node && &*interval.message.reason == "NotReady").then_some(node)
}

fn is_rollout(interval: &Interval) -> bool {
    let operator = interval.locator.get("clusteroperator");
    matches!(operator, Some("network" | "machine-config"))
        && interval.message.annotation("condition") == Some("Progressing")
}

/// Spans of time by their begin; each end is the latest one so far, so that the last span that began
/// before an Event tells of all of them.
#[derive(Debug, Default)]
struct MergedSpans(BTreeMap<RecordedAt, RecordedAt>);

impl MergedSpans {
    /// Adds a span; none begins before the ones that are there.
    fn add(&mut self, (from, to): (RecordedAt, RecordedAt)) {
        let latest = self.0.last_key_value().map_or(to, |(_, end)| *end);
        self.0.insert(from, to.max(latest));
    }

    /// Tells whether an Event lies strictly inside one of them.
    fn hold(&self, event: &Interval) -> bool {
        let to = event.to.unwrap_or(event.from);
        let before = self.0.range(..event.from).next_back();
        before.is_some_and(|(_, end)| to < *end)
    }
}

/// The kinds of failure, by a part of their words; the first that fits counts, the last always does.
const KINDS: [(&str, &str); 11] = [
    (
        "reading container",
        "error reading container (probably exited) json message: EOF",
    ),
    ("pinging container registry", "pinging container registry"),
    ("not timing out", "i/o timeout"),
    (
        "writing network status",
        "error setting the networks status",
    ),
    ("getting pod", " error waiting for pod: pod"),
    ("writing child", "write child: broken pipe"),
    (
        "ovn default network ready",
        "have you checked that your default network is ready? still waiting for readinessindicatorfile",
    ),
    ("adding pod to network", "failed (add)"),
    (
        "initializing docker source",
        "can't talk to a V1 container registry",
    ),
    ("binding hostport", "failed to add hostport"),
    ("other", ""),
];

/// Gives the kind of a failure.
fn kind_of(words: &str) -> &'static str {
    let kind = KINDS.iter().find(|(_, part)| words.contains(part));
    kind.map_or("other", |(kind, _)| *kind)
}

/// What known words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownFailure {
    /// A test means it to happen, or does not mind.
    Ignored,
    /// It is known to happen, and why.
    Flake(&'static str),
}

/// Words that are known.
struct KnownMessage {
    /// Parts of the namespace and of the Pod's name; empty fits any.
    namespace: &'static str,
    pod: &'static str,
    /// Parts of the words that must all be there.
    all: &'static [&'static str],
    /// Parts of which one must be there; none fits any.
    any: &'static [&'static str],
    /// The platform that it is known of; `None` for all.
    platform: Option<&'static str>,
    means: KnownFailure,
}

const ANY: KnownMessage = KnownMessage {
    namespace: "",
    pod: "",
    all: &[],
    any: &[],
    platform: None,
    means: KnownFailure::Ignored,
};

const ENTRIES: [KnownMessage; 9] = [
    // The garbage collector's test deletes its Pods at once, without a grace period.
    KnownMessage {
        pod: "simpletest-rc-to-be-deleted",
        any: &[
            "not found",
            "pod was already deleted",
            "failed to create pod network sandbox",
            "error adding container to network",
        ],
        ..ANY
    },
    KnownMessage {
        namespace: "e2e-test-tuning-",
        all: &["IFNAME"],
        ..ANY
    },
    KnownMessage {
        namespace: "e2e-test-ns-global",
        pod: "test-ipv6",
        ..ANY
    },
    KnownMessage {
        all: &["Multus", "error getting pod"],
        any: &["connection refused", "i/o timeout"],
        means: KnownFailure::Flake(
            "Multus could not reach the API, https://bugzilla.redhat.com/show_bug.cgi?id=1927264",
        ),
        ..ANY
    },
    KnownMessage {
        all: &["Multus", "error getting pod: Unauthorized"],
        means: KnownFailure::Flake(
            "Multus was not let in by the API, https://bugzilla.redhat.com/show_bug.cgi?id=1972490",
        ),
        ..ANY
    },
    KnownMessage {
        all: &[
            "Multus",
            "have you checked that your default network is ready? still waiting for readinessindicatorfile",
        ],
        means: KnownFailure::Flake(
            "the node's ovnkube-node had not written its file, https://bugzilla.redhat.com/show_bug.cgi?id=20671320",
        ),
        ..ANY
    },
    // The whereabouts test fills its range of addresses.
    KnownMessage {
        pod: "whereabouts-pod",
        all: &[
            "error adding container to network",
            "Error at storage engine: Could not allocate IP in range: ip: 192.168.2.225 / - 192.168.2.230 ",
        ],
        ..ANY
    },
    KnownMessage {
        all: &["pinging container registry", "i/o timeout"],
        platform: Some("azure"),
        means: KnownFailure::Flake("registries often time out on azure"),
        ..ANY
    },
    // A test of StatefulSets takes the port away on purpose.
    KnownMessage {
        all: &["cannot open hostport 21017"],
        ..ANY
    },
];

/// Tells what is known of a failure, if anything is.
fn known(event: &Interval, platform: Option<&str>) -> Option<KnownFailure> {
    let words = &event.message.human;
    let namespace = event.locator.get("namespace").unwrap_or_default();
    let pod = event.locator.get("pod").unwrap_or_default();
    let entry = ENTRIES.iter().find(|entry| {
        namespace.contains(entry.namespace)
            && pod.contains(entry.pod)
            && entry.all.iter().all(|part| words.contains(part))
            && (entry.any.is_empty() || entry.any.iter().any(|part| words.contains(part)))
            && (entry.platform.is_none() || entry.platform == platform)
    });
    entry.map(|entry| entry.means)
}

#[cfg(test)]
mod pods_tests {
    use super::*;

    #[test]
    fn an_event_lies_inside_if_a_span_began_before_it_and_ends_after_it() {
        let at = |secs: i64| RecordedAt {
            micros: secs * 1_000_000,
        };
        let mut spans = MergedSpans::default();
        for (from, to) in [(10, 90), (20, 30), (100, 110)] {
            spans.add((at(from), at(to)));
        }
        let held = |from: i64, to: i64| {
            spans.hold(&Interval {
                from: at(from),
                to: Some(at(to)),
                ..Interval::default()
            })
        };
        assert!(held(11, 11) && held(40, 41) && held(21, 31));
        assert!(!held(10, 11) && !held(89, 90) && !held(95, 95) && !held(9, 11));
    }
}

#[cfg(test)]
mod words_tests {
    use super::*;
    use crate::interval::{IntervalMessage, Locator};

    fn failure(namespace: &str, pod: &str, words: &str) -> Interval {
        Interval {
            locator: Locator::new("Kind", [("namespace", namespace), ("pod", pod)]),
            message: IntervalMessage::new(words).reason("FailedCreatePodSandBox"),
            ..Interval::default()
        }
    }

    #[test]
    fn the_first_kind_that_fits_counts() {
        assert_eq!(
            kind_of("pinging container registry x: i/o timeout"),
            "pinging container registry"
        );
        assert_eq!(kind_of("dial tcp: i/o timeout"), "not timing out");
        assert_eq!(kind_of(""), "other");
    }

    #[test]
    fn a_platform_must_be_told_to_count() {
        let words = "pinging container registry q: dial tcp: i/o timeout";
        let failure = failure("n", "p", words);
        assert!(matches!(
            known(&failure, Some("azure")),
            Some(KnownFailure::Flake(_))
        ));
        assert_eq!(known(&failure, Some("aws")), None);
        assert_eq!(known(&failure, None), None);
    }

    #[test]
    fn a_test_that_means_it_is_ignored() {
        let meant = failure("e2e-test-tuning-1", "p", "sysctl IFNAME");
        assert_eq!(known(&meant, None), Some(KnownFailure::Ignored));
        let other = failure("team-a", "p", "sysctl IFNAME");
        assert_eq!(known(&other, None), None);
    }
}
