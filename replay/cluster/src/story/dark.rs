//! Owns what of an update could not be seen: gaps of the resources that it is read from, and those that
//! were not recorded. Refuses to fill them.

use super::mark::Lasting;
use crate::history::ClusterHistory;
use kubereel_format::{NotCoveredReason, RecordedAt, ResourceId};
use kubereel_history::Cut;
use kubereel_history::{Certainty, UnobservedSpan};

/// What each resource tells, in the order of weight.
const READ: [(&str, &str, &str); 8] = [
    (
        "config.openshift.io",
        "clusterversions",
        "requests, acceptance and completion",
    ),
    (
        "config.openshift.io",
        "clusteroperators",
        "operators' moves and spells",
    ),
    ("", "nodes", "node updates"),
    (
        "machineconfiguration.openshift.io",
        "machineconfigpools",
        "pools",
    ),
    ("", "pods", "version Pods, and Pods that held up a drain"),
    ("", "events", "retrieval attempts without a Pod"),
    (
        "coordination.k8s.io",
        "leases",
        "changes of the leading process",
    ),
    ("policy", "poddisruptionbudgets", "what held up a drain"),
];

/// Something that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSeen {
    /// The resource, `nodes` or `clusterversions.config.openshift.io`.
    pub resource: String,
    /// What it would have told.
    pub tells: &'static str,
    /// When; `None` if it was never seen.
    pub unseen: Option<UnobservedSpan>,
}

impl NotSeen {
    /// Gives why it could not be seen.
    pub fn why(&self) -> String {
        let why = self.unseen.as_ref().map(|unseen| unseen.reason.to_string());
        why.unwrap_or_else(|| "not recorded".to_owned())
    }
}

impl ClusterHistory<'_> {
    /// Gives what could not be seen between two moments.
    pub(super) fn not_seen(&self, from: RecordedAt, to: RecordedAt, cut: Cut) -> Vec<NotSeen> {
        let mut all = Vec::new();
        for (group, plural, tells) in READ {
            let resources = if plural == "events" {
                self.timeline.event_resources()
            } else {
                self.resources_named(group, plural)
            };
            let name = if group.is_empty() {
                plural.to_owned()
            } else {
                format!("{plural}.{group}")
            };
            let not_seen = |unseen| NotSeen {
                resource: name.clone(),
                tells,
                unseen,
            };
            if !resources.iter().any(|id| self.is_seen(*id, cut)) {
                all.push(not_seen(None));
                continue;
            }
            let unseen = resources
                .iter()
                .flat_map(|id| self.timeline.unobserved(*id));
            let within = unseen.filter(|one| one.from < to && one.to > from);
            all.extend(within.map(|one| not_seen(Some(one.clone()))));
        }
        all
    }

    /// Tells whether a resource was ever seen up to a moment.
    fn is_seen(&self, resource: ResourceId, cut: Cut) -> bool {
        match self.timeline.certainty(resource, cut) {
            Certainty::NotCovered { reason, .. } => reason == NotCoveredReason::SameStorage,
            Certainty::BeforeFirst { .. } => false,
            _ => true,
        }
    }
}

/// Tells whether something of a resource could not be seen in a time.
pub(super) fn has_gap(not_seen: &[NotSeen], plural: &str, span: Lasting) -> bool {
    not_seen.iter().any(|one| {
        let is_of = one
            .resource
            .strip_prefix(plural)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        is_of
            && one.unseen.as_ref().is_some_and(|unseen| {
                unseen.to > span.from.at && span.to.is_none_or(|end| unseen.from < end.at)
            })
    })
}
