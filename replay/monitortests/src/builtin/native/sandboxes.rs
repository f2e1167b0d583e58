//! Pods whose sandbox could not be made.
//!
//! In Rust, because the meaning of a failure depends on when the Pod was deleted, on its node and on
//! roll-outs, and because the message chooses the case.
//!
//! Source: openshift/origin, `pkg/monitortests/network/legacynetworkmonitortests/networking.go` at
//! 483b9b6f.

use super::event::is_installing;
use super::judged::judged_test;
use crate::builtin::rows::info;
use crate::interval::{Interval, Intervals};
use crate::interval_needs::IntervalNeeds;
use crate::table::read_table;
use crate::verdict::{JudgeContext, MonitorTest, Needs, Severity, TestCase, TestFinding};
use kubereel_format::RecordedAt;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Until when after the deletion of its Pod a failure is nothing: the kubelet did not know yet.
const IGNORED_FOR_SECS: i64 = 1;
/// Until when it flakes.
const FLAKES_FOR_SECS: i64 = 5;

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let about = info(
        "pod-sandboxes-are-made",
        "sig-network",
        "pkg/monitortests/network/legacynetworkmonitortests/networking.go",
        "The sandbox of each Pod is made: one case for each kind of failure.",
    );
    let looks_at =
        IntervalNeeds::those(|interval| is_failure(interval) || PodContext::reads(interval));
    judged_test(about, Needs::seen("events"), looks_at, judge)
}

fn judge(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
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
        // An Event that is repeated is one finding, from its first time to its last.
        found
            .entry(kind_of(words))
            .or_default()
            .entry((format!("{} {words}", event.locator), severity))
            .and_modify(|first| first.to = event.to)
            .or_insert(finding);
    }
    let cases = kinds().map(|kind| {
        let mut findings: Vec<_> = found
            .remove(kind)
            .unwrap_or_default()
            .into_values()
            .collect();
        findings.sort_by(|one, other| (one.from, &one.subject).cmp(&(other.from, &other.subject)));
        let case = TestCase {
            group: BTreeMap::from([("kind".to_owned(), kind.to_owned())]),
            findings,
            ..TestCase::named(junit.replace("{kind}", kind))
        };
        case.doubt_unknown_phases(scene)
    });
    cases.collect()
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
    if let Some(known) = known(event, platform) {
        let flake = known.flake.clone();
        return flake.map(|why| (Severity::Flake, why));
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

    /// Returns whether an interval is one that it is found in.
    fn reads(interval: &Interval) -> bool {
        deleted_pod(interval).is_some()
            || not_ready_node(interval).is_some()
            || is_rollout(interval)
    }

    /// Returns when the Pod of an Event was deleted, if it was.
    fn deleted(&self, event: &Interval) -> Option<RecordedAt> {
        let pod = event.locator.get("pod")?;
        let namespace = event.locator.get("namespace").unwrap_or_default();
        self.deleted.get(&(namespace, pod)).copied()
    }

    /// Returns whether the node of an Event, or some node if it names none, was not ready then.
    fn node_was_not_ready(&self, event: &Interval) -> bool {
        match event.locator.get("node") {
            Some(node) => {
                let spans = self.not_ready.get(node);
                spans.is_some_and(|spans| spans.hold(event))
            }
            None => self.not_ready.values().any(|spans| spans.hold(event)),
        }
    }

    /// Returns whether the network or the nodes' configuration was rolled out then.
    fn is_in_rollout(&self, event: &Interval) -> bool {
        self.rollouts.hold(event)
    }
}

/// Returns the Pod that was deleted, if that is what an interval says.
fn deleted_pod(interval: &Interval) -> Option<&str> {
    let pod = interval.locator.get("pod")?;
    (&*interval.message.reason == "Deleted").then_some(pod)
}

/// Returns the node that was not ready, if that is what an interval says.
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

/// Spans of time by their begin; each end is the latest one so far, so that the last span that
/// began before an Event reports all of them.
#[derive(Debug, Default)]
struct MergedSpans(BTreeMap<RecordedAt, RecordedAt>);

impl MergedSpans {
    /// Adds a span; none begins before the ones that are there.
    fn add(&mut self, (from, to): (RecordedAt, RecordedAt)) {
        let latest = self.0.last_key_value().map_or(to, |(_, end)| *end);
        self.0.insert(from, to.max(latest));
    }

    /// Returns whether an Event lies strictly inside one of them.
    fn hold(&self, event: &Interval) -> bool {
        let to = event.to.unwrap_or(event.from);
        let before = self.0.range(..event.from).next_back();
        before.is_some_and(|(_, end)| to < *end)
    }
}

/// What the messages of failed sandboxes mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SandboxMessages {
    /// The kinds of failure, by a part of their messages; the first that fits counts.
    kinds: Vec<(String, String)>,
    known: Vec<KnownMessage>,
}

/// A message that is known. Everything that is given must fit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownMessage {
    /// A part of the namespace.
    #[serde(default)]
    namespace: String,
    /// A part of the Pod's name.
    #[serde(default)]
    pod: String,
    /// Parts of the message that must all be there.
    #[serde(default)]
    all: Vec<String>,
    /// Parts of the message of which one must be there.
    #[serde(default)]
    any: Vec<String>,
    platform: Option<String>,
    /// Why it is known to happen; without it the failure is ignored: a test means it to happen.
    flake: Option<String>,
}

static MESSAGES: LazyLock<SandboxMessages> =
    LazyLock::new(|| read_table(include_str!("sandboxes.yaml")));

/// Returns the kinds of failure.
fn kinds() -> impl Iterator<Item = &'static str> {
    MESSAGES.kinds.iter().map(|(kind, _)| kind.as_str())
}

/// Returns the kind of a failure.
fn kind_of(message: &str) -> &'static str {
    let mut kinds = MESSAGES.kinds.iter();
    let kind = kinds.find(|(_, part)| message.contains(part));
    kind.map_or("other", |(kind, _)| kind)
}

/// Finds what is known of a failure, if anything is.
fn known(event: &Interval, platform: Option<&str>) -> Option<&'static KnownMessage> {
    let message = &event.message.human;
    let namespace = event.locator.get("namespace").unwrap_or_default();
    let pod = event.locator.get("pod").unwrap_or_default();
    let is_in = |part: &String| message.contains(part.as_str());
    MESSAGES.known.iter().find(|known| {
        namespace.contains(&known.namespace)
            && pod.contains(&known.pod)
            && known.all.iter().all(is_in)
            && (known.any.is_empty() || known.any.iter().any(is_in))
            && (known.platform.is_none() || known.platform.as_deref() == platform)
    })
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
        let flake = known(&failure, Some("azure")).and_then(|known| known.flake.as_deref());
        assert_eq!(flake, Some("registries often time out on azure"));
        assert!(known(&failure, Some("aws")).is_none());
        assert!(known(&failure, None).is_none());
    }

    #[test]
    fn a_test_that_means_it_is_ignored() {
        let meant = failure("e2e-test-tuning-1", "p", "sysctl IFNAME");
        assert!(known(&meant, None).is_some_and(|known| known.flake.is_none()));
        let other = failure("team-a", "p", "sysctl IFNAME");
        assert!(known(&other, None).is_none());
    }
}
