//! Events that repeat and are not on the list of those that may.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const OF_DNS: &str = "[sig-arch] events should not repeat pathologically for ns/openshift-dns";

fn event(namespace: &str, reason: &str, words: &str, count: u64) -> Reel {
    let path = format!("{namespace}/web-0");
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Pod", &path, reason, words, 2)
        .at("10:09:00")
        .event_counted("Pod", &path, reason, words, count)
}

fn etcd_guard(revision: u64, count: u64) -> Reel {
    let reached =
        format!("Updated node master-0 from revision 1 to {revision} because static pod is ready");
    let operator = "openshift-etcd-operator/etcd-operator";
    Reel::cluster()
        .at("10:05:00")
        .event(
            "Deployment",
            operator,
            "NodeCurrentRevisionChanged",
            &reached,
        )
        .at("10:09:00")
        .event_counted(
            "Pod",
            "openshift-etcd/etcd-guard-master-0",
            "ProbeError",
            "Readiness probe error: HTTP 500",
            count,
        )
}

fn unscheduled(is_upgrade: bool) -> Reel {
    let reel = Reel::cluster();
    let reel = if is_upgrade {
        reel.at("10:01:00").upgrade_begins("5.0.10")
    } else {
        reel
    };
    reel.at("10:09:00").event_counted(
        "Deployment",
        "openshift-etcd-operator/etcd-operator",
        "UnhealthyEtcdMember",
        "unhealthy members: master-0",
        40,
    )
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = of_known_namespaces();
    all.extend([
        Fixture {
            id: "events-elsewhere-do-not-repeat",
            case: "[sig-arch] events should not repeat pathologically",
            bad: || event("team-a", "Oops", "it broke", 21),
            verdict: CaseVerdict::Fail,
            at: "10:09:00",
            says: "event happened 21 times, something is wrong: namespace/team-a pod/web-0",
            good: || event("openshift-e2e-loki", "Oops", "it broke", 21),
        },
        Fixture {
            id: "events-of-e2e-do-not-repeat",
            case: "[sig-arch] events should not repeat pathologically in e2e namespaces",
            bad: || event("e2e-a", "Oops", "it broke", 21),
            verdict: CaseVerdict::Flake,
            at: "10:09:00",
            says: "event happened 21 times, something is wrong: namespace/e2e-a pod/web-0",
            good: || {
                event(
                    "e2e-a",
                    "BackOff",
                    "Back-off pulling image \"quay.a/b/c\"",
                    21,
                )
            },
        },
    ]);
    all
}

fn of_known_namespaces() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "events-do-not-repeat",
            case: OF_DNS,
            bad: || event("openshift-dns", "Oops", "it broke", 21),
            verdict: CaseVerdict::Fail,
            at: "10:09:00",
            says: "event happened 21 times, something is wrong: namespace/openshift-dns pod/web-0",
            good: || event("openshift-dns", "Oops", "it broke", 20),
        },
        Fixture {
            id: "events-do-not-repeat",
            case: OF_DNS,
            bad: || {
                event(
                    "openshift-dns",
                    "BackOff",
                    "Back-off pulling image \"quay.a/b/c\"",
                    21,
                )
            },
            verdict: CaseVerdict::Fail,
            at: "10:09:00",
            says: "reason/BackOff Back-off pulling image \"quay.a/b/c\"",
            good: || {
                event(
                    "openshift-dns",
                    "Unhealthy",
                    "Readiness probe failed: x",
                    21,
                )
            },
        },
        Fixture {
            id: "events-do-not-repeat",
            case: "[sig-arch] events should not repeat pathologically for ns/openshift-etcd",
            bad: || etcd_guard(3, 37),
            verdict: CaseVerdict::Fail,
            at: "10:09:00",
            says: "event happened 37 times, something is wrong: namespace/openshift-etcd pod/etcd-guard-master-0",
            good: || etcd_guard(3, 36),
        },
        Fixture {
            id: "events-do-not-repeat",
            case: "[sig-arch] events should not repeat pathologically for ns/openshift-etcd-operator",
            bad: || unscheduled(false),
            verdict: CaseVerdict::Fail,
            at: "10:09:00",
            says: "event happened 40 times, something is wrong: namespace/openshift-etcd-operator deployment/etcd-operator",
            good: || unscheduled(true),
        },
    ]
}

#[test]
fn events_repeat_within_limits() {
    super::check(&fixtures());
}

#[test]
fn an_event_that_repeats_in_an_unknown_phase_is_unknown() {
    let id = "events-do-not-repeat";
    let reel = || event("openshift-dns", "Failing", "something is wrong", 40);
    judged(reel(), id).is(OF_DNS, "fail");
    let unknown = judged(reel().without("ClusterVersion"), id);
    unknown.is(OF_DNS, "unknown");
    assert!(unknown.dark(OF_DNS).contains("event happened 40 times"));
}
