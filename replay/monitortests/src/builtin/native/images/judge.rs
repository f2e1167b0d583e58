//! Owns the test of images that tests pull. Refuses to say which are known: `known` does.

use super::known::Known;
use crate::builtin::native::event::subject_of;
use crate::feed::{Interest, Seen, Watcher};
use crate::interval::Interval;
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, WrittenIn,
};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;

const STREAMS: &str = "imagestreams.image.openshift.io";
const VERSIONS: &str = "clusterversions.config.openshift.io";
const EVENTS: &str = "events";
/// The namespace whose image streams say what belongs to the cluster.
const SAMPLES: &str = "openshift";
/// The image in the words of a pull: three parts with slashes between them, without a digest.
const IMAGE_PATTERN: &str =
    r#"image/([\w:.-]+/[\w:.-]+/[\w:.-]+)$|image "([\w:.-]+/[\w:.-]+/[\w:.-]+)""#;

/// Judges whether tests pull known images only.
#[derive(Debug)]
pub(crate) struct KnownImages {
    about: About,
    known: Known,
}

impl KnownImages {
    /// Makes the test.
    pub(crate) fn new() -> Self {
        Self {
            about: About {
                id: "only-known-images".to_owned(),
                monitor: "known-image-checker".to_owned(),
                junit: "[sig-arch] Only known images used by tests".to_owned(),
                description:
                    "Pods in e2e namespaces pull only images that are mirrored for tests or \
                              belong to the cluster."
                        .to_owned(),
                owner: "sig-arch".to_owned(),
                origin: "openshift/origin pkg/monitortests/testframework/knownimagechecker"
                    .to_owned(),
                is_flake_only: false,
                written_in: WrittenIn::Rust,
            },
            known: Known::default(),
        }
    }

    fn findings(&self, scene: &Scene<'_>) -> Result<Vec<Finding>, regex::Error> {
        let pattern = Regex::new(IMAGE_PATTERN)?;
        let mut found = BTreeMap::new();
        let all = scene.intervals.all().iter();
        for pull in all.filter(|event| is_pull(event)) {
            let image = pattern.captures(&pull.message.human);
            let image = image.and_then(|found| found.get(1).or_else(|| found.get(2)));
            let Some(image) = image.map(|image| image.as_str()) else {
                continue;
            };
            if self.known.holds(image) {
                continue;
            }
            let subject = subject_of(&pull.locator);
            let finding = Finding {
                severity: Severity::Fail,
                from: pull.from,
                to: pull.to,
                reason: "UnknownImage".to_owned(),
                message: format!(
                    "pod {}/{} pulled {image}, which is neither mirrored for tests nor part of the cluster",
                    subject.namespace, subject.name
                ),
                seq: pull.seq,
                subject: subject.clone(),
            };
            found.entry((image, subject)).or_insert(finding);
        }
        let mut findings: Vec<_> = found.into_values().collect();
        findings.sort_by(|one, other| (one.from, &one.message).cmp(&(other.from, &other.message)));
        Ok(findings)
    }
}

impl MonitorTest for KnownImages {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: vec![STREAMS.to_owned(), VERSIONS.to_owned()],
            seen: vec![EVENTS.to_owned()],
            facts: false,
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(is_pull)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self)
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let mut case = Case {
            junit: self.about.junit.clone(),
            ..Case::default()
        };
        match self.findings(scene) {
            Ok(findings) => case.findings = findings,
            Err(error) => case.error = Some(error.to_string()),
        }
        vec![case]
    }
}

impl Watcher for KnownImages {
    fn interests(&self) -> Vec<Interest> {
        vec![
            Interest::new(
                "image.openshift.io",
                "imagestreams",
                ["spec.tags.from", "status.tags.items.dockerImageReference"],
            ),
            Interest::new(
                "config.openshift.io",
                "clusterversions",
                ["status.desired.image", "status.history.image"],
            ),
        ]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        if seen.resource.plural == "clusterversions" {
            let desired = seen.now.pointer("/status/desired/image");
            let history = items(seen.now, "/status/history").filter_map(|one| one.get("image"));
            for image in desired.into_iter().chain(history).filter_map(Value::as_str) {
                self.known.add_release(image);
            }
        } else if seen.key.namespace == SAMPLES {
            for tag in items(seen.now, "/spec/tags") {
                let of = |name: &str| tag.pointer(name).and_then(Value::as_str);
                if of("/from/kind") == Some("DockerImage") {
                    self.known
                        .add_repository(of("/from/name").unwrap_or_default());
                }
            }
            for tag in items(seen.now, "/status/tags") {
                let references = items(tag, "/items")
                    .filter_map(|item| item.get("dockerImageReference")?.as_str());
                references.for_each(|reference| self.known.add_repository(reference));
            }
        }
    }
}

/// Tells whether an Event says that a Pod of a test pulled an image.
fn is_pull(event: &Interval) -> bool {
    let namespace = event.locator.get("namespace").unwrap_or_default();
    &*event.message.reason == "Pulled" && namespace.starts_with("e2e-")
}

fn items<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    let all = value.pointer(path).and_then(Value::as_array);
    all.into_iter().flatten()
}
