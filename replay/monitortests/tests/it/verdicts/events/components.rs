//! Events of single components that repeat.

use super::nodes::{REFUSED, SLOW, probe_error};
use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const OAUTH: &str = "openshift-oauth-apiserver/apiserver-0";
const MISSING: &str = "[bz-etcd] pathological event should not see excessive RequiredInstallerResourcesMissing secrets";

fn etcd_status(words: &str) -> Reel {
    let path = "openshift-etcd-operator/openshift-etcd-0";
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Pod", path, "OperatorStatusChanged", words, 20)
}

fn installer(words: &str, count: u64) -> Reel {
    let path = "openshift-etcd-operator/etcd-operator";
    let reason = "RequiredInstallerResourcesMissing";
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Deployment", path, reason, words, count)
}

fn slices(namespace: &str, count: u64) -> Reel {
    let words = "Error updating Endpoint Slices for Service a/b";
    let path = format!("{namespace}/ovnkube-control-plane");
    let reason = "FailedToUpdateEndpointSlices";
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Service", &path, reason, words, count)
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = of_oauth();
    all.extend(of_etcd());
    all.push(Fixture {
        id: "endpoint-slices-update-fails-repeatedly",
        case: "[sig-networking] pathological event should not see excessive FailedToUpdateEndpointSlices Error updating Endpoint Slices",
        bad: || slices("openshift-ovn-kubernetes", 400),
        verdict: CaseVerdict::Flake,
        at: "10:05:00",
        says: "FailedToUpdateEndpointSlices happened 400 times: namespace/openshift-ovn-kubernetes",
        good: || slices("team-a", 400),
    });
    all
}

fn of_oauth() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "oauth-apiserver-liveness-timeout-repeats",
            case: "[bz-apiserver-auth] openshift-oauth-apiserver should not get probe error on liveiness probe due to timeout",
            bad: || probe_error(OAUTH, "Liveness", SLOW, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-oauth-apiserver pod/apiserver-0",
            good: || probe_error(OAUTH, "Liveness", SLOW, 19),
        },
        Fixture {
            id: "oauth-apiserver-readiness-timeout-repeats",
            case: "[bz-apiserver-auth] openshift-oauth-apiserver should not get probe error on readiiness probe due to timeout",
            bad: || probe_error(OAUTH, "Readiness", SLOW, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-oauth-apiserver pod/apiserver-0",
            good: || probe_error("openshift-apiserver/a-0", "Readiness", SLOW, 20),
        },
        Fixture {
            id: "oauth-apiserver-readiness-refused-repeats",
            case: "[bz-apiserver-auth] openshift-oauth-apiserver should not get probe error on readiiness probe due to connection refused",
            bad: || probe_error(OAUTH, "Readiness", REFUSED, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-oauth-apiserver pod/apiserver-0",
            good: || probe_error(OAUTH, "Readiness", REFUSED, 19),
        },
    ]
}

fn of_etcd() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "etcd-operator-status-changed-repeats",
            case: "[sig-node] pathological event OperatorStatusChanged condition does not occur too often",
            bad: || {
                etcd_status(
                    "Status for clusteroperator/etcd changed: from \"1 of 3\" to \"No unhealthy members found\"",
                )
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "OperatorStatusChanged happened 20 times: namespace/openshift-etcd-operator",
            good: || etcd_status("Status for clusteroperator/etcd changed: from a to b"),
        },
        Fixture {
            id: "etcd-installer-resources-missing-repeats",
            case: MISSING,
            bad: || installer("secrets: etcd-all-certs-3", 21),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "RequiredInstallerResourcesMissing happened 21 times: namespace/openshift-etcd-operator",
            good: || installer("configmaps: check-endpoints-config-3", 21),
        },
        Fixture {
            id: "etcd-installer-resources-missing-repeats",
            case: MISSING,
            bad: || installer("secrets: etcd-all-certs-3", 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "RequiredInstallerResourcesMissing happened 20 times",
            good: || installer("secrets: etcd-all-certs-3", 10),
        },
    ]
}

#[test]
fn events_of_components_repeat_within_limits() {
    super::check(&fixtures());
}
