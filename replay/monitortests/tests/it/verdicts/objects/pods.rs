//! Rows 9, 24 and 26 to 28.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::json;

const PENDING: &str = "[sig-node] pods should not be stuck in Pending state forever";
const MOVED: &str =
    "[sig-api-machinery] the pod.spec.nodeName field is immutable, once set cannot be changed";
const FORCED: &str =
    "[sig-architecture] platform pods should not be force deleted with gracePeriod 0";
const AGAIN: &str = "[sig-node] pods should never transition back to pending";
const IP: &str = "[bz-networking] pod IPs should not be used by two pods at the same time";

const POD: &str = "openshift-dns/dns-1";

#[test]
fn a_pod_that_is_pending_at_the_end_flakes() {
    let id = "pod-not-pending-forever";
    let pending = |at: &str| {
        let reel = Reel::cluster().at(at).pending_pod("shop/web");
        reel.until("10:30:00")
    };
    let verdicts = judged(pending("10:10:00"), id);
    verdicts.is(PENDING, "flake");
    verdicts.says(PENDING, "10:10:00", "pod web in shop");
    judged(pending("10:29:30"), id).passes(PENDING);
    let ran = pending("10:10:00").at("10:15:00").pod("shop/web");
    judged(ran, id).passes(PENDING);
}

#[test]
fn a_pod_stays_on_its_node() {
    let id = "pod-node-name-is-immutable";
    let moved = Reel::cluster().pod(POD).at("10:05:00").change(
        "Pod",
        POD,
        json!({"spec": {"nodeName": "master-1"}}),
    );
    judged(moved, id).fails(MOVED, "10:05:00", "dns-1");
    let scheduled = Reel::cluster().pending_pod(POD).at("10:05:00").pod(POD);
    judged(scheduled, id).passes(MOVED);
}

fn deleted(path: &str, grace: u64, annotations: &serde_json::Value) -> Reel {
    Reel::cluster()
        .pod(path)
        .change(
            "Pod",
            path,
            json!({"metadata": {"annotations": annotations}}),
        )
        .at("10:05:00")
        .change(
            "Pod",
            path,
            json!({"metadata": {
                "deletionTimestamp": "2026-11-21T10:05:00Z",
                "deletionGracePeriodSeconds": grace,
            }}),
        )
        .at("10:05:01")
        .gone("Pod", path)
}

#[test]
fn a_platform_pod_is_given_time_to_end() {
    let id = "pod-not-force-deleted";
    let forced = judged(deleted(POD, 0, &json!({})), id);
    forced.is(FORCED, "flake");
    forced.says(FORCED, "10:05:00", "dns-1");
    judged(deleted(POD, 30, &json!({})), id).passes(FORCED);
    judged(deleted("shop/web", 0, &json!({})), id).passes(FORCED);
    let mirror = json!({"kubernetes.io/config.mirror": "a"});
    judged(deleted(POD, 0, &mirror), id).passes(FORCED);
}

#[test]
fn a_pod_is_pending_once() {
    let id = "pod-not-pending-again";
    let again = Reel::cluster().pod("shop/web").at("10:05:00").change(
        "Pod",
        "shop/web",
        json!({"status": {"phase": "Pending"}}),
    );
    let verdicts = judged(again, id);
    verdicts.is(AGAIN, "flake");
    verdicts.says(AGAIN, "10:05:00", "pod web in shop");
    judged(Reel::cluster().pending_pod(POD).at("10:05:00").pod(POD), id).passes(AGAIN);
}

fn with_ip(reel: Reel, path: &str, ip: &str) -> Reel {
    reel.pod(path).change(
        "Pod",
        path,
        json!({"status": {"podIP": ip, "podIPs": [{"ip": ip}]}}),
    )
}

#[test]
fn two_pods_do_not_share_an_ip() {
    let id = "pod-ip-used-once";
    let first = || with_ip(Reel::cluster(), "shop/web", "10.128.0.7").at("10:05:00");
    let both = with_ip(first(), "shop/other", "10.128.0.7");
    judged(both, id).fails(IP, "10:05:00", "10.128.0.7");
    judged(with_ip(first(), "shop/other", "10.128.0.8"), id).passes(IP);
    // A pod that is done gives its address back, as one that is being deleted does.
    let done = first().change("Pod", "shop/web", json!({"status": {"phase": "Succeeded"}}));
    judged(with_ip(done, "shop/other", "10.128.0.7"), id).passes(IP);
    let deleted = first().change(
        "Pod",
        "shop/web",
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:05:00Z"}}),
    );
    judged(with_ip(deleted, "shop/other", "10.128.0.7"), id).passes(IP);
    let host = first().change("Pod", "shop/web", json!({"spec": {"hostNetwork": true}}));
    judged(with_ip(host, "shop/other", "10.128.0.7"), id).passes(IP);
}
