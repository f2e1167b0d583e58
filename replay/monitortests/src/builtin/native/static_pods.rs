//! Owns the test of static Pods that did not start. Rust, because the revision that must be reached
//! stands in the words of one Event and the one that was reached in those of another. Refuses Pods:
//! operators say what did not show up.

use super::event::{is_installing, subject_of};
use crate::feed::Watcher;
use crate::interval::Interval;
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, WrittenIn,
};
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
#[derive(Debug)]
pub(crate) struct StaticPods {
    about: About,
}

/// That a node reached a revision.
struct Reached<'a> {
    namespace: &'a str,
    words: &'a str,
    revision: u64,
    at: RecordedAt,
}

impl StaticPods {
    /// Makes the test.
    pub(crate) fn new() -> Self {
        Self {
            about: About {
                id: "static-pods-start".to_owned(),
                monitor: "legacy-kube-apiserver-invariants".to_owned(),
                junit: "[sig-node] static pods should start after being created".to_owned(),
                description: "Where an operator misses a static Pod, its node reaches that revision, \
                              or a later one, in the end."
                    .to_owned(),
                owner: "sig-node".to_owned(),
                origin: "openshift/origin pkg/monitortests/kubeapiserver/legacykubeapiservermonitortests"
                    .to_owned(),
                is_flake_only: false,
                written_in: WrittenIn::Rust,
            },
        }
    }

    fn case(&self, scene: &Scene<'_>) -> Result<Case, regex::Error> {
        let failed_pattern = Regex::new(FAILED_PATTERN)?;
        let reached = reached(scene, &Regex::new(REACHED_PATTERN)?);
        let mut case = Case {
            junit: self.about.junit.clone(),
            ..Case::default()
        };
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
            case.findings.push(Finding {
                subject: subject_of(&event.locator),
                severity: Severity::Fail,
                from: event.from,
                to: event.to,
                reason: reason.to_owned(),
                message: format!("{namespace}: {message}"),
                seq: event.seq,
            });
        }
        Ok(case)
    }
}

impl MonitorTest for StaticPods {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            seen: vec!["events".to_owned()],
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(|event| {
            of_operator(event).is_some() && (is_reached(event) || is_failure(event))
        })
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let case = self.case(scene).unwrap_or_else(|error| Case {
            junit: self.about.junit.clone(),
            error: Some(error.to_string()),
            ..Case::default()
        });
        vec![case]
    }
}

fn of_operator(event: &Interval) -> Option<&str> {
    let namespace = event.locator.get("namespace")?;
    NAMESPACES.contains(&namespace).then_some(namespace)
}

/// Tells whether an Event says that a static Pod is missing.
fn is_failure(event: &Interval) -> bool {
    event.message.human.contains(FAILED) && &*event.message.reason != "OperatorStatusChanged"
}

/// Tells whether an Event says that a node reached a revision.
fn is_reached(event: &Interval) -> bool {
    &*event.message.reason == "NodeCurrentRevisionChanged"
}

fn reached<'a>(scene: &Scene<'a>, pattern: &Regex) -> Vec<Reached<'a>> {
    let told = scene.intervals.all().iter();
    let told = told.filter(|event| is_reached(event));
    let reached = told.filter_map(|event| {
        let found = pattern.captures(&event.message.human)?;
        Some(Reached {
            namespace: of_operator(event)?,
            words: &event.message.human,
            revision: found.get(1)?.as_str().parse().ok()?,
            at: event.from,
        })
    });
    reached.collect()
}
