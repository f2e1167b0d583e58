//! Pods that do what no Pod should.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::{Value, json};

const POD: &str = "openshift-dns/dns-0";

fn changed(patch: Value) -> Reel {
    Reel::cluster()
        .pod(POD)
        .at("10:05:00.5")
        .change("Pod", POD, patch)
        .until("10:30:00")
}

fn deleted(grace_secs: u64) -> Reel {
    let patch = json!({"metadata": {
        "deletionTimestamp": "2026-11-21T10:05:00Z",
        "deletionGracePeriodSeconds": grace_secs,
    }});
    Reel::cluster()
        .pod(POD)
        .at("10:05:00.5")
        .change("Pod", POD, patch)
        .at("10:05:01")
        .gone("Pod", POD)
        .until("10:30:00")
}

fn addresses(of_other: &str) -> Reel {
    let ip = |of: &str| json!({"status": {"podIP": of, "podIPs": [{"ip": of}]}});
    Reel::cluster()
        .pod(POD)
        .pod("openshift-dns/dns-1")
        .change("Pod", POD, ip("10.128.0.7"))
        .at("10:05:00.5")
        .change("Pod", "openshift-dns/dns-1", ip(of_other))
        .until("10:30:00")
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "pod-not-pending-forever",
            case: "[sig-node] pods should not be stuck in Pending state forever",
            bad: || {
                Reel::cluster()
                    .at("10:05:00")
                    .pending_pod("team-a/web-0")
                    .until("10:30:00")
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "pod web-0 in team-a was pending for",
            good: || {
                Reel::cluster()
                    .at("10:05:00")
                    .pending_pod("team-a/web-0")
                    .at("10:06:00")
                    .pod("team-a/web-0")
                    .until("10:30:00")
            },
        },
        Fixture {
            id: "pod-node-name-is-immutable",
            case: "[sig-api-machinery] the pod.spec.nodeName field is immutable, once set cannot be changed",
            bad: || changed(json!({"spec": {"nodeName": "master-1"}})),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "pod dns-0 in openshift-dns",
            good: || changed(json!({"spec": {"nodeName": "master-0"}})),
        },
        Fixture {
            id: "pod-not-force-deleted",
            case: "[sig-architecture] platform pods should not be force deleted with gracePeriod 0",
            bad: || deleted(0),
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "pod dns-0 in openshift-dns on master-0 was deleted with a grace period of 0",
            good: || deleted(30),
        },
        Fixture {
            id: "pod-not-pending-again",
            case: "[sig-node] pods should never transition back to pending",
            bad: || changed(json!({"status": {"phase": "Pending"}})),
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "pod dns-0 in openshift-dns was pending again",
            good: || changed(json!({"status": {"phase": "Succeeded"}})),
        },
        Fixture {
            id: "pod-ip-used-once",
            case: "[bz-networking] pod IPs should not be used by two pods at the same time",
            bad: || addresses("10.128.0.7"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "10.128.0.7",
            good: || addresses("10.128.0.8"),
        },
    ]
}

#[test]
fn pods_are_judged() {
    super::check(&fixtures());
}
