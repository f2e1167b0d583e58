//! Events that should not be seen at all, or not for long, and what says only that something happened.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::json;

fn pod(reason: &str, words: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .event("Pod", "team-a/web-0", reason, words)
}

fn ovnkube(count: u64) -> Reel {
    let path = "openshift-ovn-kubernetes/ovnkube-node-x2k4p";
    let words = "Readiness probe failed: not yet";
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Pod", path, "Unhealthy", words, count)
}

/// A controller that waits until another one's lease is its own.
fn lease(taken_at: &str) -> Reel {
    let lease = |holder: &str, renewed: &str, transitions: u64| {
        json!({
            "kind": "Lease",
            "metadata": {"namespace": "openshift-dns-operator", "name": "dns-operator-lock"},
            "spec": {
                "holderIdentity": holder,
                "leaseDurationSeconds": 137,
                "leaseTransitions": transitions,
                "acquireTime": renewed,
                "renewTime": renewed,
            },
        })
    };
    let time = |text: &str| format!("2026-11-21T{text}.000000Z");
    Reel::cluster()
        .put(lease("dns-operator-a", &time("09:59:50"), 1))
        .at("10:05:00")
        .put(lease("dns-operator-a", &time("10:05:00"), 1))
        .at(taken_at)
        .put(lease("dns-operator-b", &time(taken_at), 2))
}

/// A node that reaches another configuration.
fn updated(node: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .node_config(node, "desiredConfig", "rendered-2")
        .at("10:15:00")
        .node_config(node, "currentConfig", "rendered-2")
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "systemd-times-out-for-pods",
            case: "[sig-node] pods should not fail on systemd timeouts",
            bad: || {
                pod(
                    "FailedCreatePodContainer",
                    "systemd timed out for pod web-0",
                )
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "systemd was too slow: namespace/team-a pod/web-0",
            good: || pod("FailedCreatePodContainer", "no such thing"),
        },
        Fixture {
            id: "cloud-api-quota-exceeded",
            case: "[sig-arch] cloud API quota should not be exceeded",
            bad: || {
                pod(
                    "FailedAttachVolume",
                    "RequestLimitExceeded: Request limit exceeded.",
                )
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the cloud refused more requests: namespace/team-a pod/web-0",
            good: || pod("FailedAttachVolume", "the volume is attached elsewhere"),
        },
        Fixture {
            id: "cloud-api-quota-exceeded",
            case: "[sig-arch] cloud API quota should not be exceeded",
            bad: || {
                pod(
                    "FailedAttachVolume",
                    "googleapi: Error 403: Quota exceeded for quota metric",
                )
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "Quota exceeded for quota metric",
            good: || pod("FailedAttachVolume", "googleapi: Error 404: not found"),
        },
        Fixture {
            id: "ovnkube-node-readiness-fails-repeatedly",
            case: "[bz-networking] ovnkube-node readiness probe should not fail repeatedly",
            bad: || ovnkube(21),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the readiness probe failed 21 times: namespace/openshift-ovn-kubernetes pod/ovnkube-node-x2k4p",
            good: || ovnkube(20),
        },
        Fixture {
            id: "leases-are-released",
            case: "[sig-arch] all leases in ns/openshift-dns-operator must gracefully release",
            bad: || lease("10:07:30"),
            verdict: CaseVerdict::Flake,
            at: "10:07:30",
            says: "lease dns-operator-lock was taken by dns-operator-b 2m 30s after dns-operator-a had renewed it last",
            good: || lease("10:05:05"),
        },
        Fixture {
            id: "masters-updated",
            case: "[sig-coreos] master nodes updated",
            bad: || updated("master-0"),
            verdict: CaseVerdict::Pass,
            at: "",
            says: "",
            good: || updated("worker-0"),
        },
    ]
}

#[test]
fn some_events_are_not_seen() {
    super::check(&fixtures());
}
