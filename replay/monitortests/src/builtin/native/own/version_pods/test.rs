//! Owns the verdict on the attempts: each that failed is a finding with its whole story.

use super::attempt::Attempt;
use super::watch::{Attempts, NAMESPACE, names};
use crate::feed::Watcher;
use crate::known::component_of_namespace;
use crate::verdict::{
    About, Case, Dark, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, Subject, WrittenIn,
};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

const VERSIONS: &str = "clusterversions.config.openshift.io";
const READS: [&str; 3] = ["pods", "events", VERSIONS];

struct VersionPods {
    about: About,
    attempts: Attempts,
}

/// Gives the test.
pub(crate) fn test() -> Box<dyn MonitorTest> {
    let about = About {
        id: "version-pods".to_owned(),
        monitor: "version-pods".to_owned(),
        junit: "[bz-Cluster Version Operator] release payloads should be retrieved at the first attempt"
            .to_owned(),
        description: "No attempt to retrieve the payload of a release fails. Each that does is told with the states of its Pod, the Events about it, and what ClusterVersion said then.".to_owned(),
        owner: "Cluster Version Operator".to_owned(),
        origin: "OTA-1321; openshift/cluster-version-operator pkg/cvo/updatepayload.go".to_owned(),
        is_flake_only: true,
        written_in: WrittenIn::Rust,
    };
    Box::new(VersionPods {
        about,
        attempts: Attempts::default(),
    })
}

impl MonitorTest for VersionPods {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: READS.iter().map(ToString::to_string).collect(),
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(&mut self.attempts)
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let attempts = self.attempts.take();
        let count = attempts.len();
        let findings = (1_usize..)
            .zip(&attempts)
            .filter(|(_, attempt)| attempt.is_failed())
            .map(|(nth, attempt)| self.finding(attempt, nth, count, scene.intervals.end()))
            .collect();
        let mut dark: Vec<Dark> = READS
            .iter()
            .filter_map(|resource| scene.dark.get(*resource))
            .flatten()
            .cloned()
            .collect();
        dark.sort();
        vec![Case {
            junit: self.about.junit.clone(),
            component: component_of_namespace(NAMESPACE).map(str::to_owned),
            findings,
            dark,
            ..Case::default()
        }]
    }
}

impl VersionPods {
    fn finding(&self, attempt: &Attempt, nth: usize, count: usize, end: RecordedAt) -> Finding {
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
            told.map(|(at, told)| format!("{} ClusterVersion said {told}", timetext::rfc3339(at))),
        );
        let (resource, name) = if attempt.pod.is_empty() {
            (VERSIONS, "version")
        } else {
            ("pods", attempt.pod.as_str())
        };
        Finding {
            subject: Subject {
                resource: resource.to_owned(),
                namespace: if attempt.pod.is_empty() {
                    ""
                } else {
                    NAMESPACE
                }
                .to_owned(),
                name: name.to_owned(),
                keys: BTreeMap::new(),
            },
            severity: Severity::Flake,
            from: attempt.from,
            to: attempt.to,
            reason: attempt.reason.clone(),
            message: lines.join("\n"),
            seq: Some(attempt.seq),
        }
    }

    /// What `ClusterVersion` said while the attempt lasted and of it afterwards.
    fn told_of(&self, attempt: &Attempt, until: RecordedAt) -> Vec<(RecordedAt, String)> {
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
