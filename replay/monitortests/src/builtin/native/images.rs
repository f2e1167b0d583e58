//! Images that tests pull. In Rust, because the known images are listed in the cluster's image streams
//! and in its version, and their references must be taken apart.
//!
//! Source: openshift/origin, `pkg/monitortests/testframework/knownimagechecker`.

use crate::builtin::rows::info;
use crate::feed::{Interest, WatchedEvent, Watcher};
use crate::interval::Interval;
use crate::interval_needs::IntervalNeeds;
use crate::reading;
use crate::verdict::{
    FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, TestCase, TestFinding,
};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

const STREAMS: &str = "imagestreams.image.openshift.io";
const VERSIONS: &str = "clusterversions.config.openshift.io";
/// The namespace whose image streams say what belongs to the cluster.
const SAMPLES: &str = "openshift";
/// The image in the words of a pull: three parts with slashes between them, without a digest.
const IMAGE_PATTERN: &str =
    r#"image/([\w:.-]+/[\w:.-]+/[\w:.-]+)$|image "([\w:.-]+/[\w:.-]+/[\w:.-]+)""#;

/// Judges whether tests pull known images only.
struct KnownImages {
    about: MonitorTestInfo,
    known: KnownImageSet,
}

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    Box::new(KnownImages {
        about: info(
            "only-known-images",
            "sig-arch",
            "pkg/monitortests/testframework/knownimagechecker",
            "Pods in e2e namespaces pull only images that are mirrored for tests or belong to the cluster.",
        ),
        known: KnownImageSet::default(),
    })
}

impl KnownImages {
    fn findings(&self, scene: &JudgeContext<'_>) -> Result<Vec<TestFinding>, regex::Error> {
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
            let subject = FindingSubject::of(&pull.locator);
            let message = format!(
                "pod {}/{} pulled {image}, which is neither mirrored for tests nor part of the cluster",
                subject.namespace, subject.name
            );
            let finding = TestFinding::of(pull, "UnknownImage", message);
            found.entry((image, subject)).or_insert(finding);
        }
        let mut findings: Vec<_> = found.into_values().collect();
        findings.sort_by(|one, other| (one.from, &one.message).cmp(&(other.from, &other.message)));
        Ok(findings)
    }
}

impl MonitorTest for KnownImages {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: vec![STREAMS.to_owned(), VERSIONS.to_owned()],
            ..Needs::seen("events")
        }
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::those(is_pull)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let mut case = TestCase::named(&self.about.junit);
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

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.resource.plural == "clusterversions" {
            self.known
                .add_release(reading::text(seen.now, "/status/desired/image"));
            for version in reading::list(seen.now, "/status/history") {
                self.known.add_release(reading::text(version, "/image"));
            }
        } else if seen.key.namespace == SAMPLES {
            for tag in reading::list(seen.now, "/spec/tags") {
                if reading::text(tag, "/from/kind") == "DockerImage" {
                    self.known.add_repository(reading::text(tag, "/from/name"));
                }
            }
            for tag in reading::list(seen.now, "/status/tags") {
                for item in reading::list(tag, "/items") {
                    self.known
                        .add_repository(reading::text(item, "/dockerImageReference"));
                }
            }
        }
    }
}

/// Returns whether an Event says that a Pod of a test pulled an image.
fn is_pull(event: &Interval) -> bool {
    let namespace = event.locator.get("namespace").unwrap_or_default();
    &*event.message.reason == "Pulled" && namespace.starts_with("e2e-")
}

/// Images that are known by the begin of their names.
const PREFIXES: [&str; 14] = [
    // Where upstream mirrors the images of its tests.
    "quay.io/openshift/community-e2e-images",
    "image-registry.openshift-image-registry.svc",
    "gcr.io/k8s-authenticated-test/",
    "gcr.io/authenticated-image-pulling/",
    "invalid.com/",
    // Registries of managed clusters.
    "default-route-openshift-image-registry.apps.ci-rosa",
    "default-route-openshift-image-registry.apps.ci-osd-gcp",
    // Catalogs of the operator lifecycle manager, and what its tests install.
    "registry.redhat.io/redhat/community-operator-index",
    "registry.redhat.io/redhat/certified-operator-index",
    "registry.redhat.io/redhat/redhat-marketplace-index",
    "registry.redhat.io/redhat/redhat-operator-index",
    "registry.redhat.io/amq7/amq",
    // What tests of builds and of pull secrets pull.
    "registry.redhat.io/ubi8/nodejs-14:latest",
    "registry.redhat.io/rhel8/mysql-80:latest",
];

/// An image that is known by its whole name.
const WHOLE: &str = "image/webserver:404";

/// The images that are known in a run.
#[derive(Debug, Default)]
struct KnownImageSet {
    /// Repositories, known under any tag or digest.
    repositories: BTreeSet<String>,
    releases: BTreeSet<String>,
}

impl KnownImageSet {
    /// Adds the repository of a reference, under any tag or digest.
    fn add_repository(&mut self, reference: &str) {
        let repository = repository_of(reference);
        if !repository.is_empty() {
            self.repositories.insert(repository.to_owned());
        }
    }

    /// Adds a release image.
    fn add_release(&mut self, reference: &str) {
        if !reference.is_empty() {
            self.releases.insert(reference.to_owned());
        }
    }

    /// Returns whether an image is known.
    fn holds(&self, image: &str) -> bool {
        let repository = repository_of(image);
        image == WHOLE
            || PREFIXES.iter().any(|prefix| image.starts_with(prefix))
            || (repository != image && self.repositories.contains(repository))
            || self
                .releases
                .iter()
                .any(|release| image.starts_with(release.as_str()))
    }
}

/// Returns a reference without tag and digest.
fn repository_of(reference: &str) -> &str {
    let named = reference
        .split_once('@')
        .map_or(reference, |(name, _)| name);
    let (path, last) = named.rsplit_once('/').unwrap_or(("", named));
    match last.split_once(':') {
        Some((name, _)) if path.is_empty() => name,
        Some((name, _)) => named.get(..path.len() + 1 + name.len()).unwrap_or(named),
        None => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_neither_tag_nor_digest() {
        for (reference, repository) in [
            ("quay.a:5000/b/c:v1", "quay.a:5000/b/c"),
            ("quay.a/b/c@sha256:00", "quay.a/b/c"),
            ("quay.a/b/c:v1@sha256:00", "quay.a/b/c"),
            ("quay.a:5000/b/c", "quay.a:5000/b/c"),
            ("busybox:1", "busybox"),
            ("", ""),
        ] {
            assert_eq!(repository_of(reference), repository, "{reference}");
        }
    }

    #[test]
    fn a_repository_is_known_under_any_tag_but_not_as_the_begin_of_another() {
        let mut known = KnownImageSet::default();
        known.add_repository("quay.a/b/c:v1");
        known.add_repository("");
        assert!(known.holds("quay.a/b/c:v2"));
        assert!(!known.holds("quay.a/b/cd:v1"));
        assert!(known.holds("invalid.com/x/y:1"));
        assert!(!known.holds("quay.a/b/c"), "no tag and no digest");
        assert!(!KnownImageSet::default().holds("quay.a/b/c:v2"));
    }
}
