//! Events of nodes and of their Pods that repeat.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const UNPLACED: &str =
    "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.";
const CATALOG: &str = "openshift-marketplace/community-operators-x2k4p";
const UNSTARTED: &str = "Startup probe failed: timeout";
const CONFIG: &str = "openshift-config-operator/openshift-config-operator-7f-k2";

/// A probe that was not answered in time.
pub const SLOW: &str = "Get \"https://10.0.0.1:8443/healthz\": net/http: request canceled (Client.Timeout exceeded while awaiting headers)";
/// A probe to which nobody listened.
pub const REFUSED: &str =
    "Get \"https://10.0.0.1:8443/healthz\": dial tcp 10.0.0.1:8443: connect: connection refused";

fn node(reason: &str, count: u64) -> Reel {
    let words = format!("Node master-0 status is now: {reason}");
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Node", "master-0", reason, &words, 2)
        .at("10:25:00.250")
        .event_counted("Node", "master-0", reason, &words, count)
}

fn pod(path: &str, reason: &str, words: &str, count: u64) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .event_counted("Pod", path, reason, words, count)
}

/// A probe that fails many times.
pub fn probe_error(path: &str, probe: &str, words: &str, count: u64) -> Reel {
    let words = format!("{probe} probe error: {words}");
    pod(path, "ProbeError", &words, count)
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = of_nodes();
    all.extend(of_pods());
    all.extend(of_config_operator());
    all
}

fn of_nodes() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "node-disk-pressure-event-repeats",
            case: "[sig-node] pathological event NodeHasNoDiskPressure condition does not occur too often",
            bad: || node("NodeHasNoDiskPressure", 20),
            verdict: CaseVerdict::Flake,
            at: "10:25:00.250",
            says: "NodeHasNoDiskPressure happened 20 times: node/master-0",
            good: || node("NodeHasNoDiskPressure", 19),
        },
        Fixture {
            id: "node-memory-event-repeats",
            case: "[sig-node] pathological event NodeHasSufficeintMemory condition does not occur too often",
            bad: || node("NodeHasSufficientMemory", 20),
            verdict: CaseVerdict::Flake,
            at: "10:25:00.250",
            says: "NodeHasSufficientMemory happened 20 times: node/master-0",
            good: || node("NodeHasSufficientMemory", 19),
        },
        Fixture {
            id: "node-pid-event-repeats",
            case: "[sig-node] pathological event NodeHasSufficientPID condition does not occur too often",
            bad: || node("NodeHasSufficientPID", 20),
            verdict: CaseVerdict::Flake,
            at: "10:25:00.250",
            says: "NodeHasSufficientPID happened 20 times: node/master-0",
            good: || node("NodeHasSufficientPID", 19),
        },
    ]
}

fn of_pods() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "failed-scheduling-repeats",
            case: "[sig-node] pathological event FailedScheduling condition does not occur too often",
            bad: || pod("team-a/web-0", "FailedScheduling", UNPLACED, 33),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "FailedScheduling happened 33 times: namespace/team-a pod/web-0",
            good: || {
                let other = "0/5 nodes are available: 5 Insufficient cpu.";
                pod("team-a/web-0", "FailedScheduling", other, 33)
            },
        },
        Fixture {
            id: "marketplace-startup-probe-repeats",
            case: "[sig-arch] openshift-marketplace pods should not get excessive startupProbe failures",
            bad: || pod(CATALOG, "Unhealthy", UNSTARTED, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "Unhealthy happened 20 times: namespace/openshift-marketplace pod/community-operators-x2k4p",
            good: || {
                pod(
                    "openshift-marketplace/other-x2k4p",
                    "Unhealthy",
                    UNSTARTED,
                    20,
                )
            },
        },
    ]
}

fn of_config_operator() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "config-operator-readiness-timeout-repeats",
            case: "[sig-node] pathological event openshift-config-operator readiness probe should not fail due to timeout",
            bad: || probe_error(CONFIG, "Readiness", SLOW, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-config-operator",
            good: || probe_error(CONFIG, "Readiness", REFUSED, 20),
        },
        Fixture {
            id: "config-operator-readiness-refused-repeats",
            case: "[sig-node] pathological event openshift-config-operator should not get probe error on readiness probe due to connection refused",
            bad: || probe_error(CONFIG, "Readiness", REFUSED, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-config-operator",
            good: || probe_error(CONFIG, "Readiness", SLOW, 20),
        },
        Fixture {
            id: "config-operator-liveness-timeout-repeats",
            case: "[sig-node] pathological event openshift-config-operator should not get probe error on liveness probe due to timeout",
            bad: || probe_error(CONFIG, "Liveness", SLOW, 20),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "ProbeError happened 20 times: namespace/openshift-config-operator",
            good: || probe_error(CONFIG, "Readiness", SLOW, 20),
        },
    ]
}

#[test]
fn events_of_nodes_repeat_within_limits() {
    super::check(&fixtures());
}
