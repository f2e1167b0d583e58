//! Owns from which objects the intervals of a source are made. Refuses sources that it does not know:
//! a rule says itself what its intervals need.

use super::model::Choice;
use crate::interval::source;

/// Sources, and the resources of whose objects their intervals are made.
const MADE_OF: [(&str, &[&str]); 16] = [
    (
        source::CLUSTER_OPERATOR_MONITOR,
        &[
            "clusteroperators.config.openshift.io",
            "clusterversions.config.openshift.io",
        ],
    ),
    (
        source::OPERATOR_STATE,
        &["clusteroperators.config.openshift.io"],
    ),
    (
        source::VERSION_STATE,
        &["clusterversions.config.openshift.io"],
    ),
    (
        source::CLUSTER_PHASE,
        &["clusterversions.config.openshift.io"],
    ),
    (source::KUBE_EVENT, &["events"]),
    (source::NODE_MONITOR, &["nodes"]),
    (source::NODE_UNEXPECTED_NOT_READY, &["nodes"]),
    (source::NODE_UNREACHABLE, &["nodes"]),
    (source::NODE_STATE, &["events", "nodes"]),
    (source::POD_MONITOR, &["pods"]),
    (source::POD_STATE, &["pods"]),
    (source::STATIC_POD_INSTALL_MONITOR, &["pods"]),
    (source::MACHINE_MONITOR, &["machines.machine.openshift.io"]),
    (
        source::POOL_MONITOR,
        &["machineconfigpools.machineconfiguration.openshift.io"],
    ),
    (
        source::POOL_STATE,
        &["machineconfigpools.machineconfiguration.openshift.io"],
    ),
    (
        source::GENERATION_MONITOR,
        &["daemonsets.apps", "deployments.apps", "statefulsets.apps"],
    ),
];

/// Gives the resources that must have been seen for intervals to be there.
pub(crate) fn seen_for(choice: &Choice) -> Vec<String> {
    let mut seen: Vec<String> = choice.needs.iter().map(super::ResourceName::text).collect();
    if seen.is_empty() {
        for source in &choice.sources {
            let made_of = MADE_OF.iter().filter(|(known, _)| known == source);
            let made_of = made_of.flat_map(|(_, resources)| resources.iter());
            seen.extend(made_of.map(|&resource| resource.to_owned()));
        }
    }
    seen.sort();
    seen.dedup();
    seen
}
