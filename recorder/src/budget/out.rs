//! Owns the answer to "is this resource still recorded?". Refuses to decide.

use super::plan::Step;
use std::collections::BTreeSet;

/// Group and plural of a resource.
pub(crate) type Name = (String, String);

/// What is no longer recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Out {
    names: BTreeSet<Name>,
    events: bool,
    all_but_truth: bool,
    everything: bool,
    only_the_end: bool,
}

const CONFIG: &str = "config.openshift.io";

/// Names the resources that a step leaves out by name.
fn named(step: Step) -> Option<(&'static str, &'static str)> {
    Some(match step {
        Step::Leases => ("coordination.k8s.io", "leases"),
        Step::Pods => ("", "pods"),
        Step::Nodes => ("", "nodes"),
        Step::Operators => (CONFIG, "clusteroperators"),
        Step::Version => (CONFIG, "clusterversions"),
        Step::Events | Step::Largest | Step::AllButTruth | Step::Notes | Step::End => return None,
    })
}

/// Tells whether a resource says how the cluster as a whole is.
pub(super) fn is_truth(group: &str, plural: &str) -> bool {
    matches!(
        (group, plural),
        ("", "pods" | "nodes") | (CONFIG, "clusteroperators" | "clusterversions")
    )
}

impl Out {
    /// Tells whether a resource is left out.
    pub(crate) fn holds(&self, group: &str, plural: &str) -> bool {
        self.everything
            || self.names.contains(&(group.to_owned(), plural.to_owned()))
            || self.all_but_truth && !is_truth(group, plural)
            || self.events && plural == "events" && matches!(group, "" | "events.k8s.io")
    }

    /// Tells whether no object is recorded any more.
    pub(crate) const fn is_everything(&self) -> bool {
        self.everything
    }

    /// Tells whether nothing is written any more but how the recording ended.
    pub(super) const fn is_only_the_end(&self) -> bool {
        self.only_the_end
    }

    /// Leaves one more out.
    pub(super) fn add(&mut self, name: Name) {
        self.names.insert(name);
    }

    /// Leaves out what a step says; [`Step::Largest`] says nothing without a name.
    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Events => self.events = true,
            Step::AllButTruth => self.all_but_truth = true,
            Step::Notes => self.everything = true,
            Step::End => self.only_the_end = true,
            Step::Leases
            | Step::Largest
            | Step::Pods
            | Step::Nodes
            | Step::Operators
            | Step::Version => {}
        }
        if let Some((group, plural)) = named(step) {
            self.add((group.to_owned(), plural.to_owned()));
        }
    }
}
