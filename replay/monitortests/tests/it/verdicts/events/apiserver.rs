//! How kube-apiserver ends.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

fn ends(reason: &str, words: &str) -> Reel {
    let path = "openshift-kube-apiserver/kube-apiserver-master-0";
    Reel::cluster()
        .at("10:05:00.5")
        .event("Pod", path, reason, words)
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "apiserver-processes-do-not-overlap",
            case: "[sig-node] overlapping apiserver process detected during kube-apiserver rollout",
            bad: || {
                ends(
                    "TerminationProcessOverlapDetected",
                    "the old process is there",
                )
            },
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "two kube-apiserver processes ran at once: namespace/openshift-kube-apiserver pod/kube-apiserver-master-0",
            good: || ends("TerminationStart", "received a signal"),
        },
        Fixture {
            id: "apiserver-ends-in-its-grace-period",
            case: "[sig-api-machinery] kube-apiserver terminates within graceful termination period",
            bad: || ends("GracefulTerminationTimeout", "took too long"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00.5",
            says: "kube-apiserver did not end in its grace period: namespace/openshift-kube-apiserver",
            good: || ends("TerminationGracefulTerminationFinished", "all gone"),
        },
        Fixture {
            id: "kubelet-lets-apiserver-end",
            case: "[sig-node] kubelet terminates kube-apiserver gracefully",
            bad: || ends("NonGracefulTermination", "killed"),
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "kube-apiserver was not given the time to end: namespace/openshift-kube-apiserver",
            good: || ends("TerminationStart", "received a signal"),
        },
        Fixture {
            id: "kubelet-lets-apiserver-end",
            case: "[sig-node] kubelet terminates kube-apiserver gracefully",
            bad: || {
                ends(
                    "Other",
                    "Previous kube-apiserver did not terminate gracefully",
                )
            },
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "did not terminate gracefully",
            good: || ends("Other", "all is well"),
        },
    ]
}

#[test]
fn kube_apiserver_ends_as_it_should() {
    super::check(&fixtures());
}
