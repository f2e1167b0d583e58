//! Leader election: who leads, renewing, from the installation to the end.

use serde_json::json;

use super::super::Moment;
use super::super::file::{Operator, Scenario};
use super::super::script::Said;
use super::super::step::{Act, Leader};
use super::teller::{CVO, CVO_NAMESPACE, Teller};
use crate::rest::Target;

/// Leaders renew this often.
const RENEW_EVERY_SECS: f64 = 26.0;

/// The Lease of the cluster-version operator.
pub(super) fn version_lease() -> Target {
    Target::namespaced("coordination.k8s.io/v1", "Lease", CVO_NAMESPACE, "version")
}

/// The cluster-version operator in the cluster: known by its node.
pub(super) fn version_leader() -> Leader {
    Leader::NodeOf {
        namespace: CVO_NAMESPACE.to_owned(),
        app: CVO.to_owned(),
    }
}

/// The Lease of an operator.
pub(super) fn operator_lease(operator: &Operator) -> Target {
    let name = format!("{}-lock", operator.deployment());
    Target::namespaced(
        "coordination.k8s.io/v1",
        "Lease",
        &operator.namespace,
        &name,
    )
}

/// Whose Pod leads an operator.
pub(super) fn operator_leader(operator: &Operator) -> Leader {
    Leader::PodOf {
        namespace: operator.namespace.clone(),
        app: operator.deployment(),
    }
}

/// Renews from `from` on until `until`.
pub(super) fn renew(
    teller: &mut Teller<'_>,
    lease: &Target,
    leader: &Leader,
    actor: &str,
    from: Moment,
    until: Moment,
) {
    let mut at = from + RENEW_EVERY_SECS + teller.dice.secs(2.0, &["renew", &lease.to_string()]);
    while at < until {
        teller.script.act(
            at,
            actor,
            Act::Lead {
                lease: lease.clone(),
                leader: leader.clone(),
            },
        );
        at = at + RENEW_EVERY_SECS;
    }
}

/// Says that somebody leads the cluster-version operator, or does no longer.
///
/// `term` counts who led: two leaders are two messages, whoever they will be.
pub(super) fn say_elected(teller: &mut Teller<'_>, at: Moment, term: u32, what: &str) {
    let about = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "namespace": CVO_NAMESPACE,
        "name": "version",
        "uid": format!("{{{{uid coordination.k8s.io/v1 Lease {CVO_NAMESPACE} version}}}}"),
    });
    let said = Said {
        by: CVO,
        component: "openshift-cluster-version",
        namespace: CVO_NAMESPACE,
        about,
        is_warning: false,
        reason: "LeaderElection",
        message: format!("{{{{holder {CVO_NAMESPACE} version {term}}}}} {what}"),
    };
    teller.script.say(at, &said);
}

/// All renewals of those who lead in the cluster. What changes the leader is told where it happens.
pub(super) fn tell(teller: &mut Teller<'_>) {
    let end = Moment::from_secs(teller.scenario.end_secs);
    let scenario = teller.scenario;
    let takes_over = Moment::from_secs(scenario.install.cluster_takes_over_secs);
    renew(
        teller,
        &version_lease(),
        &version_leader(),
        CVO,
        takes_over,
        end,
    );
    for operator in &scenario.operators {
        let from = Moment::from_secs(scenario.install.begins_secs) + operator.available_secs;
        renew(
            teller,
            &operator_lease(operator),
            &operator_leader(operator),
            &operator.deployment(),
            from,
            end,
        );
    }
}

/// Who leads in the cluster: the name in the writes, the Lease, and the leader.
pub(in super::super) fn leaders(scenario: &Scenario) -> Vec<(String, Target, Leader)> {
    let operators = scenario.operators.iter().map(|operator| {
        (
            operator.deployment(),
            operator_lease(operator),
            operator_leader(operator),
        )
    });
    std::iter::once((CVO.to_owned(), version_lease(), version_leader()))
        .chain(operators)
        .collect()
}
