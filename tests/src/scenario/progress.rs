//! How the cluster-version operator words its progress.

use super::file::Release;

/// How far an update is, as the operator reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) progressing_reason: String,
    pub(super) progressing: String,
    /// Reason and message, when something fails.
    pub(super) failing: Option<(String, String)>,
}

impl Progress {
    /// Nothing to wait for: so many manifests are done.
    pub(super) fn done(release: &Release, done: u32) -> Self {
        Self {
            progressing_reason: String::new(),
            progressing: done_of(release, done),
            failing: None,
        }
    }

    /// Waits for operators that are still on their way.
    pub(super) fn waiting(release: &Release, done: u32, operators: &[&str]) -> Self {
        let plural = if operators.len() == 1 { "" } else { "s" };
        Self {
            progressing_reason: format!("ClusterOperator{plural}Updating"),
            progressing: format!(
                "{}, waiting on {}",
                done_of(release, done),
                operators.join(", ")
            ),
            failing: None,
        }
    }

    /// One operator is degraded and nothing else is left to wait for.
    pub(super) fn degraded(release: &Release, done: u32, operator: &str) -> Self {
        Self {
            progressing_reason: "ClusterOperatorDegraded".to_owned(),
            progressing: format!(
                "{}, waiting up to 40 minutes on {operator}",
                done_of(release, done)
            ),
            failing: None,
        }
    }

    /// One operator is degraded while others of its level are on their way.
    pub(super) fn degraded_among_others(release: &Release, operator: &str) -> Self {
        Self {
            progressing_reason: "MultipleErrors".to_owned(),
            progressing: format!(
                "Unable to apply {}: an unknown error has occurred: MultipleErrors",
                release.version
            ),
            failing: Some((
                "ClusterOperatorDegraded".to_owned(),
                format!("Cluster operator {operator} is degraded"),
            )),
        }
    }

    /// Operators are not available: seen during an installation.
    pub(super) fn not_available(release: &Release, operators: &[&str]) -> Self {
        let (reason, progressing, failing) = match operators {
            [one] => (
                "ClusterOperatorNotAvailable",
                format!("the cluster operator {one} is not available"),
                format!("Cluster operator {one} is not available"),
            ),
            many => (
                "ClusterOperatorsNotAvailable",
                "some cluster operators are not available".to_owned(),
                format!("Cluster operators {} are not available", many.join(", ")),
            ),
        };
        Self {
            progressing_reason: reason.to_owned(),
            progressing: format!("Unable to apply {}: {progressing}", release.version),
            failing: Some((reason.to_owned(), failing)),
        }
    }

    /// The first words of an operator process.
    pub(super) fn bare(release: &Release) -> Self {
        Self {
            progressing_reason: String::new(),
            progressing: format!("Working towards {}", release.version),
            failing: None,
        }
    }
}

/// So many manifests of a release are done.
pub(super) fn done_of(release: &Release, done: u32) -> String {
    let percent = done * 100 / release.manifests.max(1);
    format!(
        "Working towards {}: {done} of {} done ({percent}% complete)",
        release.version, release.manifests
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_worded_by_what_is_waited_for() {
        let release = Release {
            version: "1.0.1".to_owned(),
            image: "registry.example/r@sha256:0".to_owned(),
            manifests: 50,
        };
        let one = Progress::waiting(&release, 25, &["etcd"]);
        assert_eq!(one.progressing_reason, "ClusterOperatorUpdating");
        assert_eq!(
            one.progressing,
            "Working towards 1.0.1: 25 of 50 done (50% complete), waiting on etcd"
        );
        let two = Progress::waiting(&release, 25, &["dns", "network"]);
        assert_eq!(two.progressing_reason, "ClusterOperatorsUpdating");
        assert!(
            Progress::not_available(&release, &["a", "b"])
                .failing
                .unwrap()
                .1
                .contains("a, b")
        );
    }
}
