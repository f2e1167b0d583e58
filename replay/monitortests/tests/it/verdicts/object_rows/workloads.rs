//! Workloads of the platform, and what their Pods must say.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::{Value, json};

fn pod(path: &str, differs: Value) -> Reel {
    Reel::cluster()
        .at("10:05:00.5")
        .pod(path)
        .at("10:05:01")
        .change("Pod", path, differs)
        .until("10:30:00")
}

fn policy(policy: &str) -> Reel {
    let container = json!({
        "name": "main",
        "image": "quay.a.example.org/main",
        "terminationMessagePolicy": policy,
    });
    pod(
        "openshift-dns/dns-0",
        json!({"spec": {"containers": [container]}}),
    )
}

fn generation(last: u64) -> Reel {
    let path = "openshift-dns/dns-default";
    let set = json!({
        "kind": "DaemonSet",
        "metadata": {"namespace": "openshift-dns", "name": "dns-default", "generation": 1},
    });
    let to = |number: u64| json!({"metadata": {"generation": number}});
    Reel::cluster()
        .put(set)
        .at("10:04:00")
        .change("DaemonSet", path, to(2))
        .at("10:05:00.5")
        .change("DaemonSet", path, to(last))
        .until("10:30:00")
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "generation-at-most-3",
            case: "[Jira:\"DNS\"] objects in ns/openshift-dns should not have a generation greater than 3",
            bad: || generation(4),
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "daemonset/dns-default",
            good: || generation(3),
        },
        Fixture {
            id: "termination-message-policy",
            case: "[sig-arch] all containers in ns/openshift-dns must have terminationMessagePolicy=FallbackToLogsOnError",
            bad: || policy("File"),
            verdict: CaseVerdict::Fail,
            at: "10:05:01",
            says: "container main of pod dns-0 must have terminationMessagePolicy=FallbackToLogsOnError",
            good: || policy("FallbackToLogsOnError"),
        },
        Fixture {
            id: "required-scc-annotation",
            case: "[sig-auth] all workloads in ns/openshift-console must set the 'openshift.io/required-scc' annotation",
            bad: || {
                let none =
                    json!({"metadata": {"annotations": {"openshift.io/required-scc": null}}});
                pod("openshift-console/console-0", none)
            },
            verdict: CaseVerdict::Fail,
            at: "10:05:01",
            says: "pod console-0 lacks the annotation openshift.io/required-scc",
            good: || {
                let other =
                    json!({"metadata": {"annotations": {"openshift.io/required-scc": "anyuid"}}});
                pod("openshift-console/console-0", other)
            },
        },
        Fixture {
            id: "no-default-service-account",
            case: "[sig-auth] all pods in openshift-dns namespace must not use the default service account.",
            bad: || {
                pod(
                    "openshift-dns/dns-0",
                    json!({"spec": {"serviceAccountName": "default"}}),
                )
            },
            verdict: CaseVerdict::Fail,
            at: "10:05:01",
            says: "pod dns-0 uses the default service account",
            good: || {
                pod(
                    "openshift-dns/dns-0",
                    json!({"spec": {"serviceAccountName": "dns"}}),
                )
            },
        },
    ]
}

#[test]
fn workloads_are_judged() {
    super::check(&fixtures());
}
