//! Back-off Events that repeat.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const FAILED: &str = "Back-off restarting failed container main in pod web-0";
const PULL: &str = "Back-off pulling image \"registry.redhat.io/a/b:1\"";
const OF_DNS: &str = "[sig-cluster-lifecycle] pathological event should not see excessive Back-off restarting failed containers for ns/openshift-dns";

fn back_off(namespace: &str, words: &str, count: u64) -> Reel {
    let path = format!("{namespace}/web-0");
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Pod", &path, "BackOff", words, count)
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "registry-redhat-pull-back-off-repeats",
            case: "[sig-arch] pathological event should not see excessive pull back-off on registry.redhat.io",
            bad: || back_off("team-a", PULL, 600),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "BackOff happened 600 times: namespace/team-a pod/web-0",
            good: || back_off("team-a", PULL, 5),
        },
        Fixture {
            id: "container-restart-back-off-repeats",
            case: OF_DNS,
            bad: || back_off("openshift-dns", FAILED, 21),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "BackOff happened 21 times: namespace/openshift-dns pod/web-0",
            good: || back_off("openshift-dns", FAILED, 10),
        },
        Fixture {
            id: "container-restart-back-off-repeats",
            case: OF_DNS,
            bad: || back_off("openshift-dns", FAILED, 11),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "BackOff happened 11 times",
            good: || back_off("openshift-etcd", FAILED, 11),
        },
        Fixture {
            id: "container-restart-back-off-repeats",
            case: "[sig-cluster-lifecycle] pathological event should not see excessive Back-off restarting failed containers",
            bad: || back_off("team-a", FAILED, 21),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "BackOff happened 21 times: namespace/team-a pod/web-0",
            good: || back_off("team-a", FAILED, 10),
        },
        Fixture {
            id: "e2e-container-restart-back-off-repeats",
            case: "[sig-cluster-lifecycle] pathological event should not see excessive Back-off restarting failed containers in e2e namespaces",
            bad: || back_off("e2e-a", FAILED, 21),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "BackOff happened 21 times: namespace/e2e-a pod/web-0",
            good: || back_off("team-a", FAILED, 21),
        },
    ]
}

#[test]
fn back_off_events_repeat_within_limits() {
    super::check(&fixtures());
}
