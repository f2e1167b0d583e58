//! Images that cannot be pulled.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const TIMED_OUT: &str =
    "Error: ErrImagePull: rpc error: dial tcp 10.0.0.1:443: read: connection timed out";
const THROTTLED: &str = "Error: ErrImagePull: pull QPS exceeded";
const UNKNOWN: &str = "Error: ErrImagePull: reading manifest v1 in quay.a/b/c: manifest unknown";
const OTHER: &str = "Error: ErrImagePull";
const OURS: &str = "openshift-dns/dns-0";
const OTHERS: &str = "team-a/web-0";

fn failed(path: &str, words: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .event("Pod", path, "Failed", words)
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = of_platform();
    all.extend(of_others());
    all
}

fn of_platform() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "image-pull-timeout-openshift",
            case: "[sig-node] should not encounter ErrImagePull read connection timeout in openshift namespace pods",
            bad: || failed(OURS, TIMED_OUT),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the registry did not answer in time: namespace/openshift-dns pod/dns-0",
            good: || failed(OTHERS, TIMED_OUT),
        },
        Fixture {
            id: "image-pull-throttled-openshift",
            case: "[sig-node] should not encounter ErrImagePull QPS exceeded error in openshift namespace pods",
            bad: || failed(OURS, THROTTLED),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the kubelet pulled too many images at once: namespace/openshift-dns pod/dns-0",
            good: || failed(OURS, TIMED_OUT),
        },
        Fixture {
            id: "image-pull-unknown-openshift",
            case: "[sig-node] should not encounter ErrImagePull manifest unknown error in openshift namespace pods",
            bad: || failed(OURS, UNKNOWN),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the registry does not know the image: namespace/openshift-dns pod/dns-0",
            good: || {
                let meant = "Error: ErrImagePull: reading manifest 404 in docker.io/library/webserver: manifest unknown";
                failed(OURS, meant)
            },
        },
        Fixture {
            id: "image-pull-fails-openshift",
            case: "[sig-node] should not encounter ErrImagePull in openshift namespace pods",
            bad: || failed(OURS, OTHER),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "an image could not be pulled: namespace/openshift-dns pod/dns-0",
            good: || failed(OURS, UNKNOWN),
        },
    ]
}

fn of_others() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "image-pull-timeout-elsewhere",
            case: "[sig-node] should not encounter ErrImagePull read connection timeout in non-openshift namespace pods",
            bad: || failed(OTHERS, TIMED_OUT),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the registry did not answer in time: namespace/team-a pod/web-0",
            good: || failed(OURS, TIMED_OUT),
        },
        Fixture {
            id: "image-pull-throttled-elsewhere",
            case: "[sig-node] should not encounter ErrImagePull QPS exceeded error in non-openshift namespace pods",
            bad: || failed(OTHERS, THROTTLED),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the kubelet pulled too many images at once: namespace/team-a pod/web-0",
            good: || failed(OURS, THROTTLED),
        },
        Fixture {
            id: "image-pull-unknown-elsewhere",
            case: "[sig-node] should not encounter ErrImagePull manifest unknown error in non-openshift namespace pods",
            bad: || failed(OTHERS, UNKNOWN),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "the registry does not know the image: namespace/team-a pod/web-0",
            good: || failed(OTHERS, OTHER),
        },
        Fixture {
            id: "image-pull-fails-elsewhere",
            case: "[sig-node] should not encounter ErrImagePull in non-openshift namespace pods",
            bad: || failed(OTHERS, OTHER),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "an image could not be pulled: namespace/team-a pod/web-0",
            good: || failed(OTHERS, "Error: ImagePullBackOff"),
        },
    ]
}

#[test]
fn images_are_pulled() {
    super::check(&fixtures());
}
