//! Owns which images are known: those that tests name, and those that the cluster itself refers to.
//! Refuses pulls.
//!
//! Source: openshift/origin, `pkg/monitortests/testframework/knownimagechecker`.

use std::collections::BTreeSet;

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
pub(crate) struct Known {
    /// Repositories, known under any tag or digest.
    repositories: BTreeSet<String>,
    releases: BTreeSet<String>,
}

impl Known {
    /// Adds the repository of a reference, under any tag or digest.
    pub(crate) fn add_repository(&mut self, reference: &str) {
        let repository = repository_of(reference);
        if !repository.is_empty() {
            self.repositories.insert(repository.to_owned());
        }
    }

    /// Adds a release image.
    pub(crate) fn add_release(&mut self, reference: &str) {
        if !reference.is_empty() {
            self.releases.insert(reference.to_owned());
        }
    }

    /// Tells whether an image is known.
    pub(crate) fn holds(&self, image: &str) -> bool {
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

/// Gives a reference without tag and digest.
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
        let mut known = Known::default();
        known.add_repository("quay.a/b/c:v1");
        known.add_repository("");
        assert!(known.holds("quay.a/b/c:v2"));
        assert!(!known.holds("quay.a/b/cd:v1"));
        assert!(known.holds("invalid.com/x/y:1"));
        assert!(!known.holds("quay.a/b/c"), "no tag and no digest");
        assert!(!Known::default().holds("quay.a/b/c:v2"));
    }
}
