//! Owns the answer to "is this resource still recorded?". Refuses to decide.

use super::plan::Step;
use kubereel_format::NotCoveredReason;
use std::collections::BTreeSet;

/// Group and plural of a resource.
pub(crate) type Name = (String, String);

/// What is no longer recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Out {
    /// Left out by name.
    names: BTreeSet<Name>,
    /// Those of them whose objects took too much memory.
    for_memory: BTreeSet<Name>,
    /// The last step that was taken; those before it hold too.
    reached: Option<Step>,
}

const CONFIG: &str = "config.openshift.io";

/// Tells whether a resource says how the cluster as a whole is.
pub(super) fn is_truth(group: &str, plural: &str) -> bool {
    matches!(
        (group, plural),
        ("", "pods" | "nodes") | (CONFIG, "clusteroperators" | "clusterversions")
    )
}

/// Gives the step that leaves a resource out at the latest.
fn last_step(group: &str, plural: &str) -> Step {
    match (group, plural) {
        ("coordination.k8s.io", "leases") => Step::Leases,
        ("" | "events.k8s.io", "events") => Step::Events,
        ("", "pods") => Step::Pods,
        ("", "nodes") => Step::Nodes,
        (CONFIG, "clusteroperators") => Step::Operators,
        (CONFIG, "clusterversions") => Step::Version,
        _ => Step::AllButTruth,
    }
}

impl Out {
    /// Tells whether a resource is left out.
    pub(crate) fn holds(&self, group: &str, plural: &str) -> bool {
        self.reached >= Some(last_step(group, plural))
            || self.names.contains(&(group.to_owned(), plural.to_owned()))
    }

    /// Tells whether no object is recorded any more.
    pub(crate) fn is_everything(&self) -> bool {
        self.reached >= Some(Step::Notes)
    }

    /// Tells whether nothing is written any more but how the recording ended.
    pub(super) fn is_only_the_end(&self) -> bool {
        self.reached >= Some(Step::End)
    }

    /// Leaves one more out.
    pub(super) fn add(&mut self, name: Name) {
        self.names.insert(name);
    }

    /// Leaves one more out, for the memory that its objects take.
    pub(super) fn add_for_memory(&mut self, name: Name) {
        self.for_memory.insert(name.clone());
        self.add(name);
    }

    /// Gives why a resource is left out, if it is.
    pub(crate) fn reason(&self, group: &str, plural: &str) -> NotCoveredReason {
        let name = (group.to_owned(), plural.to_owned());
        if self.for_memory.contains(&name) {
            NotCoveredReason::MemoryBudget
        } else {
            NotCoveredReason::SizeBudget
        }
    }

    /// Leaves out what a step says; [`Step::Largest`] says nothing without a name.
    pub(super) fn take(&mut self, step: Step) {
        self.reached = self.reached.max(Some(step));
    }
}
