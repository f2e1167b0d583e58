//! Static Pods that did not start.
//!
//! In Rust, because the revision that must be reached is in the message of one Event and the one that was
//! reached in that of another.

use super::event::is_installing;
use crate::builtin::rows::info;
use crate::interval::Interval;
use crate::interval_needs::IntervalNeeds;
use crate::verdict::{JudgeContext, MonitorTest, MonitorTestInfo, Needs, TestCase, TestFinding};
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

/// Judges whether static Pods started.
struct StaticPods {
    about: MonitorTestInfo,
}

/// That a node reached a revision.
struct ReachedRevision<'a> {
    namespace: &'a str,
    words: &'a str,
    revision: u64,
    at: RecordedAt,
}

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    Box::new(StaticPods {
        about: info(
            "static-pods-start",
            "sig-node",
            "pkg/monitortests/kubeapiserver/legacykubeapiservermonitortests",
            "Where an operator misses a static Pod, its node reaches that revision, or a later one, in the end.",
        ),
    })
}

impl StaticPods {
    fn case(&self, scene: &JudgeContext<'_>) -> Result<TestCase, regex::Error> {
        let failed_pattern = Regex::new(FAILED_PATTERN)?;
        let reached = reached(scene, &Regex::new(REACHED_PATTERN)?);
        let mut case = TestCase::named(&self.about.junit);
        let mut told = BTreeSet::new();
        for event in scene.intervals.all() {
            let Some(namespace) = of_operator(event) else {
                continue;
            };
            let words = event.message.human.as_ref();
            if !is_failure(event) || is_installing(scene, event) || !told.insert((namespace, words))
            {
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
}

impl MonitorTest for StaticPods {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs::seen("events")
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::those(|event| {
            of_operator(event).is_some() && (is_reached(event) || is_failure(event))
        })
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let case = self.case(scene).unwrap_or_else(|error| TestCase {
            error: Some(error.to_string()),
            ..TestCase::named(&self.about.junit)
        });
        vec![case.doubt_unknown_phases(scene)]
    }
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
