//! Intervals that rules about objects need, gathered from reels.

use crate::reel::{Reel, time};
use kubereel_format::RecordedAt;
use kubereel_monitortests::{Gathering, Mode, feed};
use serde_json::{Value, json};

/// Gives the times and words of a reason's intervals.
fn gathered(reel: Reel, reason: &str) -> Vec<(RecordedAt, String)> {
    let written = reel.written();
    let timeline = &written.timeline;
    let mut gathering = Gathering::new(timeline, Mode::Exact);
    feed(timeline, &mut gathering.watchers(), |_| {});
    let gathered = gathering.finish(timeline);
    let intervals = gathered.intervals.all().iter();
    let of = intervals.filter(|interval| interval.message.reason.as_ref() == reason);
    of.map(|interval| (interval.from, interval.message.human.to_string()))
        .collect()
}

fn with_ip(reel: Reel, path: &str, ip: &str) -> Reel {
    let status = json!({"status": {"podIP": ip, "podIPs": [{"ip": ip}]}});
    reel.pod(path).change("Pod", path, status)
}

#[test]
fn two_pods_with_one_ip_are_told_once() {
    let first = || with_ip(Reel::new(), "shop/web", "10.128.0.7").at("10:05:00");
    let shared = |reel: Reel| gathered(with_ip(reel, "shop/other", "10.128.0.7"), "PodIPReused");
    let words = "podIP 10.128.0.7 is currently assigned to multiple pods: shop/web;shop/other";
    assert_eq!(shared(first()), [(time("10:05:00"), words.to_owned())]);
    // A pod that is done, deleted or of the host's network does not hold its address.
    for patch in [
        json!({"status": {"phase": "Succeeded"}}),
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:05:00Z"}}),
        json!({"spec": {"hostNetwork": true}}),
        json!({"status": {"podIP": Value::Null, "podIPs": Value::Null}}),
    ] {
        let given_back = first().change("Pod", "shop/web", patch.clone());
        assert_eq!(shared(given_back), [], "{patch}");
    }
    let gone = first().gone("Pod", "shop/web");
    assert_eq!(shared(gone), []);
}
