//! Static Pods that do not start.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const OPERATOR: &str = "openshift-etcd-operator/etcd-operator";
const MISSING: &str = "static pod lifecycle failure - static pod: \"etcd\" in namespace: \"openshift-etcd\" for revision: 6 on node: \"master-2\" didn't show up, waited: 2m30s";

fn missing(node: &str, revision: u64) -> Reel {
    let reached = format!(
        "Updated node \"{node}\" from revision 5 to {revision} because static pod is ready"
    );
    Reel::cluster()
        .at("10:05:00")
        .event("Deployment", OPERATOR, "MissingStaticPod", MISSING)
        .at("10:09:00")
        .event(
            "Deployment",
            OPERATOR,
            "NodeCurrentRevisionChanged",
            &reached,
        )
}

pub fn fixtures() -> Vec<Fixture> {
    let case = "[sig-node] static pods should start after being created";
    let id = "static-pods-start";
    vec![
        Fixture {
            id,
            case,
            bad: || missing("master-2", 5),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "openshift-etcd-operator: master-2 never reached revision 6 afterwards",
            good: || missing("master-2", 6),
        },
        Fixture {
            id,
            case,
            bad: || missing("master-1", 7),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "master-2 never reached revision 6",
            good: || missing("master-2", 7),
        },
    ]
}

#[test]
fn static_pods_start() {
    super::check(&fixtures());
}
