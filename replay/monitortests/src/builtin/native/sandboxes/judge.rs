//! Owns the verdict over Pods whose sandbox could not be made. Refuses to read words: `words` does.

use super::pods::Besides;
use super::words::{KINDS, Known, kind_of, known};
use crate::builtin::native::event::{is_installing, subject_of};
use crate::feed::Watcher;
use crate::interval::Interval;
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, WrittenIn,
};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Until when after the deletion of its Pod a failure is nothing: the kubelet did not know yet.
const IGNORED_FOR_SECS: i64 = 1;
/// Until when it flakes.
const FLAKES_FOR_SECS: i64 = 5;

/// Judges whether sandboxes of Pods could be made.
#[derive(Debug)]
pub(crate) struct SandboxFailures {
    about: About,
}

impl SandboxFailures {
    /// Makes the test.
    pub(crate) fn new() -> Self {
        Self {
            about: About {
                id: "pod-sandboxes-are-made".to_owned(),
                monitor: "legacy-networking-invariants".to_owned(),
                junit: "[sig-network] pods should successfully create sandboxes by {kind}".to_owned(),
                description: "The sandbox of each Pod is made: one case for each kind of failure."
                    .to_owned(),
                owner: "sig-network".to_owned(),
                origin: "openshift/origin pkg/monitortests/network/legacynetworkmonitortests/networking.go"
                    .to_owned(),
                is_flake_only: false,
                written_in: WrittenIn::Rust,
            },
        }
    }
}

impl MonitorTest for SandboxFailures {
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
        LookedAt::those(|interval| is_failure(interval) || Besides::reads(interval))
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let besides = Besides::new(scene.intervals);
        let mut found: BTreeMap<&str, BTreeMap<(String, Severity), Finding>> = BTreeMap::new();
        let failures = scene.intervals.all().iter();
        let failures = failures.filter(|event| is_failure(event) && !is_installing(scene, event));
        for event in failures {
            let platform = scene.facts.at(event.from).platform.as_deref();
            let Some((severity, why)) = weigh(event, platform, &besides) else {
                continue;
            };
            let words = &event.message.human;
            let finding = Finding {
                subject: subject_of(&event.locator),
                severity,
                from: event.from,
                to: event.to,
                reason: event.message.reason.to_string(),
                message: format!("{} - {why} - {words}", event.locator),
                seq: event.seq,
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
            Case {
                junit: self.about.junit.replace("{kind}", kind),
                group: BTreeMap::from([("kind".to_owned(), (*kind).to_owned())]),
                findings,
                ..Case::default()
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
    besides: &Besides<'_>,
) -> Option<(Severity, String)> {
    if besides.node_was_not_ready(event) {
        return None;
    }
    match known(event, platform) {
        Some(Known::Ignored) => return None,
        Some(Known::Flake(why)) => return Some((Severity::Flake, why.to_owned())),
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
