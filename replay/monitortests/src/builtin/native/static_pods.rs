//! Static Pods that did not start.
//!
//! In Rust, because the revision that must be reached is in the message of one Event and the one that was
//! reached in that of another.

use super::event::is_installing;
use super::judged::judged_test;
use crate::builtin::rows::info;
use crate::interval::Interval;
use crate::interval_needs::IntervalNeeds;
use crate::verdict::{JudgeContext, MonitorTest, Needs, TestCase, TestFinding};
use kubereel_format::RecordedAt;
use regex::Regex;
use std::collections::BTreeSet;

/// The namespaces of the operators that install static Pods.
const NAMESPACES: [&str; 4] = [
    "openshift-etcd-operator",
    "openshift-kube-apiserver-operator",
    "openshift-kube-controller-manager-operator",
    "openshift-kube-scheduler-operator",
];
const FAILED: &str = "static pod lifecycle failure";
const FAILED_PATTERN: &str = r#"for revision: ([0-9]+) on node: "([^"]*)" didn't show up"#;
const REACHED_PATTERN: &str = "to ([0-9]+) because static pod is ready";

/// That a node reached a revision.
struct ReachedRevision<'a> {
    namespace: &'a str,
    words: &'a str,
    revision: u64,
    at: RecordedAt,
}

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let about = info(
        "static-pods-start",
        "sig-node",
        "pkg/monitortests/kubeapiserver/legacykubeapiservermonitortests",
        "Where an operator misses a static Pod, its node reaches that revision, or a later one, in the end.",
    );
    let looks_at = IntervalNeeds::those(|event| {
        of_operator(event).is_some() && (is_reached(event) || is_failure(event))
    });
    judged_test(about, Needs::seen("events"), looks_at, judge)
}

fn case(junit: &str, scene: &JudgeContext<'_>) -> Result<TestCase, regex::Error> {
    let failed_pattern = Regex::new(FAILED_PATTERN)?;
    let reached = reached(scene, &Regex::new(REACHED_PATTERN)?);
    let mut case = TestCase::named(junit);
    let mut told = BTreeSet::new();
    for event in scene.intervals.all() {
        let Some(namespace) = of_operator(event) else {
            continue;
        };
        let words = event.message.human.as_ref();
        if !is_failure(event) || is_installing(scene, event) || !told.insert((namespace, words)) {
            continue;
        }
        let asked = failed_pattern.captures(words).and_then(|found| {
            let revision: u64 = found.get(1)?.as_str().parse().ok()?;
            Some((revision, found.get(2)?.as_str()))
        });
        let (reason, message) = match asked {
            Some((revision, node))
                if reached.iter().any(|reached| {
                    reached.namespace == namespace
                        && reached.at >= event.from
                        && reached.revision >= revision
                        && reached.words.contains(node)
                }) =>
            {
                continue;
            }
            Some((revision, node)) => (
                "StaticPodMissing",
                format!("{node} never reached revision {revision} afterwards: {words}"),
            ),
            None => (
                "Unreadable",
                format!("no revision and node in these words: {words}"),
            ),
        };
        case.findings.push(TestFinding::of(
            event,
            reason,
            format!("{namespace}: {message}"),
        ));
    }
    Ok(case)
}

fn judge(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let case = case(junit, scene).unwrap_or_else(|error| TestCase {
        error: Some(error.to_string()),
        ..TestCase::named(junit)
    });
    vec![case.doubt_unknown_phases(scene)]
}

fn of_operator(event: &Interval) -> Option<&str> {
    let namespace = event.locator.get("namespace")?;
    NAMESPACES.contains(&namespace).then_some(namespace)
}

/// Returns whether an Event says that a static Pod is missing.
fn is_failure(event: &Interval) -> bool {
    event.message.human.contains(FAILED) && &*event.message.reason != "OperatorStatusChanged"
}

/// Returns whether an Event says that a node reached a revision.
fn is_reached(event: &Interval) -> bool {
    &*event.message.reason == "NodeCurrentRevisionChanged"
}

fn reached<'a>(scene: &JudgeContext<'a>, pattern: &Regex) -> Vec<ReachedRevision<'a>> {
    let told = scene.intervals.all().iter();
    let told = told.filter(|event| is_reached(event));
    let reached = told.filter_map(|event| {
        let found = pattern.captures(&event.message.human)?;
        Some(ReachedRevision {
            namespace: of_operator(event)?,
            words: &event.message.human,
            revision: found.get(1)?.as_str().parse().ok()?,
            at: event.from,
        })
    });
    reached.collect()
}
